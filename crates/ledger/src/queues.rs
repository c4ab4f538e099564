//! What the ledger asks of a device, and how a caller says what its work touches.
//!
//! The ledger knows two calls of a device and nothing else: an event behind what is enqueued, and a wait for it.

use crate::set::SetId;
use crate::{MemoryId, UseSet};

/// A device, as far as order is concerned.
///
/// `Stream` and `Event` are dropped wherever their last owner goes, possibly under a lock of the ledger: their `Drop`
/// must not call the ledger. (Putting something into [`Drops`](crate::Drops) is fine: that is another lock, the innermost.)
///
/// Of ledgers [beside](crate::Ledger::beside) each other, one device may be asked for an event on another one's stream, and to
/// wait for an event of another one.
pub trait Queues {
    /// A queue: what is enqueued on it happens in that order. Owned by its lane, and so dropped when nobody can name
    /// the lane any more: no handle, no use, no record of the ledger.
    type Stream: Send + Sync;
    /// A cheap handle of a point in a queue.
    type Event: Clone + Send + Sync;
    /// Why a call was refused.
    type Error;

    /// An event that happens when everything enqueued on `stream` so far is done.
    ///
    /// # Errors
    ///
    /// - What the device answers; no event was recorded then.
    fn record(&self, stream: &Self::Stream) -> Result<Self::Event, Self::Error>;

    /// What is enqueued on `stream` from now on happens after `event`.
    ///
    /// # Errors
    ///
    /// - What the device answers; nothing waits then.
    fn wait(&self, stream: &Self::Stream, event: &Self::Event) -> Result<(), Self::Error>;

    /// What is enqueued now has this position. Called under the lock of the stream's lane; for those who want to know.
    #[inline]
    fn entered(_stream: &Self::Stream, _position: u64) {}
}

/// How a piece of work touches a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Touching {
    /// It reads only.
    Read,
    /// It writes, and perhaps reads as well.
    Write,
}

impl Touching {
    /// Whether two accesses to the same memory need an order.
    #[must_use]
    pub fn conflicts_with(self, other: Touching) -> bool {
        self == Touching::Write || other == Touching::Write
    }
}

/// What one piece of work touches.
#[derive(Debug)]
pub enum Touch<'a, Q: Queues> {
    /// Everything in a set, each with the access it was added with: one launch of a graph.
    Set(&'a mut UseSet<Q>),
    /// Some memory. What is named twice is touched both ways.
    Memory(&'a [(MemoryId, Touching)]),
    /// A set, and memory that only this launch touches: a graph with a rebound output.
    SetAnd(&'a mut UseSet<Q>, &'a [(MemoryId, Touching)]),
}

/// The same as the records know it.
#[derive(Clone, Copy)]
pub(crate) struct Touched<'a> {
    pub(crate) set: Option<SetId>,
    pub(crate) memory: &'a [(MemoryId, Touching)],
}
