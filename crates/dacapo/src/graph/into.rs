//! A graph as a function of memory.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use dacapo_ledger::{MemoryId, Touching};

use crate::device::{Device, Stream, Ticket};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::GraphMemory;
use crate::graph::launched::Launched;
use crate::graph::replayable::Replayable;
use crate::graph::report_of_graph;
use crate::inspect::Report;
use crate::memory::{Access, Extent, Reads, Writes};
use crate::record::Recorder;

/// A graph as a function of memory: launched on any slices of the recorded lengths.
///
/// [`GraphBuilder::record_into`](crate::graph::GraphBuilder::record_into) makes one.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let (a, b) = (device.buffer(&[1u32, 2])?, device.buffer(&[3u32, 4])?);
/// let mut out = device.zeros::<u32>(2)?;
/// let mut copy_pair = device.graph().record_into(&a[..], &mut out[..], |r, x, y| r.run(dacapo::copy(x, y)))?;
/// copy_pair.launch(&stream, &b, &mut out)?;
/// assert_eq!(stream.read(&out)?, [3, 4]);
/// # Ok(()) }
/// ```
pub struct GraphInto<I, O> {
    inner: Box<Replayable>,
    _shape: PhantomData<fn(I, O)>,
}

impl<I, O> GraphInto<I, O> {
    pub(crate) fn new(inner: Replayable) -> GraphInto<I, O> {
        GraphInto { inner: Box::new(inner), _shape: PhantomData }
    }
}

