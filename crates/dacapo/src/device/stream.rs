//! Streams: queues of a device.

use std::fmt;
use std::sync::{Arc, PoisonError};

use dacapo_driver::Call;
use dacapo_driver::types::{CU_STREAM_NON_BLOCKING, CUstream};
use dacapo_ledger::{Lane, LaneKind, Use};

use crate::device::{Cuda, Device, Garbage, LaneStream};
use crate::error::Result;
use crate::nesting::refuse_in_recording;

/// A queue of a device: work on it runs in the order in which it was enqueued.
///
/// If work on two streams touches the same memory, with at least one write, it runs in the order of the calls: the
/// library adds the events. Clones are the same stream. All streams of this library are non-blocking: they and the
/// legacy default stream of other code do not wait for each other.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let other = device.stream()?;
/// let mut x = device.zeros::<u32>(2)?;
/// stream.run(fill(&mut x, baked(7)))?;
/// assert_eq!(other.read(&x)?, [7, 7]); // waits for the first stream by itself
/// # Ok(()) }
/// ```
#[doc(alias = "cudaStream")]
#[doc(alias = "CUstream")]
#[doc(alias = "event")]
#[doc(alias = "cudaEvent")]
#[doc(alias = "cudaStreamWaitEvent")]
#[derive(Clone)]
pub struct Stream(pub(crate) Arc<StreamInner>, Lane<Cuda>);

/// A stream's handle (`CUstream`), for another library's call: [`Stream::raw`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::raw::RawStream;
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let RawStream(handle) = stream.raw(); // what cuBLAS and others call `CUstream`
/// assert!(!handle.is_null());
/// # Ok(()) }
/// ```
#[doc(alias = "CUstream")]
#[doc(alias = "cudaStream_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawStream(pub CUstream);

pub(crate) struct StreamInner {
    pub(crate) device: Device,
    pub(crate) lane: Lane<Cuda>,
    /// Whether kernels that wait by themselves may be set up while the one before them ends.
    pub(crate) early: bool,
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Stream> {
        Stream::of_kind(device, LaneKind::User, true)
    }

    /// One whose kernels begin when those before them are over.
    pub(crate) fn plain(device: &Device) -> Result<Stream> {
        Stream::of_kind(device, LaneKind::User, false)
    }

    /// A stream of the library's own: it does not count as a second stream in use.
    pub(crate) fn internal(device: &Device) -> Result<Stream> {
        Stream::of_kind(device, LaneKind::Internal, true)
    }

    fn of_kind(device: &Device, kind: LaneKind, early: bool) -> Result<Stream> {
        device.enter()?;
        let mut raw = CUstream::NULL;
        // SAFETY: `raw` is valid for the write.
        let code = unsafe { device.driver().cuStreamCreate(&mut raw, CU_STREAM_NON_BLOCKING) };
        device.check(code, Call::cuStreamCreate)?;
        Ok(Stream::on(
            device,
            LaneStream::ours(raw, device.0.drops.clone(), device.0.cuda.retained.clone()),
            kind,
            early,
        ))
    }

    /// A stream with a lane of its own. `early`: see [`StreamInner`]; not for somebody else's, where what comes between two
    /// kernels of ours is not ours to know.
    pub(crate) fn on(device: &Device, stream: LaneStream, kind: LaneKind, early: bool) -> Stream {
        let lane = device.ledger().add_lane(stream, kind);
        let inner = Arc::new(StreamInner { device: device.clone(), lane, early });
        device.live().streams.add(1);
        let lane = inner.lane.clone();
        device.0.lanes.lock().unwrap_or_else(PoisonError::into_inner).push(lane.clone());
        Stream(inner, lane)
    }

    /// Its lane. In the handle itself, so that a launch has it without looking at what the clones share.
    #[inline]
    pub(crate) fn lane(&self) -> &Lane<Cuda> {
        &self.1
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Its handle, for another library's call. This library does not see what that call enqueues: order it yourself, or
    /// make it an op with [`foreign`](crate::raw::foreign).
    pub fn raw(&self) -> RawStream {
        RawStream(self.0.lane.stream().raw.0)
    }

    /// Waits for everything that was enqueued on this stream.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording): inside a recording.
    /// - Any error from the work.
    #[doc(alias = "cudaStreamSynchronize")]
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        self.0.enter("Stream::synchronize")?;
        self.0.wait_for_all()?;
        self.0.device.drain()
    }

    /// Whether everything that was enqueued on this stream is done. Does not wait.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording): inside a recording.
    /// - Any error from the work.
    #[track_caller]
    pub fn is_done(&self) -> Result<bool> {
        self.0.enter("Stream::is_done")?;
        match self.0.device.ledger().last_use(&self.0.lane) {
            Some(last) => self.0.device.is_done(&last),
            None => Ok(true),
        }
    }
}

impl Device {
    /// Waits for a use; every use before it on its stream is over then too.
    pub(crate) fn wait_until(&self, used: &Use<Cuda>) -> Result<()> {
        if !self.ledger().is_finished(used) {
            if used.event().is_none() && self.ledger().position(used.lane()) == used.position() {
                // The newest work of the only stream: waiting for the stream is waiting for it, and needs no event.
                let _relaxed = self.relaxed()?;
                // SAFETY: the stream is destroyed only when nobody names its lane.
                let code = unsafe { self.driver().cuStreamSynchronize(used.lane().stream().raw.0) };
                self.check(code, Call::cuStreamSynchronize)?;
                self.ledger().finished(used);
            } else {
                self.wait_for(used)?;
            }
        }
        self.expect_partners_of(used.lane())?;
        self.forget_if_idle(used);
        Ok(())
    }

    /// Forgets the names of launches when the newest of them is over; not that of one that another thread launches meanwhile.
    fn forget_if_idle(&self, used: &Use<Cuda>) {
        self.ledger().while_last(used, || used.lane().stream().notes.idle());
    }

    /// Whether a use is over. Does not wait.
    pub(crate) fn is_done(&self, used: &Use<Cuda>) -> Result<bool> {
        if self.ledger().is_finished(used) {
            return self.expect_partners_of(used.lane()).map(|()| true);
        }
        let _relaxed = self.relaxed()?;
        let event = self.ledger().event_for(&self.0.cuda, used).map_err(|error| self.refused(error))?;
        let passed = self.0.cuda.has_passed(&event).map_err(|error| self.refused(error))?;
        if passed {
            self.ledger().finished(used);
            self.expect_partners_of(used.lane())?;
            self.forget_if_idle(used);
        }
        Ok(passed)
    }
}

impl StreamInner {
    /// What every use of a stream asks first.
    #[track_caller]
    pub(crate) fn enter(&self, call: &'static str) -> Result<()> {
        refuse_in_recording(call)?;
        self.device.enter()
    }

    pub(crate) fn wait_for_all(&self) -> Result<()> {
        match self.device.ledger().last_use(&self.lane) {
            Some(last) => self.device.wait_until(&last),
            None => Ok(()),
        }
    }
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        // The driver's stream goes with the lane, when its work is over and no use of it is left. Until then it stays among
        // the device's lanes: a module may not be unloaded under it, and `Device::synchronize` waits for it.
        self.device.put(Garbage::Lane(self.lane.clone()), Vec::new());
        self.device.live().streams.sub(1);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:?} of {:?})", self.0.lane.stream().raw, self.0.device)
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Stream) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Stream {}
