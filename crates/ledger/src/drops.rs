//! Things to be released once nobody can touch them any more.
//!
//! `put` is what a `Drop` may do: it makes no call of the device, waits for nothing but a short lock, runs on any
//! thread, and does not fail. Somebody else takes the things out later, orders a stream after their uses
//! ([`Ledger::order_after`](crate::Ledger::order_after)), and releases them there.

use crate::sync::{AtomicUsize, Mutex, Ordering};
use crate::{Queues, Use};

/// A queue of things with the uses that must be over before they are released.
pub struct Drops<Q: Queues, T> {
    things: Mutex<Vec<(T, Vec<Use<Q>>)>>,
    /// The length of `things`, changed only under its lock, so that a launch can ask without taking it.
    count: AtomicUsize,
}

impl<Q: Queues, T> Drops<Q, T> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Drops { things: Mutex::new(Vec::new()), count: AtomicUsize::new(0) }
    }

    /// Leaves a thing, and what must be over before it is released.
    pub fn put(&self, thing: T, after: Vec<Use<Q>>) {
        let mut things = self.things.lock();
        things.push((thing, after));
        self.count.store(things.len(), Ordering::Release);
    }

    /// Whether there is nothing to take: one atomic load. What another thread puts at this moment may be missed.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many things are waiting: one atomic load.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Everything that was put, in that order. Each thing is taken once.
    #[must_use]
    pub fn take(&self) -> Vec<(T, Vec<Use<Q>>)> {
        let mut things = self.things.lock();
        self.count.store(0, Ordering::Release);
        std::mem::take(&mut *things)
    }

    /// The things that are wanted, in the order in which they were put. The others stay in theirs.
    ///
    /// `is_wanted` runs under this queue's lock, once for each thing, before any of them is taken: if it panics, all of
    /// them are still there. It must not call this queue, but for [`len`](Drops::len) and
    /// [`is_empty`](Drops::is_empty).
    #[must_use]
    pub fn take_where(&self, mut is_wanted: impl FnMut(&T) -> bool) -> Vec<(T, Vec<Use<Q>>)> {
        let mut things = self.things.lock();
        let wanted: Vec<bool> = things.iter().map(|(thing, _)| is_wanted(thing)).collect();
        let mut wanted = wanted.into_iter();
        let taken = things.extract_if(.., |_| wanted.next() == Some(true)).collect();
        self.count.store(things.len(), Ordering::Release);
        taken
    }
}

impl<Q: Queues, T> Default for Drops<Q, T> {
    fn default() -> Self {
        Drops::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::convert::Infallible;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::{LaneKind, Ledger, Touch};

    /// A device that does nothing.
    struct Nothing;

    impl Queues for Nothing {
        type Stream = ();
        type Event = ();
        type Error = Infallible;

        fn record(&self, (): &()) -> Result<(), Infallible> {
            Ok(())
        }

        fn wait(&self, (): &(), (): &()) -> Result<(), Infallible> {
            Ok(())
        }
    }

    /// The numbers 1 to 5, each behind the use at the position of that number.
    fn five() -> Drops<Nothing, u64> {
        let ledger = Ledger::new();
        let lane = ledger.add_lane((), LaneKind::User);
        let drops = Drops::new();
        for number in 1..=5 {
            let Ok(((), used)) = ledger.submit(&Nothing, &lane, Touch::Memory(&[]), |()| Ok::<(), Infallible>(()));
            drops.put(number, vec![used]);
        }
        drops
    }

    /// The numbers, each of which must still have its own use beside it.
    fn numbers(taken: &[(u64, Vec<Use<Nothing>>)]) -> Vec<u64> {
        for (number, after) in taken {
            assert_eq!(after.iter().map(Use::position).collect::<Vec<_>>(), [*number]);
        }
        taken.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn take_where_takes_what_is_wanted_and_leaves_the_others_both_in_order() {
        let drops = five();
        assert_eq!(numbers(&drops.take_where(|number| number % 2 == 0)), [2, 4]);
        assert_eq!(drops.len(), 3);
        assert!(drops.take_where(|number| number % 2 == 0).is_empty(), "each thing is taken once");
        assert_eq!(numbers(&drops.take()), [1, 3, 5]);
        assert!(drops.take_where(|_| true).is_empty() && drops.is_empty());
    }

    #[test]
    fn take_where_asks_once_about_each_thing_while_all_of_them_are_still_counted() {
        let drops = five();
        let mut asked = Vec::new();
        let taken = drops.take_where(|number| {
            asked.push((*number, drops.len()));
            *number < 5
        });
        assert_eq!(asked, [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]);
        assert_eq!((numbers(&taken), drops.len()), (vec![1, 2, 3, 4], 1));
    }

    #[test]
    fn a_panic_while_take_where_asks_loses_nothing() {
        let drops = five();
        let asking = AssertUnwindSafe(|| drops.take_where(|number| if *number < 3 { true } else { panic!("asked") }));
        assert!(catch_unwind(asking).is_err());
        assert_eq!(drops.len(), 5);
        assert_eq!(numbers(&drops.take()), [1, 2, 3, 4, 5]);
    }
}
