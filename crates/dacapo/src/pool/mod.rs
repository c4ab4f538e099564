//! Pools: graphs that belong together, and what they keep alive.
//!
//! - A graph that joins a pool ([`GraphBuilder::pool`](crate::graph::GraphBuilder::pool)) holds it, and is ordered
//!   against the pool's other graphs: two of them never overlap, whatever their streams.
//! - The temps of a pool's graphs lie in one arena, as large as the largest of them needs: it grows in place when a graph
//!   joins that needs more, and goes with the pool. (On a device that cannot map memory apart from its addresses a larger
//!   one takes its place, and earlier graphs keep theirs.) Outputs are never in it.
//! - A graph that replays one of a pool's graphs as a part of itself is in the pool too, sealed or not: it uses what that
//!   graph uses. Its temps are its own, unless it joined the pool itself.
//! - Any value can be registered. It lives as long as the pool, which lives as long as any handle on it or graph in it,
//!   and until the last replay of those graphs is over. Values are released in the order they were registered.
//! - A sealed pool is complete: no graph joins it and no value is registered until it is unsealed. Graphs that are in it
//!   are replayed as ever.
//! - A pool can be found by its [`PoolHandle`], a plain number, from any thread.

mod space;

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dacapo_ledger::{MemoryId, Touching};

use crate::device::{Device, Garbage, Range};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::GrowingArena;

pub(crate) use space::Space;

/// Graphs that belong together: they share memory for temps, never overlap, and keep values alive. Clones are the same
/// pool.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Recorder, baked, copy, fill};
/// # let device = dacapo::Device::software()?;
/// let (pool, mut y) = (device.pool(), device.zeros::<f32>(1000)?);
/// let mut body = |r: &mut Recorder<'_>| {
///     let mut t = r.alloc::<f32>(1000)?;
///     r.run(fill(&mut t, baked(1.0)))?;
///     r.run(copy(&t, &mut y))
/// };
/// let one = device.graph().pool(&pool).record(&mut body)?;
/// let two = device.graph().pool(&pool).record(&mut body)?;
/// assert_eq!((pool.graphs(), one.memory().arena + two.memory().arena), (2, 0)); // one arena, the pool's
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    device: Device,
    /// What every graph of the pool writes, as far as the ledger is concerned: so they are ordered.
    order: MemoryId,
    /// What the temps of its graphs lie in.
    arena: GrowingArena,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    values: Vec<Arc<dyn Any + Send + Sync>>,
    sealed: bool,
    graphs: usize,
}

/// A number by which a pool can be found from any thread: [`Pool::handle`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::graph::Pool;
/// # let device = dacapo::Device::software()?;
/// let pool = device.pool();
/// let handle = pool.handle();
/// std::thread::spawn(move || Pool::find(handle).unwrap().seal()).join().unwrap();
/// assert!(pool.is_sealed() && Pool::release(handle));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PoolHandle(u64);

/// Every pool that has a handle.
static HANDLES: Mutex<BTreeMap<u64, Pool>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

