//! How work gets on a lane, behind everything that it conflicts with: the five steps of the protocol, as the crate's
//! documentation numbers them.

use crate::lane::Progress;
use crate::queues::Touched;
use crate::records::KNOWN_SET;
use crate::sync::MutexGuard;
use crate::uses::{Cover, keep_latest};
use crate::{Lane, LaneKind, Ledger, MemoryId, Queues, Touch, Touching, Use, UseSet};

/// A lane that is locked. Where a use was entered on it, it stays so until the work is on the stream.
type Locked<'l, Q> = MutexGuard<'l, Progress<Q>>;

/// What came of one attempt to enter a use.
enum Attempt<Q: Queues> {
    Entered,
    /// These must be waited for, and have no event yet.
    Uncovered(Vec<Use<Q>>),
}

impl<Q: Queues> Ledger<Q> {
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
    pub fn submit<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_, Q>,
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Result<(R, Use<Q>), E>
    where
        E: From<Q::Error>,
    {
        let (set, memory) = match touch {
            Touch::Memory(memory) => return self.submit_memory(queues, lane, memory, enqueue),
            Touch::Set(set) => (set, &[][..]),
            Touch::SetAnd(set, memory) => (set, memory),
        };
        let result = self.launch(queues, lane, set, memory, enqueue)?;
        let launched = set.last_use().expect("every launch is written down before its work is enqueued");
        Ok((result, launched.clone()))
    }

    /// Launches a set: as [`submit`](Ledger::submit) of [`Touch::Set`], or of [`Touch::SetAnd`] where there is `memory`. The
    /// use is the set's [last](UseSet::last_use).
    ///
    /// # Errors
    ///
    /// - As [`submit`](Ledger::submit).
    ///
    /// # Panics
    ///
    /// - As [`submit`](Ledger::submit).
    pub fn launch<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        set: &mut UseSet<Q>,
        memory: &[(MemoryId, Touching)],
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Result<R, E>
    where
        E: From<Q::Error>,
    {
        self.launch_that(queues, lane, (set, memory), true, enqueue)
    }

    fn launch_that<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        (set, memory): (&mut UseSet<Q>, &[(MemoryId, Touching)]),
        writes: bool,
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Result<R, E>
    where
        E: From<Q::Error>,
    {
        let mut progress = lane.lock();
        if self.parts_work() {
            self.part(queues, lane, &mut progress, set.last_use().filter(|_| memory.is_empty()));
        }
        let again = if memory.is_empty() { set.enter_clean(lane, &mut progress) } else { None };
        if again.is_none() {
            progress = self.enter_launch(queues, lane, progress, set, memory)?;
        }
        let touch = Touched { set: Some(set.number()), memory };
        let mut unmade = Unmade { ledger: self, lane, position: progress.position, touch, again };
        let done = self.enqueue_launch(queues, lane, progress, set, memory, enqueue);
        if done.is_ok() && writes {
            unmade.is_made();
        }
        done
    }

    /// As [`launch`](Ledger::launch) without memory, of work that writes nothing: what prepares a launch. It has the order of one, and
    /// is none of the last [writes](Ledger::last_writes).
    ///
    /// # Errors
    ///
    /// - As [`launch`](Ledger::launch).
    pub fn prepare<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        set: &mut UseSet<Q>,
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Result<R, E>
    where
        E: From<Q::Error>,
    {
        self.launch_that(queues, lane, (set, &[]), false, enqueue)
    }

    /// As [`launch`](Ledger::launch) without memory, if that is clean: on the lane of the last launch, and nobody disturbed
    /// the set since. None, and nothing is done, if it is not.
    ///
    /// The same steps by a short way: a driver's launch leaves little of our code in the caches, so that every line of it
    /// counts.
    ///
    /// # Errors
    ///
    /// - What `enqueue` returned. The launch is entered then, as of [`launch`](Ledger::launch).
    #[inline]
    pub fn launch_clean<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        set: &mut UseSet<Q>,
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Option<Result<R, E>> {
        let mut progress = lane.lock();
        // A launch of the last set again parts nothing; it is asked here, because a call would cost more than the question.
        if self.parts_work() && !set.is_last_on(lane, progress.position) {
            self.part(queues, lane, &mut progress, None);
        }
        let again = set.enter_clean(lane, &mut progress)?;
        let position = progress.position;
        let done = self.enqueue_launch(queues, lane, progress, set, &[], enqueue);
        if done.is_err() {
            self.clean_not_made(lane, position, set, again);
        }
        Some(done)
    }

    #[cold]
    #[inline(never)]
    fn clean_not_made(&self, lane: &Lane<Q>, position: u64, set: &UseSet<Q>, again: u64) {
        if self.parts_work() {
            self.records.lock().not_made(lane, position, Touched { set: set.id(), memory: &[] }, Some(again));
        }
    }

