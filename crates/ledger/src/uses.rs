//! A use is one piece of work on a lane; a cover is an event that is behind one.

use std::fmt;

use crate::{Lane, Queues};

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
    pub(crate) fn is_at(&self, lane: &Lane<Q>, position: u64) -> bool {
        self.position == position && self.lane == *lane
    }

    #[inline]
    pub(crate) fn is_finished(&self) -> bool {
        self.position <= self.lane.finished_up_to()
    }

    /// Its own event as a cover, if it has one.
    pub(crate) fn own_cover(&self) -> Option<Cover<Q>> {
        let event = self.event.clone()?;
        Some(Cover { lane: self.lane.clone(), position: self.position, event })
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

/// An event that is behind the work at `position` of a lane, and so behind all work before it.
pub(crate) struct Cover<Q: Queues> {
    pub(crate) lane: Lane<Q>,
    pub(crate) position: u64,
    pub(crate) event: Q::Event,
}

impl<Q: Queues> Cover<Q> {
    pub(crate) fn covers(&self, used: &Use<Q>) -> bool {
        self.lane == used.lane && self.position >= used.position
    }
}

impl<Q: Queues> Clone for Cover<Q> {
    fn clone(&self) -> Self {
        Cover { lane: self.lane.clone(), position: self.position, event: self.event.clone() }
    }
}

/// Puts `new` into a list that holds at most one use a lane, the latest: the others of that lane come before it. Of
/// two values of the same use, the one with an event is kept.
pub(crate) fn keep_latest<Q: Queues>(list: &mut Vec<Use<Q>>, new: &Use<Q>) {
    match list.iter_mut().find(|old| old.lane == new.lane) {
        None => list.push(new.clone()),
        Some(old) => {
            if new.position > old.position || (new.position == old.position && old.event.is_none()) {
                *old = new.clone();
            }
        }
    }
}
