//! A set of memory that is used together, as its owner holds it, and the one word that it shares with the records.
//!
//! The word says at which position of its lane the set's last launch is, and whether the set is clean. A clean launch is one
//! `compare_exchange` from the launch before to this one, and takes no lock of the records. Who looks at the set under the
//! records' lock, to come after that launch on another lane, takes the clean bit away in the same step in which it reads
//! the position ([`Word::disturb`]). So of the two, whichever comes second in the order of that one word knows of the first:
//!
//! - the look comes second: it reads the position of the launch;
//! - the launch comes second: its exchange fails, because the bit is gone, and it goes through the records' lock.
//!
//! Only their order on the word matters, so all its operations are relaxed: what either knows of the other beside the
//! position, it learns under a lock. (An event behind the launch is had under its lane's lock, which the launch holds from
//! before the exchange until the work is on the stream.)

use std::fmt;

use crate::lane::Progress;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::{Lane, Queues, Use};

/// A set of memory in a ledger: what a graph touches. Whoever launches it has it alone, for as long as that takes.
///
/// Dropped without [`Ledger::remove_set`](crate::Ledger::remove_set) it stays in the ledger, as if it were never launched
/// again.
pub struct UseSet<Q: Queues> {
    word: Arc<Word>,
    /// The last launch that was entered.
    last: Option<Use<Q>>,
}

/// The number of a set in the records. Given out again after the set was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetId(pub(crate) u32);

impl<Q: Queues> UseSet<Q> {
    pub(crate) fn new(word: Arc<Word>) -> Self {
        UseSet { word, last: None }
    }

    /// Its last launch, also one that failed: some of that may be on the stream. None before the first.
    #[inline]
    #[must_use]
    pub fn last_use(&self) -> Option<&Use<Q>> {
        self.last.as_ref()
    }

    /// Its number in the records, as long as it is there.
    pub(crate) fn id(&self) -> Option<SetId> {
        (self.word.state.load(Ordering::Relaxed) != REMOVED).then_some(self.word.id)
    }

    /// Whether its last launch is the last work of a lane, whose position is this.
    #[inline]
    pub(crate) fn is_last_on(&self, lane: &Lane<Q>, position: u64) -> bool {
        self.last.as_ref().is_some_and(|last| last.is_at(lane, position))
    }

    /// Its number where it is known to be there, without a question.
    pub(crate) fn number(&self) -> SetId {
        self.word.id
    }

    /// It was taken out of the records, whose lock is still held: nobody looks at its word any more.
    pub(crate) fn removed(&mut self) {
        self.word.state.store(REMOVED, Ordering::Relaxed);
    }

    /// Enters a clean launch at the next position of a lane: on that of the last one, whose position it says, and nobody disturbed
    /// the set since. None, and nothing is changed, if it is not.
    #[inline]
    pub(crate) fn enter_clean(&mut self, lane: &Lane<Q>, progress: &mut Progress<Q>) -> Option<u64> {
        let position = progress.position + 1;
        match &mut self.last {
            Some(last) if last.lane == *lane && self.word.launch_again(last.position, position) => {
                let before = last.position;
                (progress.position, last.position) = (position, position);
                if last.event.is_some() {
                    forget(&mut last.event);
                }
                Some(before)
            }
            _ => None,
        }
    }

    /// A launch was entered under the records' lock.
    pub(crate) fn entered(&mut self, lane: &Lane<Q>, position: u64) {
        self.last = Some(Use { lane: lane.clone(), position, event: None });
    }

    /// The event of the last launch.
    pub(crate) fn note_event(&mut self, event: Option<Q::Event>) {
        if let Some(last) = &mut self.last {
            last.event = event;
        }
    }
}

/// Out of the way of those launches that have no event, because nobody waits for them.
#[cold]
#[inline(never)]
fn forget<E>(event: &mut Option<E>) {
    *event = None;
}

impl<Q: Queues> fmt::Debug for UseSet<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UseSet({:?}, last launch {:?})", self.id(), self.last)
    }
}

/// The position of a set's last launch, and whether the set is clean. Alone in a line of the caches: sets of two threads
/// have nothing to do with each other.
#[repr(align(64))]
pub(crate) struct Word {
    state: AtomicU64,
    id: SetId,
}

/// In the lowest bit of a word; the position is above it.
const CLEAN: u64 = 1;

/// The word of a set that is not in the records any more. The position would be larger than there is time for.
const REMOVED: u64 = !CLEAN;

impl Word {
    /// Of a set that was never launched.
    pub(crate) fn new(id: SetId) -> Arc<Word> {
        Arc::new(Word { state: AtomicU64::new(0), id })
    }

    /// A clean launch at `position`, if the set is clean and its last one was at `last`. By its owner alone.
    #[inline]
    fn launch_again(&self, last: u64, position: u64) -> bool {
        let (last, position) = (last << 1 | CLEAN, position << 1 | CLEAN);
        self.state.compare_exchange(last, position, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// A launch under the records' lock, after which the set is clean. By its owner alone.
    pub(crate) fn launch(&self, position: u64) {
        self.state.store(position << 1 | CLEAN, Ordering::Relaxed);
    }

    /// From here on no launch is clean; where the last one is. Under the records' lock.
    pub(crate) fn disturb(&self) -> u64 {
        self.state.fetch_and(!CLEAN, Ordering::Relaxed) >> 1
    }

    /// Where the last launch is.
    pub(crate) fn position(&self) -> u64 {
        self.state.load(Ordering::Relaxed) >> 1
    }

    /// Whether nobody disturbed the set since its last launch. Under the records' lock this stays so.
    pub(crate) fn is_clean(&self) -> bool {
        self.state.load(Ordering::Relaxed) & CLEAN != 0
    }
}