    /// Steps 4 and 5 of a launch that was entered. The lane is locked until the work and its event are on the stream.
    #[inline]
    fn enqueue_launch<R>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        progress: Locked<'_, Q>,
        set: &mut UseSet<Q>,
        memory: &[(MemoryId, Touching)],
        enqueue: impl FnOnce(&Q::Stream) -> R,
    ) -> R {
        Q::entered(lane.stream(), progress.position);
        // Step 4.
        let done = enqueue(lane.stream());
        // Step 5. Also behind work that failed, because part of it may be on the stream.
        if self.wants_event(lane) {
            self.record_behind_launch(queues, lane, progress, set, memory);
        }
        done
    }

    /// Enters a launch by the long way.
    fn enter_launch<'l>(
        &self,
        queues: &Q,
        lane: &'l Lane<Q>,
        progress: Locked<'l, Q>,
        set: &mut UseSet<Q>,
        memory: &[(MemoryId, Touching)],
    ) -> Result<Locked<'l, Q>, Q::Error> {
        let touch = Touched { set: Some(set.id().expect(KNOWN_SET)), memory };
        let progress = self.enter_waiting(queues, lane, progress, touch)?;
        set.entered(lane, progress.position);
        Ok(progress)
    }

    #[cold]
    #[inline(never)]
    fn record_behind_launch(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        mut progress: Locked<'_, Q>,
        set: &mut UseSet<Q>,
        memory: &[(MemoryId, Touching)],
    ) {
        let event = self.record_behind(queues, lane, Touched { set: set.id(), memory }, &mut progress);
        set.note_event(event);
    }

    fn submit_memory<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        memory: &[(MemoryId, Touching)],
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Result<(R, Use<Q>), E>
    where
        E: From<Q::Error>,
    {
        let touch = Touched { set: None, memory };
        let mut progress = lane.lock();
        if self.parts_work() {
            self.part(queues, lane, &mut progress, None);
        }
        let mut progress = self.enter_waiting(queues, lane, progress, touch)?;
        let position = progress.position;
        Q::entered(lane.stream(), position);
        let mut unmade = Unmade { ledger: self, lane, position, touch, again: None };
        // Steps 4 and 5, as of a launch.
        let done = enqueue(lane.stream());
        if done.is_ok() {
            unmade.is_made();
        }
        drop(unmade);
        let event = match self.wants_event(lane) {
            true => self.record_behind(queues, lane, touch, &mut progress),
            false => None,
        };
        drop(progress);
        Ok((done?, Use { lane: lane.clone(), position, event }))
    }

    /// Enters a use behind everything that it conflicts with, and covers what has no event.
    fn enter_waiting<'l>(
        &self,
        queues: &Q,
        lane: &'l Lane<Q>,
        mut progress: Locked<'l, Q>,
        touch: Touched<'_>,
    ) -> Result<Locked<'l, Q>, Q::Error> {
        let mut covers = Vec::new();
        loop {
            let uncovered = match self.try_to_enter(queues, lane, touch, &mut progress, &covers)? {
                Attempt::Entered => return Ok(progress),
                Attempt::Uncovered(uses) => uses,
            };
            // Our own lane is let go first: two threads that cover each other's lanes would wait for ever.
            drop(progress);
            for used in &uncovered {
                covers.push(self.cover(queues, used)?);
            }
            progress = lane.lock();
            if self.parts_work() {
                // Somebody else may have been here meanwhile.
                self.part(queues, lane, &mut progress, None);
            }
        }
    }

    /// An event behind what is on a lane, before other work comes behind it: whoever waits for the one then waits for nothing of
    /// the other. Before the waits of that work, too. A launch of the `last` set again is nothing other: who waits for what it
    /// touches waits for the newest launch.
    ///
    /// If it is refused, that work is covered late, as ever.
    #[cold]
    #[inline(never)]
    fn part(&self, queues: &Q, lane: &Lane<Q>, progress: &mut Progress<Q>, last: Option<&Use<Q>>) {
        let position = progress.position;
        let is_again = last.is_some_and(|last| last.is_at(lane, position));
        let is_over = position <= lane.finished_up_to();
        if is_again || is_over || lane.kind() != LaneKind::User {
            return;
        }
        if let Some(event) = progress.event_at(position) {
            lane.note_parting(position, event);
        } else if let Ok(event) = queues.record(lane.stream()) {
            lane.note_parting(position, event.clone());
            progress.note_event(event);
        }
    }

    /// Steps 1 to 3: waits for what conflicts, and enters the use at the lane's next position.
    ///
    /// The look that finds nothing left to wait for and the entry are one step under the records' lock, and what goes
    /// without that lock finds the sets disturbed that the look has seen. So of two conflicting submits on different
    /// lanes, the later to enter has seen the earlier.
    fn try_to_enter(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touched<'_>,
        progress: &mut Progress<Q>,
        covers: &[Cover<Q>],
    ) -> Result<Attempt<Q>, Q::Error> {
        // How many uses were known at the last look, all of whose waits were made since.
        let mut uses_seen = None;
        loop {
            // Step 1. Where nobody entered a use since, a look would find nothing new.
            let mut records = self.records.lock();
            let mut waits = Vec::new();
            if uses_seen != Some(records.uses_entered) {
                records.conflicts(lane, touch, |used| {
                    if !passed_over(lane, progress, &used.lane, used.position) {
                        keep_latest(&mut waits, used);
                    }
                });
            }
            // Step 3, still under the lock of the look.
            if waits.is_empty() {
                progress.position += 1;
                records.enter(lane, progress.position, touch, self.parts_work());
                if progress.position == 1 {
                    self.count_lane(lane);
                }
                return Ok(Attempt::Entered);
            }
            uses_seen = Some(records.uses_entered);
            drop(records);

            // Step 2. An event can be had for a use without one, but not while this lane is locked.
            let (mut covered, mut uncovered) = (Vec::new(), Vec::new());
            for used in waits {
                let cover = used.own_cover().or_else(|| covers.iter().find(|cover| cover.covers(&used)).cloned());
                match cover {
                    Some(cover) => covered.push(cover),
                    None => uncovered.push(used),
                }
            }
            if !uncovered.is_empty() {
                return Ok(Attempt::Uncovered(uncovered));
            }
            for cover in &covered {
                wait(queues, lane, progress, cover)?;
            }
        }
    }

    /// Records an event behind the work, and makes it known to all who look for the use. None if it is refused.
    fn record_behind(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touched<'_>,
        progress: &mut Progress<Q>,
    ) -> Option<Q::Event> {
        let event = queues.record(lane.stream()).ok()?;
        progress.note_event(event.clone());
        self.records.lock().note_event(lane, progress.position, touch, &event);
        Some(event)
    }

    /// An event behind `used`: its own; or the first one on its lane that is behind it; or one recorded now.
    ///
    /// The caller holds no lane's lock.
    pub(crate) fn cover(&self, queues: &Q, used: &Use<Q>) -> Result<Cover<Q>, Q::Error> {
        if let Some(cover) = used.own_cover() {
            return Ok(cover);
        }
        let lane = used.lane.clone();
        // Not by the lane's lock: what comes behind the event may be a call that waits for who asks here.
        if let Some((position, event)) = lane.parting_behind(used.position) {
            return Ok(Cover { lane, position, event });
        }
        // Under its lock every position that was given out is on the stream.
        let mut progress = used.lane.lock();
        if let Some((position, event)) = progress.event_behind(used.position) {
            return Ok(Cover { lane, position: *position, event: event.clone() });
        }
        let event = queues.record(lane.stream())?;
        progress.note_event(event.clone());
        Ok(Cover { lane, position: progress.position, event })
    }
}

