//! A lane is one stream with its order: how far it is, what it has waited for, the last event on it.
//!
//! - `Order` is behind the lane's lock. Whoever holds that lock sees every position up to `Order::position` enqueued,
//!   because the lock is held from the moment a position is given out until its work is on the stream.
//! - `finished` only grows. It is an atomic beside the lock, so that asking costs a load.

use std::fmt;

use crate::rule::{Rule, holds};
use crate::sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering, Weak};
use crate::{Access, Queues};

/// Who a lane is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// A stream that the user launches on. From the second used one on, submits record events.
    User,
    /// A stream of the library's own, such as the one that frees: it never makes others record events.
    Internal,
}

/// One stream as the ledger knows it. Clones are the same lane, and equal.
pub struct Lane<Q: Queues>(Arc<Shared<Q>>);

pub(crate) struct Shared<Q: Queues> {
    stream: Q::Stream,
    kind: LaneKind,
    /// Everything up to here is done, as far as anybody told.
    finished: AtomicU64,
    order: Mutex<Order<Q>>,
}

/// What a lane's lock protects.
pub(crate) struct Order<Q: Queues> {
    /// The position of the last piece of work; 0 before the first.
    pub(crate) position: u64,
    /// The last event recorded on this lane, and the position it covers.
    pub(crate) latest: Option<(u64, Q::Event)>,
    /// For other lanes, up to which position this one has already waited.
    waited: Vec<Waited<Q>>,
}

/// Weak, because two lanes that waited for each other must not keep each other alive. An address is compared only
/// while the `Weak` holds the allocation, so that it cannot be another lane's.
struct Waited<Q: Queues> {
    lane: Weak<Shared<Q>>,
    position: u64,
}

impl<Q: Queues> Lane<Q> {
    pub(crate) fn new(stream: Q::Stream, kind: LaneKind) -> Self {
        let order = Order { position: 0, latest: None, waited: Vec::new() };
        Lane(Arc::new(Shared { stream, kind, finished: AtomicU64::new(0), order: Mutex::new(order) }))
    }

    /// The stream, for calls that enqueue nothing. Work goes through [`Ledger::submit`](crate::Ledger::submit).
    #[must_use]
    pub fn stream(&self) -> &Q::Stream {
        &self.0.stream
    }

    /// Who the lane is for.
    #[must_use]
    pub fn kind(&self) -> LaneKind {
        self.0.kind
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, Order<Q>> {
        self.0.order.lock()
    }

    #[inline]
    pub(crate) fn finished(&self) -> u64 {
        self.0.finished.load(Ordering::Acquire)
    }

    pub(crate) fn finish(&self, position: u64) {
        let position = if holds(Rule::FinishedOnlyUpTo) { position } else { position + 1 };
        self.0.finished.fetch_max(position, Ordering::AcqRel);
    }
}

impl<Q: Queues> Clone for Lane<Q> {
    fn clone(&self) -> Self {
        Lane(Arc::clone(&self.0))
    }
}

impl<Q: Queues> PartialEq for Lane<Q> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<Q: Queues> Eq for Lane<Q> {}

impl<Q: Queues> fmt::Debug for Lane<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lane({:?}, {:p})", self.0.kind, Arc::as_ptr(&self.0))
    }
}

impl<Q: Queues> Order<Q> {
    /// Up to which position of `lane` this one has waited; 0 for not at all.
    pub(crate) fn waited_for(&self, lane: &Lane<Q>) -> u64 {
        let same = |waited: &&Waited<Q>| std::ptr::eq(waited.lane.as_ptr(), Arc::as_ptr(&lane.0));
        self.waited.iter().find(same).map_or(0, |waited| waited.position)
    }

    /// Forgets what this lane has waited for. Nobody needs that but the switch of a rule.
    pub(crate) fn forget_waits(&mut self) {
        self.waited.clear();
    }

    /// Remembers that this lane waits for `lane` up to `position`.
    pub(crate) fn note_wait(&mut self, lane: &Lane<Q>, position: u64) {
        let position = if holds(Rule::ClockNotAheadOfWaits) { position } else { position + 1 };
        let same = |waited: &&mut Waited<Q>| std::ptr::eq(waited.lane.as_ptr(), Arc::as_ptr(&lane.0));
        if let Some(waited) = self.waited.iter_mut().find(same) {
            waited.position = waited.position.max(position);
            return;
        }
        // A lane that is gone, or done as far as we waited for it, says nothing any more: nobody asks about what is
        // finished. So the list stays as short as the lanes that are busy.
        self.waited.retain(|waited| {
            waited.lane.upgrade().is_some_and(|lane| waited.position > lane.finished.load(Ordering::Acquire))
        });
        self.waited.push(Waited { lane: Arc::downgrade(&lane.0), position });
    }
}

/// One piece of work that was put on a lane, or that is being put there this moment.
///
/// A use that is seen while it is being enqueued has no event; [`Ledger::event_for`](crate::Ledger::event_for) waits
/// for the enqueue and then gives one. Waiting for the *stream* instead is right only for what
/// [`Ledger::submit`](crate::Ledger::submit), [`Ledger::last_use`](crate::Ledger::last_use) or
/// [`Ledger::wait_list`](crate::Ledger::wait_list) returned: those are on it.
pub struct Use<Q: Queues> {
    pub(crate) lane: Lane<Q>,
    pub(crate) position: u64,
    pub(crate) event: Option<Q::Event>,
}

impl<Q: Queues> Use<Q> {
    /// The lane it is on.
    #[must_use]
    pub fn lane(&self) -> &Lane<Q> {
        &self.lane
    }

    /// Its place in the order of its lane, from 1.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// An event behind it, where one was recorded and known when this value was made.
    #[must_use]
    pub fn event(&self) -> Option<&Q::Event> {
        self.event.as_ref()
    }

    #[inline]
    pub(crate) fn is(&self, lane: &Lane<Q>, position: u64) -> bool {
        self.position == position && self.lane == *lane
    }

    #[inline]
    pub(crate) fn is_finished(&self) -> bool {
        self.position <= self.lane.finished()
    }
}

impl<Q: Queues> Clone for Use<Q> {
    fn clone(&self) -> Self {
        Use { lane: self.lane.clone(), position: self.position, event: self.event.clone() }
    }
}

impl<Q: Queues> fmt::Debug for Use<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = if self.event.is_some() { "with an event" } else { "no event" };
        write!(f, "Use({:?} at {}, {event})", self.lane, self.position)
    }
}

/// Puts `new` into a list that holds at most one use a lane, the latest: the others of that lane come before it.
pub(crate) fn keep_latest<Q: Queues>(list: &mut Vec<Use<Q>>, new: &Use<Q>) {
    match list.iter_mut().find(|old| old.lane == new.lane) {
        None => list.push(new.clone()),
        Some(old) => {
            let later = new.position > old.position || (new.position == old.position && old.event.is_none());
            if later && holds(Rule::LatestPerLane) {
                *old = new.clone();
            }
        }
    }
}

/// Whether a use made with `old` keeps one with `new` waiting. The three ways are rules of their own.
#[inline]
pub(crate) fn must_order(old: Access, new: Access) -> bool {
    match (old, new) {
        (Access::Read, Access::Read) => false,
        (Access::Read, Access::Write) => holds(Rule::WriteAfterRead),
        (Access::Write, Access::Read) => holds(Rule::ReadAfterWrite),
        (Access::Write, Access::Write) => holds(Rule::WriteAfterWrite),
    }
}
