//! A lane is one stream with its progress: how far it is, what it has waited for, the last event on it.
//!
//! - `Progress` is behind the lane's lock. Whoever gets that lock finds the work of every position up to
//!   `Progress::position` on the stream, because the lock is held from the moment a position is given out until its
//!   work is there.
//! - `finished` only grows. It is an atomic beside the lock, so that asking costs a load.
//! - Events that part work are also behind a short lock of their own: who waits for what is before one need not wait until the work
//!   behind it is on the stream. A call that enqueues may wait for others as long as it likes.

use std::collections::VecDeque;
use std::fmt;

use crate::Queues;
use crate::sync::{Arc, AtomicU64, Mutex, MutexGuard, OnceLock, Ordering, Weak};

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

/// What the clones of a lane share. All that a launch needs of it, with the beginning of the stream, is one line of the
/// caches, apart from the counts of clones.
#[repr(C, align(64))]
struct Shared<Q: Queues> {
    progress: Mutex<Progress<Q>>,
    kind: LaneKind,
    /// Everything up to this position is done, as far as anybody told.
    finished: AtomicU64,
    stream: Q::Stream,
    /// Events that part work, once there is one, each with the position it is behind, in their order.
    partings: OnceLock<Box<Mutex<Events<Q>>>>,
}

/// Events of a lane, each with the position it is behind, in their order.
type Events<Q> = VecDeque<(u64, <Q as Queues>::Event)>;

impl<Q: Queues> Lane<Q> {
    pub(crate) fn new(stream: Q::Stream, kind: LaneKind) -> Self {
        let progress = Progress { position: 0, more: Box::new(More { event: None, waits: Vec::new() }) };
        let (finished, progress) = (AtomicU64::new(0), Mutex::new(progress));
        Lane(Arc::new(Shared { stream, kind, finished, progress, partings: OnceLock::new() }))
    }

    /// The stream, for calls that enqueue nothing. Work goes through [`Ledger::submit`](crate::Ledger::submit).
    #[inline]
    #[must_use]
    pub fn stream(&self) -> &Q::Stream {
        &self.0.stream
    }

    /// Who the lane is for.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> LaneKind {
        self.0.kind
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, Progress<Q>> {
        self.0.progress.lock()
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Progress<Q>>> {
        self.0.progress.try_lock()
    }

    /// The position up to which its work is known to be done.
    #[inline]
    #[must_use]
    pub fn finished_up_to(&self) -> u64 {
        self.0.finished.load(Ordering::Acquire)
    }

    /// An event was recorded behind the work at `position`, and other work comes behind it.
    pub(crate) fn note_parting(&self, position: u64, event: Q::Event) {
        let mut events = self.0.partings.get_or_init(|| Box::new(Mutex::new(VecDeque::new()))).lock();
        if events.back().is_some_and(|(behind, _)| *behind == position) {
            return;
        }
        let finished = self.finished_up_to();
        // Of those behind which everything is done the last one says as much as all of them.
        while events.len() == EVENTS_KEPT || events.get(1).is_some_and(|(behind, _)| *behind <= finished) {
            events.pop_front();
        }
        events.push_back((position, event));
    }

    /// The first event behind the work at `position` among those that part work, and the position it is behind.
    pub(crate) fn parting_behind(&self, position: u64) -> Option<(u64, Q::Event)> {
        let events = self.0.partings.get()?.lock();
        events.get(events.partition_point(|(behind, _)| *behind < position)).cloned()
    }

    pub(crate) fn finish_up_to(&self, position: u64) {
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

/// What a lane's lock protects.
pub(crate) struct Progress<Q: Queues> {
    /// The position of the last piece of work; 0 before the first.
    pub(crate) position: u64,
    /// What only those need who have to do with other lanes.
    more: Box<More<Q>>,
}

/// So many events of a lane are kept where they part work: more than there is room for in a stream of a driver's, so that an event
/// of what is in flight stays known.
const EVENTS_KEPT: usize = 1024;

struct More<Q: Queues> {
    /// The newest event recorded on this lane, and the position it is behind.
    event: Option<(u64, Q::Event)>,
    /// How far this lane has waited for each other lane, at most one of each.
    waits: Vec<WaitedFor<Q>>,
}

/// A lane, and the position up to which it was waited for.
struct WaitedFor<Q: Queues> {
    /// Weak, because two lanes that waited for each other must not keep each other alive.
    lane: Weak<Shared<Q>>,
    position: u64,
}

impl<Q: Queues> WaitedFor<Q> {
    fn is_about(&self, lane: &Lane<Q>) -> bool {
        // No other lane can have this address: the `Weak` holds on to the allocation.
        std::ptr::eq(self.lane.as_ptr(), Arc::as_ptr(&lane.0))
    }

    /// Whether anybody may still ask: not about a lane that is gone, nor about what is finished.
    fn is_of_use(&self) -> bool {
        self.lane.upgrade().is_some_and(|lane| self.position > lane.finished.load(Ordering::Acquire))
    }
}

impl<Q: Queues> Progress<Q> {
    /// The newest event, if it is behind the work at `position`, and the position it is behind.
    pub(crate) fn event_behind(&self, position: u64) -> Option<&(u64, Q::Event)> {
        self.more.event.as_ref().filter(|(behind, _)| *behind >= position)
    }

    /// An event was recorded behind the work at the lane's position.
    pub(crate) fn note_event(&mut self, event: Q::Event) {
        self.more.event = Some((self.position, event));
    }

    /// The event of the work at `position`, if it is the newest.
    pub(crate) fn event_at(&self, position: u64) -> Option<Q::Event> {
        self.event_behind(position).filter(|(behind, _)| *behind == position).map(|(_, event)| event.clone())
    }

    /// Up to which position of `lane` this one has waited; 0 for not at all.
    pub(crate) fn waited_for(&self, lane: &Lane<Q>) -> u64 {
        self.more.waits.iter().find(|waited| waited.is_about(lane)).map_or(0, |waited| waited.position)
    }

    /// Remembers that this lane waits for `lane` up to `position`.
    pub(crate) fn note_wait(&mut self, lane: &Lane<Q>, position: u64) {
        let waits = &mut self.more.waits;
        if let Some(waited) = waits.iter_mut().find(|waited| waited.is_about(lane)) {
            waited.position = waited.position.max(position);
            return;
        }
        // So the list stays as short as the lanes that are busy.
        waits.retain(WaitedFor::is_of_use);
        waits.push(WaitedFor { lane: Arc::downgrade(&lane.0), position });
    }
}
