//! Things to be released once nobody can touch them any more.
//!
//! `put` is what a `Drop` may do: it makes no call of the device, waits for nothing but a short lock, runs on any
//! thread, and does not fail. Somebody else takes the things out later, orders a stream after their uses
//! ([`Ledger::order_after`](crate::Ledger::order_after)), and releases them there.

use crate::sync::{AtomicUsize, Mutex, Ordering};
use crate::{Queues, Use};

/// A queue of things with the uses that must be over before they are released.
pub struct Drops<Q: Queues, G> {
    things: Mutex<Vec<(G, Vec<Use<Q>>)>>,
    /// The length of `things`, changed only under its lock, so that a launch can ask without taking it.
    count: AtomicUsize,
}

impl<Q: Queues, G> Drops<Q, G> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Drops { things: Mutex::new(Vec::new()), count: AtomicUsize::new(0) }
    }

    /// Leaves a thing, and what must be over before it is released.
    pub fn put(&self, thing: G, after: Vec<Use<Q>>) {
        let mut things = self.things.lock();
        things.push((thing, after));
        self.count.store(things.len(), Ordering::Release);
    }

    /// Whether there is nothing to take: one atomic load. What another thread puts at this moment may be missed.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// How many things are waiting: one atomic load.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// The things that are wanted, in the order in which they were put. The others stay, and nobody finds them gone meanwhile.
    #[must_use]
    pub fn take_where(&self, mut is_wanted: impl FnMut(&G) -> bool) -> Vec<(G, Vec<Use<Q>>)> {
        let mut things = self.things.lock();
        let (taken, left) = std::mem::take(&mut *things).into_iter().partition(|(thing, _)| is_wanted(thing));
        *things = left;
        self.count.store(things.len(), Ordering::Release);
        taken
    }

    /// Everything that was put, in that order. Each thing is taken once.
    #[must_use]
    pub fn take(&self) -> Vec<(G, Vec<Use<Q>>)> {
        let mut things = self.things.lock();
        self.count.store(0, Ordering::Release);
        std::mem::take(&mut *things)
    }
}

impl<Q: Queues, G> Default for Drops<Q, G> {
    fn default() -> Self {
        Drops::new()
    }
}
