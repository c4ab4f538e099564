//! The ledger of one device: the one way to put work on its streams.
//!
//! Locks, from the outside in: one lane's lock, then the records' lock. No thread holds two lanes' locks. The records'
//! lock is never held over a call of the device. Why that is enough stands in the crate's documentation.

use crate::lane::{Order, keep_latest};
use crate::records::Records;
use crate::rule::{Rule, all_hold, holds};
use crate::sync::{Mutex, MutexGuard};
use crate::{Access, Lane, LaneKind, MemoryId, Queues, SetId, Touch, Use};

/// Who used what last, on one device. Shared by all threads.
pub struct Ledger<Q: Queues> {
    records: Mutex<Records<Q>>,
}

/// What came of the attempt to enter a use.
enum Entry<Q: Queues> {
    /// It is entered at this position; whether its work is to be followed by an event.
    Entered(u64, bool),
    /// These must be waited for, and have no event yet.
    Uncovered(Vec<Use<Q>>),
}

/// The lane's lock, the position that was entered, and whether an event is to follow.
type Entered<'l, Q> = (MutexGuard<'l, Order<Q>>, u64, bool);

/// What the enqueueing gave, its position, and the event behind it.
type Placed<R, Q> = (R, u64, Option<<Q as Queues>::Event>);

