//! Stream capture, for code that is being ported.
//!
//! [`captured`] runs a closure and makes a graph from what it enqueued; [`begin`] gives a [`Capture`] guard instead.
//! Captures happen on a [`CaptureStream`]. New code does not need any of this:
//! [`Device::record`](crate::Device::record) builds graphs node by node, and [`raw::foreign`](crate::raw::foreign)
//! captures just the work that needs it.
//!
//! What you can rely on:
//!
//! - A [`CaptureStream`] is used for nothing else: no safe call puts work on it.
//! - The guard always ends the capture: when it is dropped, when the closure fails, when it panics.
//! - The graph keeps what ops of this library touched, and what was declared with [`reads`](Capture::reads),
//!   [`writes`](Capture::writes) and [`keep`](Capture::keep).
//! - A broken capture says after which step it was found broken, and which step was the last good one.
//! - If an op fails when part of it may already be captured, [`finish`](Capture::finish) refuses.
//! - A capture with no work in it is an error.
//!
//! What is captured is frozen: slots cannot be used in it.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use dacapo_driver::types::*;
use dacapo_driver::{Call, leaves_undone};

use crate::arrange::TempPlan;
use crate::device::{Device, Garbage, RawHandle, RawStream, twice};
use crate::element::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{CapturedGraph, Graph, Replayable};
use crate::lower;
use crate::memory::{Access, Slice};
use crate::nesting::{Nested, refuse_in_recording};
use crate::pool::Pool;
use crate::record::{CAPTURED, Node, Op, Recorded, Recorder, Work};

/// Which calls a capture forbids while it is open. The names are CUDA's.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::capture::{CaptureStream, Mode, captured};
/// # let device = dacapo::Device::software()?;
/// let (stream, mut y) = (CaptureStream::new(&device)?, device.zeros::<u32>(2)?);
/// // SAFETY: no raw calls are made.
/// let graph = unsafe { captured(&stream, Mode::Relaxed, |c| c.run(dacapo::fill(&mut y, dacapo::baked(7)))) }?;
/// assert_eq!(Mode::default(), Mode::ThreadLocal);
/// # Ok(()) }
/// ```
#[doc(alias = "cudaStreamCaptureMode")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Calls that are unsafe during a capture (such as an allocation) break it, on any thread.
    Global,
    /// Such calls break it only on its own thread.
    #[default]
    ThreadLocal,
    /// Only a synchronisation of the whole context breaks it.
    Relaxed,
}

impl Mode {
    fn raw(self) -> CUstreamCaptureMode {
        match self {
            Mode::Global => CU_STREAM_CAPTURE_MODE_GLOBAL,
            Mode::ThreadLocal => CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            Mode::Relaxed => CU_STREAM_CAPTURE_MODE_RELAXED,
        }
    }
}

/// Whether a stream is capturing: [`CaptureStream::status`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::capture::{CaptureStream, Mode, Status, begin};
/// # let device = dacapo::Device::software()?;
/// let stream = CaptureStream::new(&device)?;
/// // SAFETY: no raw calls are made.
/// let capture = unsafe { begin(&stream, Mode::default()) }?;
/// assert_eq!(capture.status()?, Status::Active);
/// drop(capture); // ends it
/// assert_eq!(stream.status()?, Status::None);
/// # Ok(()) }
/// ```
#[doc(alias = "cudaStreamIsCapturing")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not capturing.
    None,
    /// Capturing.
    Active,
    /// Something broke the capture; it must still be ended.
    Invalidated,
}

impl Status {
    /// Whether work put on the stream is recorded.
    pub fn is_capturing(self) -> bool {
        self == Status::Active
    }

    /// Whether the capture is broken.
    pub fn is_invalidated(self) -> bool {
        self == Status::Invalidated
    }
}

/// A stream for captures only. The library puts no work of its own on it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let stream = dacapo::capture::CaptureStream::new(&device)?;
/// assert!(!stream.raw().0.is_null()); // for another library's calls
/// assert!(!stream.status()?.is_capturing());
/// # Ok(()) }
/// ```
pub struct CaptureStream {
    device: Device,
    raw: CUstream,
}

