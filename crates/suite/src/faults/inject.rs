//! The hook that strikes one call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dacapo_driver::{Argument, CUresult, Call, Hook, Lawful, lawful};
use dacapo_sim::Machine;

/// Counts calls while it is armed, and makes one of them fail.
#[derive(Default)]
pub(super) struct Injector {
    machine: OnceLock<Arc<Machine>>,
    armed: AtomicBool,
    seen: AtomicU64,
    /// Which call, from 0, and which of its lawful faults.
    aim: Mutex<Option<(u64, usize)>>,
    struck: Mutex<Option<(Call, Lawful)>>,
    calls: Mutex<Vec<Call>>,
}

impl Injector {
    /// The machine to be broken.
    pub(super) fn over(&self, machine: &Machine) {
        self.machine.get_or_init(|| Arc::new(machine.clone()));
    }

    /// Counts from here on, and strikes if it has an aim.
    pub(super) fn arm(&self, aim: Option<(u64, usize)>) {
        *self.aim.lock().unwrap_or_else(PoisonError::into_inner) = aim;
        self.armed.store(true, Ordering::SeqCst);
    }

    /// Lets every call through again.
    pub(super) fn disarm(&self) {
        self.armed.store(false, Ordering::SeqCst);
    }

    /// The calls that were seen.
    pub(super) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The call that failed, and how.
    pub(super) fn struck(&self) -> Option<(Call, Lawful)> {
        *self.struck.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hook for Injector {
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        if !self.armed.load(Ordering::SeqCst) {
            return run();
        }
        let number = self.seen.fetch_add(1, Ordering::SeqCst);
        let aim = *self.aim.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((nth, which)) = aim else {
            self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
            return run();
        };
        if number != nth {
            return run();
        }
        let Some(&fault) = lawful(call).get(which) else { return run() };
        let below = self.machine.get().map(|machine| &**machine as &dyn dacapo_driver::Breakable);
        match fault.produce(call, arguments, below, run) {
            Some(code) => {
                *self.struck.lock().unwrap_or_else(PoisonError::into_inner) = Some((call, fault));
                code
            }
            None => run(),
        }
    }
}