impl<Q: Queues> Ledger<Q> {
    /// A ledger that knows of nothing.
    #[must_use]
    pub fn new() -> Self {
        Ledger { records: Mutex::new(Records::new()) }
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
    pub fn add_set(&self, members: &[(MemoryId, Access)]) -> SetId {
        self.records.lock().add_set(members)
    }

    /// Takes a set out, and returns its last launch. Its members remember that launch as a use of their own.
    ///
    /// One short lock and no call, so that a `Drop` may do it.
    pub fn remove_set(&self, set: SetId) -> Option<Use<Q>> {
        self.records.lock().remove_set(set)
    }

    /// Puts work on a lane, behind everything that it conflicts with. The one way to do that.
    ///
    /// `enqueue` runs while the lane is locked. It must not call this ledger, nor drop what does; whatever it does
    /// enqueue must touch only what `touch` says.
    ///
    /// From the second used user lane on, the work is followed by an event of its own. If that event is refused the
    /// work is on the stream all the same: the answer is `Ok`, the use has no event, and whoever needs one records it
    /// then, and hears of the refusal if it lasts.
    ///
    /// # Errors
    ///
    /// - What a wait, or an event to wait for, was refused with: nothing was enqueued or entered then.
    /// - What `enqueue` returned. The use is entered then, because some of the work may be on the stream; it is
    ///   [`last_use`](Ledger::last_use) of the lane until somebody else submits. The same holds when `enqueue` panics.
    ///
    /// # Panics
    ///
    /// - The touch names memory or a set that was removed. Nothing was changed.
    #[inline]
    pub fn submit<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_>,
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Result<(R, Use<Q>), E>
    where
        E: From<Q::Error>,
    {
        let (result, position, event) = self.place(queues, lane, touch, enqueue)?;
        Ok((result, Use { lane: lane.clone(), position, event }))
    }

    /// As [`submit`](Ledger::submit), with the use written over the last one of the same owner: on the same lane again
    /// that is a number, and no count of handles is touched. On an error `last` stays as it was.
    ///
    /// # Errors
    ///
    /// - As [`submit`](Ledger::submit).
    ///
    /// # Panics
    ///
    /// - As [`submit`](Ledger::submit).
    #[inline]
    pub fn submit_over<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_>,
        last: &mut Option<Use<Q>>,
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Result<R, E>
    where
        E: From<Q::Error>,
    {
        let (result, position, event) = self.place(queues, lane, touch, enqueue)?;
        match last {
            Some(last) if last.lane == *lane => (last.position, last.event) = (position, event),
            last => *last = Some(Use { lane: lane.clone(), position, event }),
        }
        Ok(result)
    }

    /// Puts work on a stream, and says where it is.
    #[inline]
    fn place<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_>,
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Result<Placed<R, Q>, E>
    where
        E: From<Q::Error>,
    {
        // A clean launch goes by a short way: a driver's launch leaves little of our code in the caches, so that every line
        // of it counts. It is the slow way with nothing to look at; with a rule switched off it is not taken.
        let (mut order, position, with_event) = match self.enter_clean(lane, touch) {
            Some(entered) => entered,
            None => self.enter_looking(queues, lane, touch)?,
        };

        let early = if with_event && !holds(Rule::EventAfterWork) { queues.record(lane.stream()).ok() } else { None };
        if !holds(Rule::LaneLockHeldOverEnqueue) {
            drop(order);
            let done = enqueue(lane.stream());
            order = lane.lock();
            return self.leave(queues, lane, touch, order, position, with_event, early, done);
        }
        let done = enqueue(lane.stream());
        self.leave(queues, lane, touch, order, position, with_event, early, done)
    }

    /// Enters a launch that is clean on its lane: nobody to wait for, one cell to write. None if it is anything else.
    #[inline]
    fn enter_clean<'l>(&self, lane: &'l Lane<Q>, touch: Touch<'_>) -> Option<Entered<'l, Q>> {
        let Touch::Set(set) = touch else { return None };
        if !all_hold() {
            return None;
        }
        let mut order = lane.lock();
        let several = self.records.lock().enter_clean(lane, order.position + 1, set)?;
        order.position += 1;
        let position = order.position;
        Some((order, position, several && lane.kind() == LaneKind::User))
    }

    /// Looks at what conflicts, waits for it, and enters the use.
    #[cold]
    #[inline(never)]
    fn enter_looking<'l>(&self, queues: &Q, lane: &'l Lane<Q>, touch: Touch<'_>) -> Result<Entered<'l, Q>, Q::Error> {
        let mut covers = Vec::new();
        if !holds(Rule::NoWaitTwice) {
            lane.lock().forget_waits();
        }
        loop {
            let mut order = lane.lock();
            match self.enter(queues, lane, touch, &mut order, &covers)? {
                Entry::Entered(position, with_event) => return Ok((order, position, with_event)),
                Entry::Uncovered(uses) => {
                    // Our own lane is let go first: two threads that cover each other's lanes would wait for ever.
                    let _own = Some(order).filter(|_| !holds(Rule::CoverAlone));
                    for used in uses {
                        covers.push(self.cover(queues, &used)?);
                    }
                }
            }
        }
    }

    /// Waits for what conflicts, and enters the use at the lane's next position.
    ///
    /// The look that finds nothing left to wait for and the entry are one step under the records' lock. So of two
    /// conflicting submits on different lanes, the later to enter has seen the earlier.
    fn enter(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_>,
        order: &mut Order<Q>,
        covers: &[Use<Q>],
    ) -> Result<Entry<Q>, Q::Error> {
        // Of the last look whose waits were all made.
        let mut entries_seen = None;
        loop {
            let mut records = self.records.lock();
            let mut waits = Vec::new();
            let seen_all = entries_seen == Some(records.entries)
                || (entries_seen.is_some() && !holds(Rule::LookAgainAfterWaiting));
            if !seen_all {
                records.conflicts(lane, touch, |used| {
                    if !passed_over(lane, order, used) {
                        keep_latest(&mut waits, used);
                    }
                });
            }
            if waits.is_empty() {
                order.position += 1;
                if order.position == 1 && (lane.kind() == LaneKind::User || !holds(Rule::InternalLanesDoNotCount)) {
                    records.lanes_used += 1;
                }
                let several = records.lanes_used > 1 && holds(Rule::EventFromSecondLane);
                let with_event = (several || !holds(Rule::NoEventOnOneLane)) && lane.kind() == LaneKind::User;
                if holds(Rule::EnteredBeforeEnqueue) {
                    records.enter(lane, order.position, touch);
                }
                return Ok(Entry::Entered(order.position, with_event));
            }
            entries_seen = Some(records.entries);
            drop(records);
            let mut uncovered = Vec::new();
            for used in &waits {
                let covered = covers.iter().find(|c| c.lane == used.lane && c.position >= used.position);
                if used.event.is_none() && covered.is_none() {
                    uncovered.push(used.clone());
                }
            }
            if !uncovered.is_empty() && holds(Rule::CoverBeforeWait) {
                return Ok(Entry::Uncovered(uncovered));
            }
            for used in &waits {
                let covered = covers.iter().find(|c| c.lane == used.lane && c.position >= used.position);
                let used = if used.event.is_some() { used } else { covered.unwrap_or(used) };
                wait(queues, lane, order, used)?;
            }
        }
    }

    /// What follows the enqueue, still under the lane's lock: the event, made known to all who have the use.
    #[expect(clippy::too_many_arguments, reason = "the second half of submit, cut where the work is on the stream")]
    #[inline]
    fn leave<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_>,
        mut order: MutexGuard<'_, Order<Q>>,
        position: u64,
        with_event: bool,
        early: Option<Q::Event>,
        done: Result<R, E>,
    ) -> Result<Placed<R, Q>, E> {
        if !holds(Rule::EnteredBeforeEnqueue) {
            self.records.lock().enter(lane, position, touch);
        }
        if done.is_err() && !holds(Rule::UseEnteredOnFailure) {
            // As if it had never been entered: a use at position 0 is over.
            self.records.lock().entered(lane, position, touch, |used| used.position = 0);
        }
        let event = match with_event {
            true => self.record_behind(queues, lane, touch, &mut order, position, early),
            false => None,
        };
        drop(order);
        Ok((done?, position, event))
    }

    /// Records an event behind the work, and makes it known to all who have the use.
    #[inline(never)]
    fn record_behind(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_>,
        order: &mut Order<Q>,
        position: u64,
        early: Option<Q::Event>,
    ) -> Option<Q::Event> {
        let event = early.or_else(|| queues.record(lane.stream()).ok())?;
        order.latest = Some((position, event.clone()));
        self.records.lock().entered(lane, position, touch, |used| used.event = Some(event.clone()));
        Some(event)
    }

