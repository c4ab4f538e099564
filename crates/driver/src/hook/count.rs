//! Counts calls: how many, how many failed, how long they took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Argument, Hook};
use crate::{CUresult, Call};

/// A hook that counts calls and their times. Threads count into the same numbers without waiting for each other.
#[derive(Debug)]
pub struct Count {
    cells: Box<[Counted]>,
}

#[derive(Debug, Default)]
struct Counted {
    calls: AtomicU64,
    failed: AtomicU64,
    total_ns: AtomicU64,
    longest_ns: AtomicU64,
}

/// What was counted of one entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallCount {
    /// The entry point.
    pub call: Call,
    /// How often it returned.
    pub calls: u64,
    /// How often it answered something else than success.
    pub failed: u64,
    /// The time of all of them together.
    pub total: Duration,
    /// The time of the longest.
    pub longest: Duration,
}

impl Count {
    /// Nothing counted yet.
    pub fn new() -> Count {
        Count { cells: Call::ALL.iter().map(|_| Counted::default()).collect() }
    }

    /// What was counted so far, in the table's order; entry points never called are left out.
    ///
    /// A call that returns during the snapshot may be in some of its numbers and not in others.
    pub fn snapshot(&self) -> Vec<CallCount> {
        Call::ALL.iter().map(|&call| self.of(call)).filter(|count| count.calls > 0).collect()
    }

    /// What was counted so far of one entry point.
    pub fn of(&self, call: Call) -> CallCount {
        let cell = &self.cells[call as usize];
        CallCount {
            call,
            calls: cell.calls.load(Ordering::Relaxed),
            failed: cell.failed.load(Ordering::Relaxed),
            total: Duration::from_nanos(cell.total_ns.load(Ordering::Relaxed)),
            longest: Duration::from_nanos(cell.longest_ns.load(Ordering::Relaxed)),
        }
    }
}

impl Default for Count {
    fn default() -> Self {
        Self::new()
    }
}

impl Hook for Count {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let start = Instant::now();
        let result = run();
        let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let cell = &self.cells[call as usize];
        cell.calls.fetch_add(1, Ordering::Relaxed);
        cell.failed.fetch_add(u64::from(!result.is_success()), Ordering::Relaxed);
        cell.total_ns.fetch_add(ns, Ordering::Relaxed);
        cell.longest_ns.fetch_max(ns, Ordering::Relaxed);
        result
    }
}