impl<I: Reads, O: Writes> GraphInto<I, O> {
    /// Replays it on these slices instead of those it was recorded with.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Length`], [`ErrorKind::WrongDevice`], [`ErrorKind::NoMemoryYet`].
    /// - [`ErrorKind::Overlap`]: a written slice overlaps another, or memory that the graph itself uses.
    /// - A kernel's condition does not hold for these slices, alignment included.
    /// - As [`Graph::launch`](crate::Graph::launch).
    #[track_caller]
    pub fn launch<'a>(
        &mut self,
        stream: &Stream,
        inputs: I::At<'a>,
        mut outputs: O::At<'a>,
    ) -> Result<Launched<'_, ()>> {
        let call = (stream, "GraphInto::launch");
        self.with_bound(call, &inputs, &mut outputs, |graph, extra| graph.launch_with(stream, extra).map(drop))?;
        Ok(Launched::new(&(), &self.inner.device, self.inner.last_use()))
    }

    /// [`launch`](GraphInto::launch) with a ticket that borrows nothing, for spawned tasks.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let (a, mut out) = (device.buffer(&[1u32, 2])?, device.zeros::<u32>(2)?);
    /// let mut copy_pair = device.graph().record_into(&a[..], &mut out[..], |r, x, y| r.run(dacapo::copy(x, y)))?;
    /// let ticket = copy_pair.submit(&stream, &a, &mut out)?;
    /// std::thread::spawn(move || ticket.wait()).join().unwrap()?;
    /// assert_eq!(stream.read(&out)?, [1, 2]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`launch`](GraphInto::launch).
    #[track_caller]
    pub fn submit<'a>(&mut self, stream: &Stream, inputs: I::At<'a>, mut outputs: O::At<'a>) -> Result<Ticket> {
        let call = (stream, "GraphInto::submit");
        self.with_bound(call, &inputs, &mut outputs, |graph, extra| graph.launch_with(stream, extra).map(drop))?;
        Ok(Ticket::new(&self.inner.device, Some(self.inner.last_use().clone()), ()))
    }

    /// Uploads it to the device now, so that the first launch costs no more than the others. A second call does
    /// nothing.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::WrongDevice`], [`ErrorKind::EagerInRecording`], or any error from the driver.
    #[track_caller]
    pub fn preload(&mut self, stream: &Stream) -> Result<()> {
        self.inner.expect_launchable(stream, "GraphInto::preload")?;
        self.inner.preload(stream)
    }

    /// Replaces its recording by that of another body, for slices of these lengths, with the same label, pool, arena
    /// and shape. Launches in flight are not affected. If it fails, the graph is unchanged.
    ///
    /// The executable graph is always rebuilt, so this costs as much as a recording.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let (a, mut out) = (device.buffer(&[1u32, 2])?, device.zeros::<u32>(2)?);
    /// let mut graph = device.graph().record_into(&a[..], &mut out[..], |r, x, y| r.run(dacapo::copy(x, y)))?;
    /// graph.rerecord(&a[..], &mut out[..], |r, _, y| r.run(dacapo::fill(y, dacapo::baked(7))))?;
    /// graph.launch(&stream, &a, &mut out)?;
    /// assert_eq!(stream.read(&out)?, [7, 7]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`GraphBuilder::record_into`](crate::graph::GraphBuilder::record_into).
    #[track_caller]
    pub fn rerecord(
        &mut self,
        inputs: I::At<'_>,
        outputs: O::At<'_>,
        body: impl for<'r, 'a> FnOnce(&mut Recorder<'r>, I::At<'a>, O::At<'a>) -> Result<()>,
    ) -> Result<()> {
        let device = self.inner.device.clone();
        let fresh = self.inner.recording(&device).make_into::<I, O>(inputs, outputs, body)?;
        *self.inner = fresh;
        Ok(())
    }

    /// How much memory it takes, by purpose.
    pub fn memory(&self) -> GraphMemory {
        self.inner.memory()
    }

    /// The device it was recorded for.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Its label; empty if it has none.
    pub fn label(&self) -> &str {
        &self.inner.name.label
    }

    /// Binds the stand-ins to these slices for the time of one launch. What a launch asks first is asked here, by the name of
    /// the call: inside the closure an error would name a line of this library.
    #[track_caller]
    pub(crate) fn with_bound<R>(
        &mut self,
        (stream, call): (&Stream, &'static str),
        inputs: &I::At<'_>,
        outputs: &mut O::At<'_>,
        launch: impl FnOnce(&mut Replayable, &[(MemoryId, Touching)]) -> Result<R>,
    ) -> Result<R> {
        self.inner.expect_launchable(stream, call)?;
        let mut given = Vec::new();
        I::access_at(inputs, &mut given);
        O::access_at(outputs, &mut given);
        assert_eq!(given.len(), self.inner.stand_ins.len(), "a shape has as many slices at every lifetime");
        self.check(call, &given)?;
        let extra: Vec<_> = given
            .iter()
            .filter(|access| access.place.bytes > 0)
            .filter_map(|access| {
                let touching = if access.mode.writes() { Touching::Write } else { Touching::Read };
                Some((access.place.allocation.memory()?, touching))
            })
            .collect();
        // Held until the launch is in the ledger, which keeps the memory from then on.
        let places: Vec<_> = given.iter().map(|access| access.place.clone()).collect();
        let bound = Bound::new(&mut self.inner, places);
        launch(&mut *bound.graph, &extra)
    }

    #[track_caller]
    fn check(&self, call: &'static str, given: &[Access]) -> Result<()> {
        let holes = &self.inner.stand_ins.holes;
        for (hole, access) in holes.iter().zip(given) {
            let (recorded, given) = (hole.allocation.bytes(), access.place.bytes);
            if recorded != given {
                let sides = [("the slice as recorded", recorded), ("the one that is given", given)];
                let error = Error::lengths(call, sides, "bytes");
                return Err(error.of(call, "", Location::caller()));
            }
            self.inner.device.expect_memory(&access.place, call)?;
        }
        let captured = self.inner.nodes.iter().flat_map(|node| &node.access).filter(|access| {
            let number = access.place.allocation.number();
            !holes.iter().any(|hole| hole.allocation.number() == number)
        });
        let others: Vec<&Access> = given.iter().chain(captured).collect();
        for (number, access) in given.iter().enumerate() {
            for other in &others[number + 1..] {
                if (access.mode.writes() || other.mode.writes()) && access.place.overlaps(&other.place) {
                    let (written, read) = if access.mode.writes() { (access, *other) } else { (*other, access) };
                    let (written, other) = (written.describe(), read.describe());
                    return Err(Error::new(ErrorKind::Overlap { written, other }).on_line(Location::caller()));
                }
            }
        }
        Ok(())
    }

    /// How many ops it has.
    pub fn len(&self) -> usize {
        self.inner.nodes.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many launches succeeded.
    pub fn num_replays(&self) -> u64 {
        self.inner.replays
    }

    /// A report of its nodes, edges and memory.
    pub fn inspect(&self) -> Report {
        report_of_graph(&self.inner)
    }
}

impl<I, O> fmt::Debug for GraphInto<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphInto")
            .field("label", &self.inner.name.label)
            .field("ops", &self.inner.nodes.len())
            .field("slices", &self.inner.stand_ins.len())
            .field("replays", &self.inner.replays)
            .finish()
    }
}

/// A graph whose stand-ins are bound for one launch. What was bound is not held beyond it, also when a recipe panics; a
/// later launch binds again, and patches what differs.
struct Bound<'g> {
    graph: &'g mut Replayable,
}

impl<'g> Bound<'g> {
    fn new(graph: &'g mut Replayable, places: Vec<Extent>) -> Bound<'g> {
        graph.bind(places);
        Bound { graph }
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        self.graph.stand_ins.unbind();
    }
}
