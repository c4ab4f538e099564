//! Warm-up: eager runs before a recording, which leave no trace.
//!
//! - The recorder knows every byte that a run writes. They are copied aside before the run and copied back behind it, and
//!   the three are one piece of work: nobody's own work comes between, so nothing that others do is seen or undone.
//! - Bytes that the body does not write are not touched: the rest of a buffer may be somebody else's.
//! - Host buffers, and what foreign work does beyond its declared writes, are not put back.

use std::panic::Location;
use std::sync::Arc;

use crate::device::Stream;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Graph, GraphBuilder};
use crate::held::Purpose;
use crate::lower::{self, Aside};
use crate::memory::{Allocation, Extent, Kind};
use crate::nesting::{Nested, refuse_in_recording};
use crate::record::{Node, Recorded, Recorder};

/// The most that is saved, unless more is asked for.
pub(super) const CAP_BYTES: usize = 1 << 30;

/// A recording whose body runs eagerly first: [`GraphBuilder::warmup`].
///
/// For code that loads modules or picks algorithms on its first run, and for finding a fault before it is in a graph.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<u32>(2)?;
/// let mut graph = device.graph().warmup(2).record(|r| r.run(fill(&mut y, baked(7))))?;
/// graph.launch(&stream)?;
/// assert_eq!((graph.num_replays(), stream.read(&y)?), (1, vec![7, 7]));
/// # Ok(()) }
/// ```
#[must_use = "options record nothing until `record` is called"]
pub struct WarmGraphBuilder<'d> {
    base: GraphBuilder<'d>,
    runs: usize,
    cap_bytes: usize,
    restore: bool,
}

impl<'d> WarmGraphBuilder<'d> {
    pub(crate) fn new(base: GraphBuilder<'d>, runs: usize) -> WarmGraphBuilder<'d> {
        WarmGraphBuilder { base, runs, cap_bytes: CAP_BYTES, restore: true }
    }

    pub(crate) fn unrestored(mut self) -> WarmGraphBuilder<'d> {
        self.restore = false;
        self
    }

    /// The most bytes that may be saved and restored; 1 GiB by default.
    pub fn warmup_cap(mut self, bytes: usize) -> WarmGraphBuilder<'d> {
        self.cap_bytes = bytes;
        self
    }

    /// Runs the body eagerly, restores what it wrote, and records it.
    ///
    /// The eager runs happen on a separate stream, and are waited for. Each starts from the original contents.
    ///
    /// # Errors
    ///
    /// - The error of the first op that failed, or any error from the driver. Even then, and after a panic, what was
    ///   written is restored.
    /// - [`ErrorKind::WarmupTooLarge`]: more would have to be saved than the cap allows.
    #[track_caller]
    pub fn record<T>(self, mut body: impl for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>) -> Result<Graph<T>> {
        refuse_in_recording("WarmGraphBuilder::record")?;
        let side = Stream::internal(self.base.device)?;
        let at = Location::caller();
        for _ in 0..self.runs {
            self.run_once(&side, &mut body).map_err(|error| error.on_line(at))?;
        }
        side.synchronize()?;
        self.base.record(|recorder: &mut Recorder<'_>| body(recorder))
    }

    fn run_once<T>(
        &self,
        side: &Stream,
        body: &mut impl for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>,
    ) -> Result<()> {
        let mut recorder = Recorder::new(self.base.device, self.base.label.as_deref());
        {
            let _nested = Nested::enter();
            recorder.run(|r: &mut Recorder<'_>| body(r))?;
        }
        let recorded = recorder.complete()?;
        let asides = if self.restore { self.asides(&recorded)? } else { Vec::new() };
        lower::run_and_put_back(&side.0, recorded, self.base.arena.as_ref(), &asides)
    }

    /// Memory for what a recording will write.
    fn asides(&self, recorded: &Recorded) -> Result<Vec<Aside>> {
        let places = written_by(&recorded.nodes, &recorded.made);
        let bytes: usize = places.iter().map(|place| place.bytes).sum();
        if bytes > self.cap_bytes {
            return Err(Error::new(ErrorKind::WarmupTooLarge { bytes, cap: self.cap_bytes }));
        }
        let aside = |place: Extent| {
            let kept = self.base.device.allocate_elements::<u8>(place.bytes, false, Purpose::Buffers)?;
            Ok(Aside { place, kept: kept.allocation().clone() })
        };
        places.into_iter().map(aside).collect()
    }
}

/// The bytes that some nodes write, each once: of memory that is neither a temp nor among `made`.
pub(super) fn written_by(nodes: &[Node], made: &[Arc<Allocation>]) -> Vec<Extent> {
    let accesses = nodes.iter().flat_map(|node| &node.access);
    let mut places: Vec<Extent> = accesses
        .filter(|access| access.mode.writes() && access.place.bytes > 0)
        .map(|access| &access.place)
        .filter(|place| matches!(place.allocation.kind(), Kind::Device | Kind::State))
        // What a run itself made is nobody's yet.
        .filter(|place| !made.iter().any(|made| Arc::ptr_eq(made, &place.allocation)))
        .cloned()
        .collect();
    places.sort_by_key(|place| (place.allocation.number(), place.start));
    places.dedup_by(|next, place| {
        let meets = next.allocation.number() == place.allocation.number() && next.start <= place.start + place.bytes;
        if meets {
            place.bytes = place.bytes.max(next.start + next.bytes - place.start);
        }
        meets
    });
    places
}
