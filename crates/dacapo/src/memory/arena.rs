//! Memory that temps are laid out in: a graph's own, an arena of the caller's, or the one that the graphs of a pool share.
//!
//! - A graph whose recording names no arena and no pool gets one allocation, as large as its temps need together.
//! - An [`Arena`] has the size that its maker gave it. Any number of graphs and eager runs lay their temps out in it, each
//!   from the beginning; the ledger orders them against each other, because each of them writes all of it.
//! - The graphs of a pool share one that is as large as the largest of them needs (`growing`).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dacapo_driver::types::CUdeviceptr;
use dacapo_ledger::{MemoryId, Touching};

use crate::device::Device;
use crate::error::Result;
use crate::held::Purpose;
use crate::memory::{Allocation, Kind};

/// Device memory of a fixed size for the temps of graphs and eager runs. Clones are the same arena.
///
/// Temps that are never alive together share bytes. A recording or run that needs more than the arena has is refused
/// before any driver call; the error names the op that did not fit.
///
/// Graphs and runs in one arena never overlap, whatever their streams: each waits for the one before. It lives as long
/// as any handle on it or graph in it, and until their last work is done.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, copy, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let arena = device.arena(1 << 20)?;
/// let mut out = device.zeros::<f32>(1000)?;
/// let mut graph = device.graph().arena(&arena).record(|r: &mut Recorder<'_>| {
///     let mut t = r.alloc::<f32>(1000)?;
///     r.run(fill(&mut t, baked(3.0)))?;
///     r.run(copy(&t, &mut out))
/// })?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&out)?[999], 3.0);
/// assert_eq!((arena.used(), arena.bytes(), arena.graphs()), (4000, 1 << 20, 1));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Arena(Arc<Inner>);

struct Inner {
    allocation: Arc<Allocation>,
    /// The most that anything in it has needed.
    used: AtomicUsize,
    graphs: AtomicUsize,
}

impl Arena {
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Arena> {
        let allocation = Allocation::unplaced(device, Kind::Arena, bytes)?;
        device.place(&allocation, false, Purpose::Arenas)?;
        Ok(Arena(Arc::new(Inner { allocation, used: AtomicUsize::new(0), graphs: AtomicUsize::new(0) })))
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
        self.0.allocation.bytes()
    }

    /// The most bytes that any graph or run in it has needed so far.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// How many graphs are in it.
    pub fn graphs(&self) -> usize {
        self.0.graphs.load(Ordering::Relaxed)
    }

    /// Refuses what is of another device.
    pub(crate) fn expect_of(&self, device: &Device) -> Result<()> {
        match self.0.allocation.device().is(device) {
            true => Ok(()),
            false => Err(device.stranger("the arena", self.0.allocation.device())),
        }
    }

    /// Counts temps that fit.
    pub(crate) fn note_used(&self, bytes: usize) {
        self.0.used.fetch_max(bytes, Ordering::Relaxed);
    }

    /// A graph is in it from now on, as long as what this gives lives.
    pub(crate) fn join(&self) -> InArena {
        self.0.graphs.fetch_add(1, Ordering::Relaxed);
        InArena(self.clone())
    }

    /// What a user of it writes, as far as the ledger is concerned.
    pub(crate) fn touched(&self) -> (MemoryId, Touching) {
        written(&self.0.allocation)
    }

    pub(crate) fn address(&self) -> CUdeviceptr {
        self.0.allocation.address()
    }
}

impl PartialEq for Arena {
    fn eq(&self, other: &Arena) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Arena {}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("bytes", &self.bytes())
            .field("used", &self.used())
            .field("graphs", &self.graphs())
            .finish()
    }
}

/// All of an arena's allocation, to be written.
pub(crate) fn written(allocation: &Allocation) -> (MemoryId, Touching) {
    (allocation.memory().expect("an arena has its memory before anyone knows it"), Touching::Write)
}

/// A graph in an arena, counted as long as this lives.
pub(crate) struct InArena(Arena);

impl InArena {
    pub(crate) fn arena(&self) -> &Arena {
        &self.0
    }
}

impl Drop for InArena {
    fn drop(&mut self) {
        self.0.0.graphs.fetch_sub(1, Ordering::Relaxed);
    }
}
