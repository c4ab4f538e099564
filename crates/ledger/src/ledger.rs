//! The ledger of one device, as its users see it. How work gets on a lane is in `submit.rs`.

use crate::records::{Records, Sight};
use crate::submit::{passed_over, wait};
use crate::sync::{Arc, AtomicBool, AtomicUsize, Mutex, Ordering};
use crate::uses::keep_latest;
use crate::{Lane, LaneKind, MemoryId, Queues, Touching, Use, UseSet};

/// Who used what last, on one device. Shared by all threads.
///
/// Devices that touch each other's memory have a ledger each, made [`beside`](Ledger::beside) each other: they know the same
/// memory and the same sets, and each counts its own lanes.
///
/// Locks, from the outside in: one lane's lock, then the records' lock. No thread holds two lanes' locks. The records'
/// lock is never held over a call of the device. Why that is enough stands in the crate's documentation.
#[repr(C)] // the first is all that a clean launch looks at
pub struct Ledger<Q: Queues> {
    /// How many user lanes ever got work. Changed under the records' lock, and read without it: it decides about events
    /// that may be missing.
    user_lanes: AtomicUsize,
    /// Whether others than these lanes wait, too. It decides about events that may be missing, as above, so that loom need not
    /// explore it.
    parts_work: AtomicBool,
    /// Shared with the ledgers beside this one.
    pub(crate) records: Arc<Mutex<Records<Q>>>,
}

impl<Q: Queues> Ledger<Q> {
    /// A ledger that knows of nothing.
    #[must_use]
    pub fn new() -> Self {
        Ledger {
            user_lanes: AtomicUsize::new(0),
            parts_work: AtomicBool::new(false),
            records: Arc::new(Mutex::new(Records::new())),
        }
    }

    /// A ledger for another device whose streams can wait for events of this one's: memory that either knows, both know, and
    /// work on it has one order. A lane is always named to the ledger that it was added to.
    #[must_use]
    pub fn beside(&self) -> Self {
        Ledger {
            user_lanes: AtomicUsize::new(0),
            parts_work: AtomicBool::new(false),
            records: Arc::clone(&self.records),
        }
    }

    /// From now on work on a user lane has an event by the time that other work comes behind it, with one user lane too. Only a
    /// set that is launched again and again, and touches the same each time, has none in between.
    ///
    /// Where others than these lanes may have to wait for one piece of work and for nothing behind it: a stream of another
    /// device, or the work of another process that what is behind it waits for. What has other work behind it by now is covered
    /// late, as ever.
    pub fn part_work(&self) {
        self.parts_work.store(true, Ordering::Relaxed);
    }

    /// A lane for a stream. Nothing was enqueued on it, or nothing that touches what the ledger knows.
    #[must_use]
    pub fn add_lane(&self, stream: Q::Stream, kind: LaneKind) -> Lane<Q> {
        Lane::new(stream, kind)
    }

    /// A new piece of memory that nobody used.
    #[must_use]
    pub fn add_memory(&self) -> MemoryId {
        self.records.lock().add_memory()
    }

    /// Takes memory out, and returns its unfinished last uses, at most one a lane: it can be released behind them.
    ///
    /// Takes one short lock and makes no call, so that a `Drop` may do it. Its sets may be removed before or after.
    /// What is unknown has no uses.
    pub fn remove_memory(&self, memory: MemoryId) -> Vec<Use<Q>> {
        self.records.lock().remove_memory(memory)
    }

    /// A set of memory that is always used together: what a graph touches. Named twice, a write wins.
    ///
    /// # Panics
    ///
    /// - A member was removed, or is of another ledger.
    #[must_use]
    pub fn add_set(&self, members: &[(MemoryId, Touching)]) -> UseSet<Q> {
        self.records.lock().add_set(members)
    }

    /// Takes a set out, and returns its last launch. Its members remember that launch as a use of their own.
    ///
    /// One short lock and no call, so that a `Drop` may do it. What is gone has no last launch any more.
    pub fn remove_set(&self, set: &mut UseSet<Q>) -> Option<Use<Q>> {
        let mut records = self.records.lock();
        let last = records.remove_set(set.id()?, self.parts_work());
        set.removed();
        last
    }

    /// Makes what is enqueued on `lane` from now on wait for some uses.
    ///
    /// # Errors
    ///
    /// - What the device answers. Some of the waits may have been made.
    pub fn order_after(&self, queues: &Q, lane: &Lane<Q>, uses: &[Use<Q>]) -> Result<(), Q::Error> {
        let mut latest = Vec::new();
        uses.iter().for_each(|used| keep_latest(&mut latest, used));
        for used in &latest {
            if passed_over(lane, &lane.lock(), &used.lane, used.position) {
                continue;
            }
            // Not under this lane's lock: a cover may take the other's.
            let cover = self.cover(queues, used)?;
            let mut progress = lane.lock();
            // Somebody else may have made this lane wait meanwhile.
            if !passed_over(lane, &progress, &cover.lane, cover.position) {
                wait(queues, lane, &mut progress, &cover)?;
            }
        }
        Ok(())
    }

