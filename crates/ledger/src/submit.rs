//! How work gets on a lane, behind everything that it conflicts with: the five steps of the protocol, as the crate's
//! documentation numbers them.

use crate::lane::Progress;
use crate::sync::MutexGuard;
use crate::uses::{Cover, keep_latest};
use crate::{Lane, Ledger, Queues, Touch, Use};

/// A lane on which a use was entered, and which stays locked until the work is on the stream.
struct Entered<'l, Q: Queues> {
    progress: MutexGuard<'l, Progress<Q>>,
    /// Whether an event is to follow the work.
    with_event: bool,
}

/// What came of one attempt to enter a use.
enum Attempt<Q: Queues> {
    Entered {
        with_event: bool,
    },
    /// These must be waited for, and have no event yet.
    Uncovered(Vec<Use<Q>>),
}

/// What the caller's `enqueue` gave, at which position, and the event behind it.
struct Enqueued<R, Q: Queues> {
    result: R,
    position: u64,
    event: Option<Q::Event>,
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
        let Enqueued { result, position, event } = self.enter_and_enqueue(queues, lane, touch, enqueue)?;
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
        let Enqueued { result, position, event } = self.enter_and_enqueue(queues, lane, touch, enqueue)?;
        match last {
            Some(last) if last.lane == *lane => (last.position, last.event) = (position, event),
            last => *last = Some(Use { lane: lane.clone(), position, event }),
        }
        Ok(result)
    }

    /// The five steps. The lane is locked from the entry until the work and its event are on the stream.
    #[inline]
    fn enter_and_enqueue<R, E>(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_>,
        enqueue: impl FnOnce(&Q::Stream) -> Result<R, E>,
    ) -> Result<Enqueued<R, Q>, E>
    where
        E: From<Q::Error>,
    {
        // A clean launch goes by a short way: a driver's launch leaves little of our code in the caches, so that every
        // line of it counts. It is the long way with nothing to look at.
        let Entered { mut progress, with_event } = match self.enter_clean(lane, touch) {
            Some(entered) => entered,
            None => self.enter_waiting(queues, lane, touch)?,
        };
        let position = progress.position;
        // Step 4.
        let done = enqueue(lane.stream());
        // Step 5. Also behind work that failed, because part of it may be on the stream.
        let event = match with_event {
            true => self.record_behind(queues, lane, touch, &mut progress, position),
            false => None,
        };
        drop(progress);
        Ok(Enqueued { result: done?, position, event })
    }

    /// Enters a launch that is clean on its lane: nobody to wait for, nothing to look at. None if it is anything else.
    #[inline]
    fn enter_clean<'l>(&self, lane: &'l Lane<Q>, touch: Touch<'_>) -> Option<Entered<'l, Q>> {
        let Touch::Set(set) = touch else { return None };
        let mut progress = lane.lock();
        let with_event = self.records.lock().enter_clean(lane, progress.position + 1, set)?;
        progress.position += 1;
        Some(Entered { progress, with_event })
    }

    /// Enters a use behind everything that it conflicts with, and covers what has no event.
    #[cold]
    #[inline(never)]
    fn enter_waiting<'l>(&self, queues: &Q, lane: &'l Lane<Q>, touch: Touch<'_>) -> Result<Entered<'l, Q>, Q::Error> {
        let mut covers = Vec::new();
        loop {
            let mut progress = lane.lock();
            let uncovered = match self.try_to_enter(queues, lane, touch, &mut progress, &covers)? {
                Attempt::Entered { with_event } => return Ok(Entered { progress, with_event }),
                Attempt::Uncovered(uses) => uses,
            };
            // Our own lane is let go first: two threads that cover each other's lanes would wait for ever.
            drop(progress);
            for used in &uncovered {
                covers.push(self.cover(queues, used)?);
            }
        }
    }

    /// Steps 1 to 3: waits for what conflicts, and enters the use at the lane's next position.
    ///
    /// The look that finds nothing left to wait for and the entry are one step under the records' lock. So of two
    /// conflicting submits on different lanes, the later to enter has seen the earlier.
    fn try_to_enter(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_>,
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
                let with_event = records.enter(lane, progress.position, touch);
                return Ok(Attempt::Entered { with_event });
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
    #[inline(never)]
    fn record_behind(
        &self,
        queues: &Q,
        lane: &Lane<Q>,
        touch: Touch<'_>,
        progress: &mut Progress<Q>,
        position: u64,
    ) -> Option<Q::Event> {
        let event = queues.record(lane.stream()).ok()?;
        progress.last_event = Some((position, event.clone()));
        self.records.lock().note_event(lane, position, touch, &event);
        Some(event)
    }

    /// An event behind `used`: its own; or the last one on its lane, if that is behind it; or one recorded now.
    ///
    /// The caller holds no lane's lock.
    pub(crate) fn cover(&self, queues: &Q, used: &Use<Q>) -> Result<Cover<Q>, Q::Error> {
        if let Some(cover) = used.own_cover() {
            return Ok(cover);
        }
        let lane = used.lane.clone();
        // Under its lock every position that was given out is on the stream.
        let mut progress = used.lane.lock();
        if let Some((position, event)) = &progress.last_event
            && *position >= used.position
        {
            return Ok(Cover { lane, position: *position, event: event.clone() });
        }
        let event = queues.record(lane.stream())?;
        let position = progress.position;
        progress.last_event = Some((position, event.clone()));
        Ok(Cover { lane, position, event })
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
