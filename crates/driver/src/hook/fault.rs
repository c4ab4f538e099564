//! Makes calls fail: the n-th call of a kind answers a given code, and what it says of the state after is true.
//!
//! - A rule fires once, at the n-th call of its kind that reaches this hook, counted from 1; other rules' failures count too.
//! - What a rule does is an [`Effect`]: *not done* answers without calling the driver below; *done* calls it and answers
//!   otherwise; *capture invalidated* and *context lost* need a driver that can be broken ([`Breakable`]), and then what
//!   the driver itself answers in that state is the answer.
//! - If several rules meet in one call, the first given decides; all of them count as fired.
//! - Where the driver below is not called, what the caller's out pointers hold is what they held before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Argument, Hook};
use crate::lawful::{Effect, Lawful, Source};
use crate::{CUresult, Call, Family, OnCapturing};

/// Which calls a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// One entry point.
    Call(Call),
    /// All of a family.
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

/// A driver whose state a test can break from outside, as a GPU or another library would.
pub trait Breakable: Send + Sync {
    /// A fault breaks the context: from here on calls answer as they do after a real one.
    fn lose_context(&self, code: CUresult);

    /// The capture that the stream with this handle is in is invalidated. Says whether there was one that was good.
    fn invalidate_capture(&self, stream: u64) -> bool;
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
    /// What has happened then.
    pub effect: Effect,
}

/// A hook that makes calls fail by rules.
#[derive(Default)]
pub struct Fault {
    rules: Vec<(Rule, AtomicU64)>,
    below: Option<Arc<dyn Breakable>>,
}

impl Fault {
    /// No rules: every call goes through.
    pub fn new() -> Fault {
        Fault::default()
    }

    /// The driver that rules break, for effects that are more than an answer.
    #[must_use]
    pub fn over(mut self, below: Arc<dyn Breakable>) -> Fault {
        self.below = Some(below);
        self
    }

    /// Adds a rule: the `nth` call (from 1) of `which` is not made, and answers `code`.
    #[must_use]
    pub fn fail(self, which: impl Into<Which>, nth: u64, code: CUresult) -> Fault {
        self.strike(which, nth, code, Effect::NotDone)
    }

    /// Adds a rule: the `nth` call (from 1) of `which` answers `code`, with this effect.
    #[must_use]
    pub fn strike(mut self, which: impl Into<Which>, nth: u64, code: CUresult, effect: Effect) -> Fault {
        self.rules.push((Rule { which: which.into(), nth, code, effect }, AtomicU64::new(0)));
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

impl std::fmt::Debug for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fault").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl Hook for Fault {
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let mut struck = None;
        for (rule, seen) in &self.rules {
            // Counted in every rule, also after one has struck: each rule's n is independent of the others.
            if rule.which.covers(call) && seen.fetch_add(1, Ordering::Relaxed) + 1 == rule.nth {
                struck = struck.or(Some(Lawful { code: rule.code, effect: rule.effect, source: Source::Prudence }));
            }
        }
        let answer = struck.and_then(|fault| fault.produce(call, arguments, self.below.as_deref(), run));
        answer.unwrap_or_else(run)
    }
}

impl Lawful {
    /// Has this fault happen at a call, truthfully: what the answer says of the state of the driver below is so.
    ///
    /// None, with nothing done, where it cannot happen: no capture to invalidate, or no driver that can be broken.
    pub fn produce(
        &self,
        call: Call,
        arguments: &[Argument],
        below: Option<&dyn Breakable>,
        run: &mut dyn FnMut() -> CUresult,
    ) -> Option<CUresult> {
        match self.effect {
            Effect::NotDone => Some(self.code),
            Effect::Done => {
                let answer = run();
                // Refused by itself: then that is the truth.
                Some(if answer.is_success() { self.code } else { answer })
            }
            Effect::ContextLost => {
                below?.lose_context(self.code);
                // The driver answers for itself: with the code, or not if the call is one that does not look.
                Some(run())
            }
            Effect::CaptureInvalidated => {
                let stream = arguments.iter().find(|argument| argument.type_name == "CUstream")?;
                if !below?.invalidate_capture(stream.bits) {
                    return None;
                }
                let ends = call == Call::cuStreamEndCapture;
                let tells = self.code.is_success() || self.code == CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
                if !ends && !tells {
                    debug_assert_eq!(call.on_capturing_stream(), OnCapturing::Recorded);
                    return Some(self.code);
                }
                let answer = run();
                Some(if tells { answer } else { self.code })
            }
        }
    }
}