    /// The unfinished uses that an access of the host conflicts with, at most one a lane. All of them are on their
    /// streams when this returns.
    ///
    /// # Panics
    ///
    /// - The memory was removed.
    #[must_use]
    pub fn wait_list(&self, memory: MemoryId, access: Touching) -> Vec<Use<Q>> {
        let mut list = Vec::new();
        self.records.lock().conflicts_of(memory, access, Sight::Host, |used| {
            if !used.is_finished() {
                keep_latest(&mut list, used);
            }
        });
        for used in list.iter_mut().filter(|used| used.event.is_none()) {
            let parting = used.lane.parting_behind(used.position).filter(|(behind, _)| *behind == used.position);
            // It may be on its way to the stream. Its lane's lock is free only once it is there.
            let event = parting.map(|(_, event)| event).or_else(|| used.lane.lock().event_at(used.position));
            used.event = event;
        }
        list
    }

    /// The uses that wrote memory last, whether they are done or not: whose results a read of the host sees. More than one where
    /// launches of sets that were removed are among them, whose order is not known.
    ///
    /// What removed sets wrote and had done is known only since [`part_work`](Ledger::part_work) was said.
    ///
    /// # Panics
    ///
    /// - The memory was removed.
    #[must_use]
    pub fn last_writes(&self, memory: MemoryId) -> Vec<Use<Q>> {
        self.records.lock().last_writes(memory)
    }

    /// The host has written memory, and nothing in flight touches it: nobody else wrote it last.
    ///
    /// # Panics
    ///
    /// - The memory was removed.
    pub fn written_by_host(&self, memory: MemoryId) {
        self.records.lock().written_by_host(memory);
    }

    /// The use's own event; or one that is behind it, recorded now if there is none: that may come late, never early.
    ///
    /// # Errors
    ///
    /// - What the device answers.
    pub fn event_for(&self, queues: &Q, used: &Use<Q>) -> Result<Q::Event, Q::Error> {
        Ok(self.cover(queues, used)?.event)
    }

    /// Says that a use, and with it all before it on its lane, is done.
    pub fn finished(&self, used: &Use<Q>) {
        used.lane.finish_up_to(used.position);
    }

    /// Whether a use is done, as far as the ledger was told.
    #[must_use]
    pub fn is_finished(&self, used: &Use<Q>) -> bool {
        used.is_finished()
    }

    /// How many pieces of work are on a lane.
    #[must_use]
    pub fn position(&self, lane: &Lane<Q>) -> u64 {
        lane.lock().position
    }

    /// Does something while a use is the last on its lane: under the lane's lock, so that nothing is enqueued meanwhile. It must
    /// not call the ledger.
    pub fn while_last(&self, used: &Use<Q>, then: impl FnOnce()) {
        let progress = used.lane.lock();
        if progress.position == used.position {
            then();
        }
    }

    /// The last piece of work on a lane. It is on the stream.
    #[must_use]
    pub fn last_use(&self, lane: &Lane<Q>) -> Option<Use<Q>> {
        let progress = lane.lock();
        let position = progress.position;
        (position > 0).then(|| Use { lane: lane.clone(), position, event: progress.event_at(position) })
    }

    /// The same without waiting: none where somebody puts work on the lane this moment.
    #[must_use]
    pub fn last_use_if_free(&self, lane: &Lane<Q>) -> Option<Use<Q>> {
        let progress = lane.try_lock()?;
        let position = progress.position;
        (position > 0).then(|| Use { lane: lane.clone(), position, event: progress.event_at(position) })
    }

    /// How many user lanes ever got work.
    #[must_use]
    pub fn streams_used(&self) -> usize {
        self.user_lanes.load(Ordering::Relaxed)
    }

    /// The first work of a lane was entered.
    pub(crate) fn count_lane(&self, lane: &Lane<Q>) {
        if lane.kind() == LaneKind::User {
            self.user_lanes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether work on a lane is to be followed by an event of its own: from the second user lane on, on user lanes.
    #[inline]
    pub(crate) fn wants_event(&self, lane: &Lane<Q>) -> bool {
        self.user_lanes.load(Ordering::Relaxed) > 1 && lane.kind() == LaneKind::User
    }

    /// Whether work on a lane has an event before other work comes behind it.
    #[inline]
    pub(crate) fn parts_work(&self) -> bool {
        self.parts_work.load(Ordering::Relaxed)
    }

    /// How many members launches have looked at so far. A clean launch adds nothing to it.
    #[must_use]
    pub fn members_visited(&self) -> u64 {
        self.records.lock().members_visited
    }
}

impl<Q: Queues> Default for Ledger<Q> {
    fn default() -> Self {
        Ledger::new()
    }
}