/// A use that was entered, and whose work is not made yet: it was refused, or its enqueue panicked, if this is dropped.
struct Unmade<'l, Q: Queues> {
    ledger: &'l Ledger<Q>,
    lane: &'l Lane<Q>,
    /// 0 once it is made.
    position: u64,
    touch: Touched<'l>,
    /// Where the set's launch before it was, if this one is clean.
    again: Option<u64>,
}

impl<Q: Queues> Unmade<'_, Q> {
    fn is_made(&mut self) {
        self.position = 0;
    }
}

impl<Q: Queues> Drop for Unmade<'_, Q> {
    fn drop(&mut self) {
        if self.position > 0 && self.ledger.parts_work() {
            self.ledger.records.lock().not_made(self.lane, self.position, self.touch, self.again);
        }
    }
}

/// Whether a lane need not wait for the work at a position: it is its own, or done, or already waited for.
pub(crate) fn passed_over<Q: Queues>(lane: &Lane<Q>, progress: &Progress<Q>, other: &Lane<Q>, position: u64) -> bool {
    other == lane || position <= other.finished_up_to() || position <= progress.waited_for(other)
}

/// Makes a lane wait for a cover, and remembers that it did. A wait that is refused does not count.
pub(crate) fn wait<Q: Queues>(
    queues: &Q,
    lane: &Lane<Q>,
    progress: &mut Progress<Q>,
    cover: &Cover<Q>,
) -> Result<(), Q::Error> {
    queues.wait(lane.stream(), &cover.event)?;
    progress.note_wait(&cover.lane, cover.position);
    Ok(())
}
