//! Memory that temps are laid out in: a graph's own, an arena of the caller's, or the one that the graphs of a pool share.
//!
//! - A graph whose recording names no arena and no pool gets one allocation, as large as its temps need together.
//! - An [`Arena`] has the size that its maker gave it. Any number of graphs and eager runs lay their temps out in it, each
//!   from the beginning; the ledger orders them against each other, because each of them writes all of it.
//! - The graphs of a [`Pool`] share one that is as large as the largest of them needs (`growing`).
//! - A [`Space`] is a graph's hold on any of these. The memory is given back behind the last replay of all that hold it: it
//!   is one memory in the ledger, and every graph in it has it in its set; of a pool's, the pool's own memory stands for it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dacapo_driver::types::CUdeviceptr;
use dacapo_ledger::{Access as Touching, MemoryId};

use crate::device::{Device, Purpose};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Allocation, Kind};
use crate::pool::Pool;
use crate::record::{Node, TempPlan};

/// Memory of a size that you choose, for the temps of graphs and eager runs. Clones are the same arena.
///
/// Temps lie in it as they were planned: those that are never alive together share bytes. What records or runs in it and
/// needs more is refused with the op that wanted too much, before the driver is asked for anything.
///
/// Graphs and runs in one arena never overlap, whatever their streams: each waits for the one before. It lives as long as
/// any handle on it or graph in it, and until the last of their work is over.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, copy, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let arena = device.arena(1 << 20)?;
/// let mut out = device.zeros::<f32>(1000)?;
/// let mut graph = device.recording().arena(&arena).record(|r: &mut Recorder<'_>| {
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
            false => Err(Error::new(ErrorKind::WrongDevice)),
        }
    }

    /// Refuses temps that do not fit; counts those that do.
    pub(crate) fn take(&self, plan: &TempPlan, nodes: &[Node]) -> Result<()> {
        plan.expect_fits(nodes, self.bytes())?;
        self.0.used.fetch_max(plan.bytes(), Ordering::Relaxed);
        Ok(())
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
fn written(allocation: &Allocation) -> (MemoryId, Touching) {
    (allocation.memory().expect("an arena has its memory before anyone knows it"), Touching::Write)
}

/// A graph in an arena, counted as long as this lives.
pub(crate) struct InArena(Arena);

impl Drop for InArena {
    fn drop(&mut self) {
        self.0.0.graphs.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the temps of a graph lie in, held.
pub(crate) struct Space {
    base: CUdeviceptr,
    /// How many bytes of it the graph needs.
    pub(crate) bytes: usize,
    /// How many of these are a library's workspace at some time.
    pub(crate) workspace_bytes: usize,
    whose: Whose,
}

enum Whose {
    /// The graph's own.
    Own(Arc<Allocation>),
    /// The caller's.
    Given(InArena),
    /// The pool's, which goes with the pool; or an allocation that graphs of the pool share.
    Pool(Pool, Option<Arc<Allocation>>),
}

impl Space {
    /// Memory for the temps of a graph, which have their addresses from here on; none where there is nothing to place.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::ArenaExhausted`]: of the caller's arena.
    /// - [`ErrorKind::OutOfMemory`], [`ErrorKind::Full`], what the driver refused: of an own one, or of the pool's.
    pub(crate) fn new(
        device: &Device,
        plan: &TempPlan,
        nodes: &[Node],
        arena: Option<&Arena>,
        pool: Option<&Pool>,
    ) -> Result<Option<Space>> {
        if plan.bytes() == 0 {
            return Ok(None);
        }
        let (base, whose) = match (arena, pool) {
            (Some(arena), _) => {
                arena.take(plan, nodes)?;
                arena.0.graphs.fetch_add(1, Ordering::Relaxed);
                (arena.address(), Whose::Given(InArena(arena.clone())))
            }
            (None, Some(pool)) => {
                let room = pool.arena().room(device, plan.bytes())?;
                (room.base, Whose::Pool(pool.clone(), room.hold))
            }
            (None, None) => {
                let allocation = Allocation::unplaced(device, Kind::Arena, plan.bytes())?;
                device.place(&allocation, false, Purpose::Arenas)?;
                (allocation.address(), Whose::Own(allocation))
            }
        };
        plan.lend(base);
        Ok(Some(Space { base, bytes: plan.bytes(), workspace_bytes: plan.workspace_bytes(), whose }))
    }

    /// Memory of its own for each temp.
    ///
    /// # Errors
    ///
    /// - As [`new`](Space::new).
    pub(crate) fn apart(device: &Device, plan: &TempPlan) -> Result<Vec<Space>> {
        let mut spaces = Vec::new();
        for temp in plan.temps() {
            let allocation = Allocation::unplaced(device, Kind::Arena, temp.bytes())?;
            device.place(&allocation, false, Purpose::Arenas)?;
            temp.lend_address(allocation.address());
            let (base, bytes) = (allocation.address(), temp.bytes());
            let workspace_bytes = if temp.is_workspace() { bytes } else { 0 };
            spaces.push(Space { base, bytes, workspace_bytes, whose: Whose::Own(allocation) });
        }
        Ok(spaces)
    }

    /// Lends what is here to other temps, which come behind those it was made for, if they need no more. Whether they do.
    pub(crate) fn lend_again(&mut self, plan: &TempPlan) -> bool {
        let fits = plan.bytes() <= self.bytes;
        if fits {
            plan.lend(self.base);
            self.workspace_bytes = self.workspace_bytes.max(plan.workspace_bytes());
        }
        fits
    }

    /// Whether it is the graph's own, and nobody else's.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.whose, Whose::Own(_))
    }

    /// What a replay writes, as far as the ledger is concerned.
    pub(crate) fn touched(&self) -> (MemoryId, Touching) {
        match &self.whose {
            Whose::Own(allocation) | Whose::Pool(_, Some(allocation)) => written(allocation),
            Whose::Given(InArena(arena)) => arena.touched(),
            Whose::Pool(pool, None) => pool.touched(),
        }
    }
}