// SAFETY: a stream's handle is a token that the driver takes from any thread.
unsafe impl Send for CaptureStream {}
// SAFETY: as above.
unsafe impl Sync for CaptureStream {}

impl CaptureStream {
    /// A new stream on a device.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    pub fn new(device: &Device) -> Result<CaptureStream> {
        device.enter()?;
        let mut raw = CUstream::NULL;
        // SAFETY: `raw` is valid for the write.
        let made = unsafe { device.driver().cuStreamCreate(&mut raw, CU_STREAM_NON_BLOCKING) };
        device.check(made, Call::cuStreamCreate)?;
        Ok(CaptureStream { device: device.clone(), raw })
    }

    /// Its handle.
    pub fn raw(&self) -> RawStream {
        RawStream(self.raw)
    }

    /// Whether it is capturing. Can be asked at any time without breaking the capture.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    pub fn status(&self) -> Result<Status> {
        self.device.enter()?;
        let mut status = CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: `status` is valid for the write; the stream is ours.
        let code = unsafe { self.device.driver().cuStreamIsCapturing(self.raw, &mut status) };
        self.device.check(code, Call::cuStreamIsCapturing)?;
        Ok(match status {
            CU_STREAM_CAPTURE_STATUS_ACTIVE => Status::Active,
            CU_STREAM_CAPTURE_STATUS_INVALIDATED => Status::Invalidated,
            _ => Status::None,
        })
    }

    /// Ends whatever capture is open on it.
    fn end(&self) -> (Result<()>, CUgraph) {
        let mut graph = CUgraph::NULL;
        // Refused, the stream would stay capturing, and nobody could tell why the next capture on it fails.
        // SAFETY: `graph` is valid for the write; the stream is ours.
        let code = twice(Call::cuStreamEndCapture, || unsafe {
            self.device.driver().cuStreamEndCapture(self.raw, &mut graph)
        });
        (self.device.check(code, Call::cuStreamEndCapture), graph)
    }
}

impl Drop for CaptureStream {
    fn drop(&mut self) {
        // No capture is open: a guard borrows the stream. What still runs on it completes.
        self.device.put(Garbage::RawStream(RawHandle(self.raw)), Vec::new());
    }
}

impl fmt::Debug for CaptureStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CaptureStream({:#x})", self.raw.bits())
    }
}

/// An open capture: [`begin`] opens it, [`finish`](Capture::finish) makes a graph from it. Dropping it ends it too.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::capture::{CaptureStream, Mode, begin};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (side, mut y) = (CaptureStream::new(&device)?, device.zeros::<u32>(2)?);
/// // SAFETY: no raw calls are made.
/// let mut capture = unsafe { begin(&side, Mode::default()) }?.label("ported");
/// capture.run(dacapo::fill(&mut y, dacapo::baked(7)))?;
/// let mut graph = capture.finish()?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&y)?, [7, 7]);
/// # Ok(()) }
/// ```
#[doc(alias = "stream capture")]
pub struct Capture<'s> {
    stream: &'s CaptureStream,
    recorded: Recorded,
    declared: Vec<Access>,
    pool: Option<Pool>,
    label: String,
    at: &'static Location<'static>,
    /// The step after which the capture was last seen to be good.
    last_good: String,
    /// The op of which perhaps only a part is in the capture.
    half: Option<String>,
    ended: bool,
    /// A thread-local capture belongs to the thread that began it.
    _thread: PhantomData<*const ()>,
}