    /// A use with an event that is behind `used` and nothing that was enqueued later than now.
    fn cover(&self, queues: &Q, used: &Use<Q>) -> Result<Use<Q>, Q::Error> {
        let lane = &used.lane;
        if !holds(Rule::CoverUnderLaneLock) {
            return Ok(Use { event: Some(queues.record(lane.stream())?), ..used.clone() });
        }
        // Under the lock every position that was given out is on the stream.
        let mut order = lane.lock();
        if let Some((position, event)) = &order.latest
            && *position >= used.position
        {
            return Ok(Use { lane: lane.clone(), position: *position, event: Some(event.clone()) });
        }
        let event = queues.record(lane.stream())?;
        let position = if holds(Rule::CoverOnlyUpToNow) { order.position } else { order.position + 1 };
        order.latest = Some((position, event.clone()));
        Ok(Use { lane: lane.clone(), position, event: Some(event) })
    }

    /// The unfinished uses that an access of the host conflicts with, at most one a lane. All of them are on their
    /// streams when this returns.
    ///
    /// # Panics
    ///
    /// - The memory was removed.
    #[must_use]
    pub fn wait_list(&self, memory: MemoryId, access: Access) -> Vec<Use<Q>> {
        let mut list = Vec::new();
        self.records.lock().conflicts_of(memory, access, |used| {
            if !used.is_finished() {
                keep_latest(&mut list, used);
            }
        });
        for used in &mut list {
            if used.event.is_none() && holds(Rule::HostSeesOnlyEnqueued) {
                // Its lock is free only once the work is on the stream.
                let order = used.lane.lock();
                if let Some((position, event)) = &order.latest
                    && *position == used.position
                {
                    used.event = Some(event.clone());
                }
            }
        }
        list
    }

    /// Makes what is enqueued on `lane` from now on wait for some uses.
    ///
    /// # Errors
    ///
    /// - What the device answers. Some of the waits may have been made.
    pub fn order_after(&self, queues: &Q, lane: &Lane<Q>, uses: &[Use<Q>]) -> Result<(), Q::Error> {
        let mut latest = Vec::new();
        uses.iter().filter(|_| holds(Rule::OrderAfterWaits)).for_each(|used| keep_latest(&mut latest, used));
        for used in &latest {
            if passed_over(lane, &lane.lock(), used) {
                continue;
            }
            let covered = if used.event.is_some() { used.clone() } else { self.cover(queues, used)? };
            let mut order = lane.lock();
            if !passed_over(lane, &order, &covered) {
                wait(queues, lane, &mut order, &covered)?;
            }
        }
        Ok(())
    }

    /// The use's own event; or one that is behind it, recorded now if there is none: that may come late, never early.
    ///
    /// # Errors
    ///
    /// - What the device answers.
    pub fn event_for(&self, queues: &Q, used: &Use<Q>) -> Result<Q::Event, Q::Error> {
        if let Some(event) = &used.event {
            return Ok(event.clone());
        }
        let covered = self.cover(queues, used)?;
        Ok(covered.event.expect("a cover is made with its event"))
    }

    /// Says that a use, and with it all before it on its lane, is done.
    pub fn finished(&self, used: &Use<Q>) {
        used.lane.finish(used.position);
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

    /// The last piece of work on a lane. It is on the stream.
    #[must_use]
    pub fn last_use(&self, lane: &Lane<Q>) -> Option<Use<Q>> {
        let order = lane.lock();
        let position = order.position;
        let event = order.latest.as_ref().filter(|latest| latest.0 == position).map(|latest| latest.1.clone());
        (position > 0).then(|| Use { lane: lane.clone(), position, event })
    }

    /// How many user lanes ever got work.
    #[must_use]
    pub fn streams_used(&self) -> usize {
        self.records.lock().lanes_used
    }

    /// How many members launches have looked at so far. A clean launch adds nothing to it.
    #[must_use]
    pub fn members_visited(&self) -> u64 {
        self.records.lock().visited
    }
}

impl<Q: Queues> Default for Ledger<Q> {
    fn default() -> Self {
        Ledger::new()
    }
}

/// Whether a lane need not wait for a use: it is its own, or done, or already waited for.
fn passed_over<Q: Queues>(lane: &Lane<Q>, order: &Order<Q>, used: &Use<Q>) -> bool {
    (used.lane == *lane && holds(Rule::NoWaitOnOwnLane))
        || (used.is_finished() && holds(Rule::NoWaitForFinished))
        || used.position <= order.waited_for(&used.lane)
}

/// Makes a lane wait for a use that has an event, and remembers that it did.
fn wait<Q: Queues>(queues: &Q, lane: &Lane<Q>, order: &mut Order<Q>, used: &Use<Q>) -> Result<(), Q::Error> {
    if !holds(Rule::RefusedWaitDoesNotCount) {
        order.note_wait(&used.lane, used.position);
    }
    if let Some(event) = &used.event {
        queues.wait(lane.stream(), event)?;
    }
    order.note_wait(&used.lane, used.position);
    Ok(())
}
