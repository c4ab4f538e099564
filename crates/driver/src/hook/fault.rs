//! Makes calls fail: the n-th call of a kind answers a given code, and the driver below does not hear of it.
//!
//! - A rule fires once, at the n-th call of its kind that reaches this hook, counted from 1; other rules' failures count too.
//! - If several rules meet in one call, the first given decides the code; all of them count as fired.
//! - The arguments are not touched: what the caller's out pointers hold is what they held before.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Argument, Hook};
use crate::{CUresult, Call, Family};

/// Which calls a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// Calls of one entry point.
    Call(Call),
    /// Calls of one chapter of the driver API.
    Family(Family),
    /// Every call.
    Any,
}

impl Which {
    fn covers(self, call: Call) -> bool {
        match self {
            Which::Call(only) => only == call,
            Which::Family(family) => family == call.family(),
            Which::Any => true,
        }
    }
}

impl From<Call> for Which {
    fn from(call: Call) -> Self {
        Which::Call(call)
    }
}

impl From<Family> for Which {
    fn from(family: Family) -> Self {
        Which::Family(family)
    }
}

/// One rule: the `nth` call of `which` answers `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Which calls are counted.
    pub which: Which,
    /// Which of them fails, from 1; 0 never fires.
    pub nth: u64,
    /// What it answers.
    pub code: CUresult,
}

/// A hook that makes calls fail by rules.
#[derive(Debug, Default)]
pub struct Fault {
    rules: Vec<(Rule, AtomicU64)>,
}

impl Fault {
    /// No rules: every call goes through.
    pub fn new() -> Fault {
        Fault::default()
    }

    /// Adds a rule: the `nth` call (from 1) of `which` answers `code`.
    #[must_use]
    pub fn fail(mut self, which: impl Into<Which>, nth: u64, code: CUresult) -> Fault {
        self.rules.push((Rule { which: which.into(), nth, code }, AtomicU64::new(0)));
        self
    }

    /// Every rule in the order given, and whether it fired.
    pub fn fired(&self) -> Vec<(Rule, bool)> {
        self.rules
            .iter()
            .map(|(rule, seen)| (*rule, rule.nth != 0 && seen.load(Ordering::Relaxed) >= rule.nth))
            .collect()
    }

    /// Whether every rule fired. A test that injects faults asks this, so that it cannot pass by missing them.
    pub fn all_fired(&self) -> bool {
        self.fired().iter().all(|&(_, fired)| fired)
    }
}

impl Hook for Fault {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let mut code = None;
        for (rule, seen) in &self.rules {
            // Counted in every rule, also after one has struck: each rule's n is independent of the others.
            if rule.which.covers(call) && seen.fetch_add(1, Ordering::Relaxed) + 1 == rule.nth {
                code = code.or(Some(rule.code));
            }
        }
        code.unwrap_or_else(run)
    }
}