/// Begins a capture on a stream.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{capture, driver::Driver};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (side, mut y) = (capture::CaptureStream::new(&device)?, device.zeros::<u8>(4)?);
/// // SAFETY: the one raw call writes what was declared.
/// let mut open = unsafe { capture::begin(&side, capture::Mode::default()) }?;
/// let to = open.writes(&mut y)?;
/// let cuda = device.machine().unwrap(); // stands for any library that takes a stream
/// assert!(unsafe { cuda.cuMemsetD8Async(to.ptr, 9, to.bytes, open.stream().0) }.is_success());
/// open.finish()?.launch(&stream)?;
/// assert_eq!(stream.read(&y)?, [9; 4]);
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// - The stream is already capturing, or any error from the driver.
///
/// # Safety
///
/// Whatever is put on the stream by raw calls until the end:
///
/// - touches only memory that was declared to the guard with [`reads`](Capture::reads) or [`writes`](Capture::writes),
///   or that outlives every launch of the graph and that nothing else touches;
/// - can be replayed any number of times, even after its arguments are gone.
#[doc(alias = "cudaStreamBeginCapture")]
#[doc(alias = "stream capture")]
#[track_caller]
pub unsafe fn begin(stream: &CaptureStream, mode: Mode) -> Result<Capture<'_>> {
    open(stream, mode, None, Location::caller())
}

/// Begins a capture whose graph joins a pool: the graph keeps the pool and its values alive.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::capture::{CaptureStream, Mode, begin_with_pool};
/// # let device = dacapo::Device::software()?;
/// let (stream, pool, mut y) = (CaptureStream::new(&device)?, device.pool(), device.zeros::<u32>(2)?);
/// // SAFETY: no raw calls are made.
/// let mut capture = unsafe { begin_with_pool(&stream, Mode::default(), &pool) }?;
/// capture.run(dacapo::fill(&mut y, dacapo::baked(7)))?;
/// let graph = capture.finish()?;
/// assert_eq!(graph.pool(), Some(&pool));
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// - [`ErrorKind::PoolSealed`], [`ErrorKind::WrongDevice`]; else as [`begin`].
///
/// # Safety
///
/// - As [`begin`].
#[track_caller]
pub unsafe fn begin_with_pool<'s>(stream: &'s CaptureStream, mode: Mode, pool: &Pool) -> Result<Capture<'s>> {
    if pool.is_sealed() {
        return Err(Error::new(ErrorKind::PoolSealed));
    }
    if !pool.is_of(&stream.device) {
        return Err(stream.device.stranger("the pool", pool.device()));
    }
    open(stream, mode, Some(pool.clone()), Location::caller())
}

#[track_caller]
fn open<'s>(
    stream: &'s CaptureStream,
    mode: Mode,
    pool: Option<Pool>,
    at: &'static Location<'static>,
) -> Result<Capture<'s>> {
    refuse_in_recording("capture::begin")?;
    let device = &stream.device;
    device.enter()?;
    device.drain()?;
    // SAFETY: the stream is ours.
    let code = unsafe { device.driver().cuStreamBeginCapture_v2(stream.raw, mode.raw()) };
    device.check(code, Call::cuStreamBeginCapture_v2)?;
    Ok(Capture {
        stream,
        recorded: Recorder::new(device, None).into_recorded(),
        declared: Vec::new(),
        pool,
        label: String::new(),
        at,
        last_good: "the beginning".into(),
        half: None,
        ended: false,
        _thread: PhantomData,
    })
}

