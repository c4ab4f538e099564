//! The graph that the user holds.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;

use crate::arrange::Edge;
use crate::device::{Device, Stream, Ticket};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::embed::Embedding;
use crate::graph::launched::Launched;
use crate::graph::memory::GraphMemory;
use crate::graph::replayable::Replayable;
use crate::graph::report_of_graph;
use crate::inspect::Report;
use crate::pool::Pool;
use crate::record::{Op, Recorder, whole};

/// A recorded program: launched in one driver call, as often as you like.
///
/// Launching takes `&mut`: one executable graph cannot overlap itself, and outputs that one launch lends cannot be
/// overwritten by the next while they are borrowed. To share a graph between threads, put it in a `Mutex`, or record
/// twice. `Send` if `T` is, `Sync` if `T` is.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Graph, Slot, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let level = Slot::new(1.0f32);
/// let mut graph: Graph<dacapo::Buffer<f32>> = device.record(|r| {
///     let mut y = r.output(2)?;
///     r.run(fill(&mut y, &level))?;
///     Ok(y) // what the closure returns, each launch lends
/// })?;
/// level.set(4.0);
/// let y = graph.launch(&stream)?.wait()?;
/// assert_eq!(stream.read(y)?, [4.0, 4.0]);
/// # Ok(()) }
/// ```
#[doc(alias = "cudaGraph")]
#[doc(alias = "cudaGraphExec")]
#[doc(alias = "CUgraph")]
#[doc(alias = "CUgraphExec")]
#[doc(alias = "executable graph")]
pub struct Graph<T> {
    inner: Option<Box<Replayable>>,
    device: Device,
    out: T,
}

impl<T> Graph<T> {
    pub(crate) fn new(replayable: Replayable, out: T) -> Graph<T> {
        Graph { device: replayable.device.clone(), inner: Some(Box::new(replayable)), out }
    }

    /// A graph that holds no recording yet: [`rerecord`](Graph::rerecord) gives it one.
    pub fn empty(device: &Device, out: T) -> Graph<T> {
        Graph { inner: None, device: device.clone(), out }
    }

    pub(crate) fn with_outputs<U>(self, out: U) -> Graph<U> {
        Graph { inner: self.inner, device: self.device, out }
    }

    pub(super) fn inner(&self) -> Option<&Replayable> {
        self.inner.as_deref()
    }

    #[track_caller]
    pub(crate) fn replayable(&mut self) -> Result<&mut Replayable> {
        let at = Location::caller();
        self.inner.as_deref_mut().ok_or_else(|| Error::new(ErrorKind::Reset).on_line(at))
    }

