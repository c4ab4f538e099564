//! Real threads of which one runs at a time, in an order that a seed decides.
//!
//! A thread hands the baton on at the steps of the device and where it finds a lock of the ledger taken; in between it
//! runs alone. So a seed reproduces a run. Threads that only find locks taken, over and over, are a deadlock.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;

use crate::dice::Dice;

/// After so many turns in which every thread found a lock taken, nobody will ever get one.
const STUCK: u32 = 2_000;

/// Thrown through a thread that can never go on.
pub struct Deadlock;

pub struct Baton {
    turn: AtomicUsize,
    threads: Vec<OnceLock<Thread>>,
    inner: Mutex<Inner>,
}

/// Touched only by the thread whose turn it is.
struct Inner {
    alive: Vec<bool>,
    dice: Dice,
    stuck: u32,
}

thread_local! {
    static MINE: RefCell<Option<(Arc<Baton>, usize)>> = const { RefCell::new(None) };
}

impl Baton {
    pub fn new(threads: usize, seed: u64) -> Arc<Self> {
        let inner = Inner { alive: vec![true; threads], dice: Dice::new(seed, 99), stuck: 0 };
        let threads = (0..threads).map(|_| OnceLock::new()).collect();
        Arc::new(Baton { turn: AtomicUsize::new(0), threads, inner: Mutex::new(inner) })
    }

    /// Joins this thread, and waits for its first turn.
    pub fn join(self: &Arc<Self>, me: usize) {
        MINE.set(Some((Arc::clone(self), me)));
        dacapo_ledger::when_locked(Some(locked));
        // A turn that comes before this line is seen by the look at it, a later one wakes.
        self.threads[me].set(std::thread::current()).expect("a thread joins once");
        self.wait(me);
    }

    /// This thread is done: somebody else goes on.
    pub fn leave(&self, me: usize) {
        dacapo_ledger::when_locked(None);
        MINE.set(None);
        let next = {
            let mut inner = self.inner.lock().unwrap();
            inner.alive[me] = false;
            inner.stuck = 0;
            choose(&mut inner, me)
        };
        if let Some(next) = next {
            self.give(next);
        }
    }

    fn give(&self, next: usize) {
        self.turn.store(next, Ordering::SeqCst);
        if let Some(thread) = self.threads[next].get() {
            thread.unpark();
        }
    }

    fn wait(&self, me: usize) {
        while self.turn.load(Ordering::SeqCst) != me {
            std::thread::park();
        }
    }
}

/// Another living thread than `me`.
fn choose(inner: &mut Inner, me: usize) -> Option<usize> {
    let others: Vec<usize> = (0..inner.alive.len()).filter(|other| *other != me && inner.alive[*other]).collect();
    if others.is_empty() { None } else { Some(others[inner.dice.below(others.len())]) }
}

fn mine() -> Option<(Arc<Baton>, usize)> {
    MINE.with_borrow(Clone::clone)
}

/// A place where another thread may go on. Without a baton, threads run as they like, with a yield now and then.
pub fn step() {
    let Some((baton, me)) = mine() else {
        std::thread::yield_now();
        return;
    };
    let next = {
        let mut inner = baton.inner.lock().unwrap();
        inner.stuck = 0;
        if inner.dice.percent(35) { choose(&mut inner, me) } else { None }
    };
    if let Some(next) = next {
        baton.give(next);
        baton.wait(me);
    }
}

/// A lock was found taken.
fn locked() {
    let Some((baton, me)) = mine() else { return };
    let next = {
        let mut inner = baton.inner.lock().unwrap();
        inner.stuck += 1;
        if inner.stuck < STUCK { choose(&mut inner, me) } else { None }
    };
    let Some(next) = next else { std::panic::resume_unwind(Box::new(Deadlock)) };
    baton.give(next);
    baton.wait(me);
}