/// Captures what a closure enqueues and makes a graph from it: begin, run, end.
///
/// If the closure fails, the capture is discarded and its error returned. If it panics, the capture is ended and the
/// panic propagates.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::capture::{CaptureStream, Mode, captured};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (side, mut y) = (CaptureStream::new(&device)?, device.zeros::<u32>(2)?);
/// // SAFETY: no raw calls are made.
/// let mut graph = unsafe { captured(&side, Mode::default(), |c| c.run(dacapo::fill(&mut y, dacapo::baked(7)))) }?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&y)?, [7, 7]);
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// - The closure's error, or as [`begin`] and [`Capture::finish`].
///
/// # Safety
///
/// - As [`begin`].
#[doc(alias = "stream capture")]
#[track_caller]
pub unsafe fn captured<T>(
    stream: &CaptureStream,
    mode: Mode,
    f: impl FnOnce(&mut Capture<'_>) -> Result<T>,
) -> Result<Graph<T>> {
    let mut capture = open(stream, mode, None, Location::caller())?;
    let out = f(&mut capture)?;
    Ok(capture.end()?.with_outputs(out))
}

impl Capture<'_> {
    /// Names the graph.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The stream for raw calls.
    pub fn stream(&self) -> RawStream {
        self.stream.raw()
    }

    /// Whether the capture is intact.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    pub fn status(&self) -> Result<Status> {
        self.stream.status()
    }

    /// Declares that raw calls will read this memory: the graph keeps it alive, and its launches are ordered against
    /// writers.
    pub fn reads<T: Pod>(&mut self, slice: &Slice<T>) -> Result<Declared> {
        self.declare(Access::read("declared", slice))
    }

    /// Declares that raw calls will write this memory: the graph keeps it alive, and its launches are ordered against
    /// all other users.
    pub fn writes<T: Pod>(&mut self, slice: &mut Slice<T>) -> Result<Declared> {
        self.declare(Access::write("declared", slice))
    }

    fn declare(&mut self, access: Access) -> Result<Declared> {
        self.stream.device.expect_memory(&access.place, "Capture::reads or writes")?;
        let slice = Declared { ptr: access.place.address(), bytes: access.place.bytes };
        self.declared.push(access);
        Ok(slice)
    }

    /// Keeps a value alive as long as the graph, and until its last replay is over.
    pub fn keep<K: Any + Send + Sync>(&mut self, value: K) {
        self.recorded.keeps.push(Arc::new(value));
    }

    /// Captures an op of this library. The op declares its own memory.
    ///
    /// # Errors
    ///
    /// - Any error from the op.
    /// - [`ErrorKind::Unsupported`]: it uses a slot, which a capture would freeze, or a host buffer.
    /// - [`ErrorKind::CaptureBroken`]: the capture was found broken after it.
    #[track_caller]
    pub fn run<O: Op>(&mut self, op: O) -> Result<O::Out> {
        let device = self.stream.device.clone();
        device.enter()?;
        let mut recorder = Recorder::new(&device, None);
        let out = {
            let _nested = Nested::enter();
            recorder.run(op)?
        };
        let mut recorded = recorder.complete()?;
        for node in &recorded.nodes {
            let what = match &node.work {
                _ if !node.slots.is_empty() => "a slot inside a capture",
                Work::Upload(_) | Work::Download(_) => "a host buffer inside a capture",
                Work::Branch(_) => "control flow inside a capture",
                _ => continue,
            };
            let needs = "a recording (`device.record`) instead".to_string();
            return Err(node.blame(Error::new(ErrorKind::Unsupported { what: what.into(), needs })));
        }
        let plan = TempPlan::in_a_line(&recorded);
        // One op comes behind the other on the capture's stream, so their temps may share.
        if !self.recorded.spaces.iter_mut().any(|space| plan.settle_in(space)) {
            self.recorded.spaces.extend(plan.settle(&device, &recorded.nodes, None, self.pool.as_ref())?);
        }
        // Held before the first launch: what was captured of an op that fails or panics half-way stays in the capture.
        let (first, readings, told) = (self.recorded.nodes.len(), recorded.readings, recorded.told);
        self.recorded.nodes.append(&mut recorded.nodes);
        self.recorded.outputs.extend(recorded.outputs);
        self.recorded.keeps.append(&mut recorded.keeps);
        self.recorded.pools.extend(recorded.pools);
        let half_before = self.half.take();
        for number in first..self.recorded.nodes.len() {
            let node = &self.recorded.nodes[number];
            let step = format!("`{}` at {}", node.name, node.at);
            self.half = Some(half_before.clone().unwrap_or_else(|| step.clone()));
            let launched = lower::launch_one(&device, self.stream.raw, (node, &told[number - first]), &readings);
            let launched = launched.map_err(|error| node.blame(device.noted(error)));
            self.check_after(&step, launched)?;
        }
        self.half = half_before;
        Ok(out)
    }

    /// Makes raw calls under a name, and checks whether they broke the capture.
    ///
    /// # Errors
    ///
    /// - The closure's error.
    /// - [`ErrorKind::CaptureBroken`]: the capture was found broken after it; the error names the step.
    pub fn step<R>(&mut self, name: &str, f: impl FnOnce(RawStream) -> Result<R>) -> Result<R> {
        let raw = self.stream.raw();
        let outcome = lower::named_as(&self.stream.device, (CAPTURED, "", self.at), || f(raw));
        self.check_after(name, outcome)
    }

    /// The outcome of a step, unless it broke the capture: then it is what that came from, if it failed.
    fn check_after<R>(&mut self, step: &str, outcome: Result<R>) -> Result<R> {
        if self.status()?.is_capturing() {
            self.last_good = step.to_string();
            return outcome;
        }
        let culprit = format!("it was good after {} and broken after {step}", self.last_good);
        let broken = Error::new(ErrorKind::CaptureBroken { culprit }).of("capture", &self.label, self.at);
        Err(match outcome {
            Ok(_) => broken,
            Err(error) => broken.with_source(error),
        })
    }

    /// Ends the capture and makes a graph from it.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::CaptureBroken`]: something broke it; the error says after which step it was last good. Or an op
    ///   failed half-way and is partly in the capture; the error names it.
    /// - [`ErrorKind::NothingRecorded`].
    /// - [`ErrorKind::Lost`]: a fault broke the device's context.
    /// - Any error from the driver. The capture is ended in every case, and the stream can be used again.
    pub fn finish(mut self) -> Result<Graph<()>> {
        self.end()
    }

    fn end(&mut self) -> Result<Graph<()>> {
        let device = self.stream.device.clone();
        let status = self.status();
        self.ended = true;
        let (ended, template) = self.stream.end();
        let lost = [status.as_ref().err(), ended.as_ref().err()].into_iter().flatten();
        if let Some(lost) = lost.into_iter().find(|error| matches!(error.kind(), ErrorKind::Lost { .. })) {
            // The driver's objects went with the context.
            return Err(lost.clone());
        }
        if status.is_ok_and(Status::is_invalidated) || template.is_null() {
            let culprit = format!("it was last good after {} and broken at the end", self.last_good);
            let broken = |culprit| Error::new(ErrorKind::CaptureBroken { culprit }).of("capture", &self.label, self.at);
            return Err(match ended {
                Ok(()) => broken(culprit + ": no graph came of it"),
                Err(error) => broken(culprit).with_source(error),
            });
        }
        let template = CapturedGraph::new(&device, template);
        ended?;
        if let Some(op) = self.half.take() {
            let culprit = format!("{op} failed, and what was captured before it is a part of an op");
            return Err(Error::new(ErrorKind::CaptureBroken { culprit }).of("capture", &self.label, self.at));
        }
        if template.nodes()? == 0 {
            return Err(Error::new(ErrorKind::NothingRecorded).of("capture", &self.label, self.at));
        }
        let _relaxed = device.relaxed()?;
        let mut recorded = std::mem::replace(&mut self.recorded, Recorder::new(&device, None).into_recorded());
        if !self.declared.is_empty() {
            recorded.nodes.push(Node::raw_capture(self.at, std::mem::take(&mut self.declared)));
        }
        let label = std::mem::take(&mut self.label);
        let replayable = Replayable::of_capture(recorded, template, label, self.pool.take())?;
        Ok(Graph::new(replayable, ()))
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let (_, graph) = self.stream.end();
        if !graph.is_null() {
            // SAFETY: the driver gave it to us, and nobody else knows it.
            let code = unsafe { self.stream.device.driver().cuGraphDestroy(graph) };
            if leaves_undone(Call::cuGraphDestroy, code) {
                self.stream.device.put(Garbage::Graph(CUgraphExec::NULL, graph), Vec::new());
            }
        }
    }
}

impl fmt::Debug for Capture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Capture({:?}, last good after {})", self.stream, self.last_good)
    }
}

/// The address and size of declared memory, for raw calls: [`Capture::reads`], [`Capture::writes`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::capture::{CaptureStream, Declared, Mode, begin};
/// # let device = dacapo::Device::software()?;
/// let (stream, x) = (CaptureStream::new(&device)?, device.zeros::<f32>(10)?);
/// // SAFETY: no raw calls are made.
/// let declared: Declared = unsafe { begin(&stream, Mode::default()) }?.reads(&x)?;
/// assert_eq!(declared.bytes, 40);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The device address of the first byte.
    pub ptr: u64,
    /// How many bytes there are.
    pub bytes: usize,
}