    /// Replays it on a stream, without waiting. The returned [`Launched`] lends the outputs.
    ///
    /// # Errors
    ///
    /// - A changed slot broke a kernel's condition: nothing was launched.
    /// - [`ErrorKind::EagerInRecording`], [`ErrorKind::WrongDevice`], [`ErrorKind::Reset`].
    /// - Any error from the driver.
    #[doc(alias = "cudaGraphLaunch")]
    #[doc(alias = "replay")]
    #[track_caller]
    pub fn launch(&mut self, stream: &Stream) -> Result<Launched<'_, T>> {
        let Some(inner) = self.inner.as_deref_mut() else {
            return Err(Error::new(ErrorKind::Reset).on_line(Location::caller()));
        };
        let used = inner.launch(&self.device, stream)?;
        Ok(Launched::new(&self.out, &self.device, used))
    }

    /// Replays it, waits, and lends the outputs.
    ///
    /// # Errors
    ///
    /// - As [`launch`](Graph::launch), and any error from the work.
    #[track_caller]
    pub fn launch_sync(&mut self, stream: &Stream) -> Result<&T> {
        self.launch(stream)?.wait()
    }

    /// Replays it and returns a ticket that borrows nothing, for spawned tasks.
    ///
    /// # Errors
    ///
    /// - As [`launch`](Graph::launch).
    #[track_caller]
    pub fn submit(&mut self, stream: &Stream) -> Result<Ticket> {
        let graph = self.replayable()?;
        graph.expect_launchable(stream, "Graph::submit")?;
        let used = graph.launch_with(stream, &[])?.clone();
        Ok(Ticket::new(&self.device, Some(used), ()))
    }

    /// Uploads it to the device now, so that the first launch costs no more than the others. A second call does
    /// nothing.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    #[track_caller]
    pub fn preload(&mut self, stream: &Stream) -> Result<()> {
        self.replayable()?.preload(stream)
    }

    /// Whether it is on the device: preloaded, or launched at least once.
    pub fn is_preloaded(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.preloaded)
    }

    /// How many launches succeeded since it was recorded, or [rerecorded](Graph::rerecord).
    pub fn num_replays(&self) -> u64 {
        self.inner.as_ref().map_or(0, |inner| inner.replays)
    }

    /// What the closure returned. Memory in it has the contents of the last launch, or zeros before the first.
    pub fn outputs(&self) -> &T {
        &self.out
    }

    /// For fixed inputs that a graph of the library's own keeps beside its outputs.
    pub(crate) fn out_mut(&mut self) -> &mut T {
        &mut self.out
    }

    /// How much memory it takes, by purpose.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// let graph = device.record(|r: &mut dacapo::Recorder<'_>| {
    ///     let (mut t, mut y) = (r.alloc::<f32>(100)?, r.output::<f32>(100)?);
    ///     r.run(dacapo::fill(&mut t, dacapo::baked(1.0)))?;
    ///     r.run(dacapo::copy(&t, &mut y))?;
    ///     Ok(y)
    /// })?;
    /// let memory = graph.memory();
    /// assert_eq!((memory.arena, memory.outputs), (400, 400));
    /// println!("{memory}");
    /// # Ok(()) }
    /// ```
    pub fn memory(&self) -> GraphMemory {
        self.inner.as_ref().map_or_else(GraphMemory::default, |inner| inner.memory())
    }

    /// The outputs without the graph.
    pub fn into_outputs(self) -> T {
        self.out
    }

    /// The device it was recorded for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its label; empty if it has none.
    pub fn label(&self) -> &str {
        self.inner.as_ref().map_or("", |inner| &inner.name.label)
    }

    /// How many ops it has.
    pub fn len(&self) -> usize {
        self.inner.as_ref().map_or(0, |inner| inner.nodes.len())
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The edges of [`dependencies`](Graph::dependencies), each with its kind.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{baked, fill, graph::Edge};
    /// # let device = dacapo::Device::software()?;
    /// let mut y = device.zeros::<u32>(2)?;
    /// let graph = device.record(|r| r.run(fill(&mut y, baked(7))).and_then(|()| r.run(fill(&mut y, baked(8)))))?;
    /// assert_eq!(graph.edges(), [(0, 1, Edge::Full)]); // fills are no kernels
    /// # Ok(()) }
    /// ```
    pub fn edges(&self) -> Vec<(usize, usize, Edge)> {
        let Some(inner) = self.inner() else { return Vec::new() };
        let mut edges: BTreeMap<(usize, usize), Edge> =
            inner.order.edges().into_iter().map(|pair| (pair, Edge::Full)).collect();
        inner.order.each_kind(&inner.nodes, |before, after, kind| {
            edges.insert((before, after), kind);
        });
        edges.into_iter().map(|((before, after), kind)| (before, after, kind)).collect()
    }

    /// The edges that the data requires, as pairs of op numbers. Edges that others imply are left out.
    pub fn dependencies(&self) -> Vec<(usize, usize)> {
        self.inner.as_ref().map_or_else(Vec::new, |inner| inner.order.edges())
    }

    /// The pool it joined.
    pub fn pool(&self) -> Option<&Pool> {
        self.inner.as_ref().and_then(|inner| inner.pool())
    }

    /// A report of its nodes, edges and memory.
    pub fn inspect(&self) -> Report {
        match &self.inner {
            Some(inner) => report_of_graph(inner),
            None => Report::new(&self.device.properties().name, "", Vec::new(), Vec::new(), Vec::new()),
        }
    }

    /// Drops the recording and everything it holds except the outputs. A launch is an error from then on.
    pub fn reset(&mut self) {
        self.inner = None;
    }

    /// This graph as an op of a larger recording: its ops are recorded again, with temps of the larger recording. The
    /// op writes this graph's outputs; the larger graph also holds them and everything else that this graph keeps
    /// alive. It never overlaps the graphs of this one's pool.
    pub fn as_op(&self) -> impl Op<Out = ()> {
        whole(|recorder: &mut Recorder<'_>| {
            let inner = self.inner.as_ref().ok_or_else(|| Error::new(ErrorKind::Reset))?;
            if !inner.device.is(recorder.device()) {
                return Err(recorder.device().stranger("the graph", &inner.device));
            }
            if inner.captured {
                let (what, needs) = ("a captured graph inside a recording".into(), "a recorded graph".into());
                return Err(Error::new(ErrorKind::Unsupported { what, needs }));
            }
            Embedding::new(inner).all(recorder)?;
            recorder.hold_parts(inner.outputs(), inner.keeps(), inner.all_pools());
            Ok(())
        })
    }
}

impl<T> fmt::Debug for Graph<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(inner) = &self.inner else { return f.write_str("Graph (reset)") };
        let mut held: Vec<u32> =
            inner.nodes.iter().flat_map(|node| &node.access).map(|access| access.place.allocation.number()).collect();
        held.sort_unstable();
        held.dedup();
        f.debug_struct("Graph")
            .field("label", &inner.name.label)
            .field("ops", &inner.nodes.len())
            .field("edges", &inner.order.edges().len())
            .field("slots", &inner.readings.len())
            .field("allocations", &held.len())
            .field("temp_bytes", &inner.temp_bytes())
            .field("replays", &inner.replays)
            .field("preloaded", &inner.preloaded)
            .field("pool", &inner.pool().is_some())
            .finish()
    }
}