fn handles() -> MutexGuard<'static, BTreeMap<u64, Pool>> {
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    pub(crate) fn new(device: &Device) -> Pool {
        let order = device.ledger().add_memory();
        Pool(Arc::new(Inner { device: device.clone(), order, arena: GrowingArena::default(), state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a value alive as long as the pool, or until the pool is [cleared](Pool::clear). Returns its index.
    ///
    /// Makes no driver call, so it can be used anywhere, even inside a recording. Do not keep a graph of this same
    /// pool: the graph holds the pool, so neither would ever be dropped.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::PoolSealed`]: the value is dropped.
    #[track_caller]
    pub fn keep<K: Any + Send + Sync>(&self, value: K) -> Result<usize> {
        let mut state = self.state();
        if state.sealed {
            return Err(Error::new(ErrorKind::PoolSealed).on_line(Location::caller()));
        }
        state.values.push(Arc::new(value));
        Ok(state.values.len() - 1)
    }

    /// How many values it keeps.
    pub fn len(&self) -> usize {
        self.state().values.len()
    }

    /// Whether it keeps none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many graphs are in it.
    pub fn graphs(&self) -> usize {
        self.state().graphs
    }

    /// Bytes of device memory for the temps of its graphs: what the largest of them needs, rounded up to the driver's
    /// granularity (2 MiB on most devices). It never shrinks; the memory is freed with the pool.
    pub fn arena_bytes(&self) -> usize {
        self.0.arena.bytes()
    }

    pub(crate) fn arena(&self) -> &GrowingArena {
        &self.0.arena
    }

    /// Drops all values that it keeps, in the order in which they were added: once the last work of the pool's graphs
    /// is done, or at once if it already is.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::EagerInRecording`]: from inside foreign work.
    /// - [`ErrorKind::Lost`].
    /// - [`ErrorKind::PoolInUse`]: graphs in it may still use them.
    /// - [`ErrorKind::PoolSealed`].
    #[track_caller]
    pub fn clear(&self) -> Result<()> {
        self.let_values_go(true)
    }

    #[track_caller]
    fn let_values_go(&self, only_unused: bool) -> Result<()> {
        self.0.device.enter()?;
        let values = {
            let mut state = self.state();
            if state.graphs > 0 && only_unused {
                return Err(Error::new(ErrorKind::PoolInUse { graphs: state.graphs }).on_line(Location::caller()));
            }
            if state.sealed {
                return Err(Error::new(ErrorKind::PoolSealed).on_line(Location::caller()));
            }
            std::mem::take(&mut state.values)
        };
        let after = self.0.device.ledger().wait_list(self.0.order, Touching::Write);
        self.0.device.put_values(values, after);
        self.0.device.release_finished();
        Ok(())
    }

    /// As [`clear`](Pool::clear), even while graphs are in the pool: for a pool that keeps one of its own graphs, so
    /// that neither would ever be dropped.
    ///
    /// # Errors
    ///
    /// - As [`clear`](Pool::clear), except [`ErrorKind::PoolInUse`].
    ///
    /// # Safety
    ///
    /// - No graph in the pool that needs one of the values is launched again, unless the graph itself is among the
    ///   values.
    pub unsafe fn clear_unchecked(&self) -> Result<()> {
        self.let_values_go(false)
    }

    /// Refuses new graphs and values from now on.
    pub fn seal(&self) {
        self.state().sealed = true;
    }

    /// Accepts graphs and values again.
    pub fn unseal(&self) {
        self.state().sealed = false;
    }

    /// Whether it is sealed.
    pub fn is_sealed(&self) -> bool {
        self.state().sealed
    }

    pub(crate) fn device(&self) -> &Device {
        &self.0.device
    }

    pub(crate) fn is_of(&self, device: &Device) -> bool {
        self.0.device.is(device)
    }

    /// A new handle, by which it can be found until the handle is [released](Pool::release).
    pub fn handle(&self) -> PoolHandle {
        let handle = PoolHandle(NEXT.fetch_add(1, Ordering::Relaxed));
        handles().insert(handle.0, self.clone());
        handle
    }

    /// The pool of a handle, from any thread; none if the handle was released.
    pub fn find(handle: PoolHandle) -> Option<Pool> {
        handles().get(&handle.0).cloned()
    }

    /// Releases a handle. Graphs and other handles still hold the pool. Returns whether the handle was known.
    pub fn release(handle: PoolHandle) -> bool {
        let pool = handles().remove(&handle.0);
        pool.is_some()
    }

    /// What a graph of the pool writes, as far as the ledger is concerned.
    pub(crate) fn touched(&self) -> (MemoryId, Touching) {
        (self.0.order, Touching::Write)
    }

    /// A graph joins. Asked and entered in one step: a pool may be sealed by another thread at any time.
    fn join(&self, even_sealed: bool) -> Result<Member> {
        let mut state = self.state();
        if state.sealed && !even_sealed {
            return Err(Error::new(ErrorKind::PoolSealed));
        }
        state.graphs += 1;
        Ok(Member(self.clone()))
    }
}

impl Device {
    /// A new pool.
    pub fn pool(&self) -> Pool {
        Pool::new(self)
    }
}

impl PartialEq for Pool {
    fn eq(&self, other: &Pool) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Pool {}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looked up before anything is written: the writer is the program's code, and may ask the pool.
        let (values, graphs, sealed) = {
            let state = self.state();
            (state.values.len(), state.graphs, state.sealed)
        };
        f.debug_struct("Pool").field("values", &values).field("graphs", &graphs).field("sealed", &sealed).finish()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let after = self.device.ledger().remove_memory(self.order);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let values = std::mem::take(&mut state.values);
        if let Some(Range { base, mapped, reserved, booking, .. }) = self.arena.take_range() {
            // Every graph that was in it has folded its last replay into `order`, and is gone.
            self.device.put(Garbage::Range { base, mapped, reserved }.booked(booking), after.clone());
            self.device.live().allocations.sub(1);
        }
        self.device.put_values(values, after);
    }
}

/// A graph in a pool, counted as long as this lives.
struct Member(Pool);

impl Drop for Member {
    fn drop(&mut self) {
        self.0.state().graphs -= 1;
    }
}

/// A graph's hold on its pools: the one it joined, and those of the graphs that it replays as parts of itself.
pub(crate) struct Members {
    own: Option<Member>,
    embedded: Vec<Member>,
}

impl Members {
    /// A graph joins its pools.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::PoolSealed`]: the one it was to join. Those of its parts have their graphs already.
    pub(crate) fn join(own: Option<&Pool>, embedded: &[Pool]) -> Result<Members> {
        let own = own.map(|pool| pool.join(false)).transpose()?;
        let embedded = embedded.iter().map(|pool| pool.join(true)).collect::<Result<_>>()?;
        Ok(Members { own, embedded })
    }

    /// The one that the graph itself joined.
    pub(crate) fn own(&self) -> Option<&Pool> {
        self.own.as_ref().map(|member| &member.0)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Pool> {
        self.own.iter().chain(&self.embedded).map(|member| &member.0)
    }

    /// The graph is gone, and its last replay is known to the ledger: what that may still use, a pool keeps until it is
    /// over.
    pub(crate) fn leave(&mut self) {
        self.own = None;
        self.embedded.clear();
    }
}
