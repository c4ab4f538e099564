//! The hook that strikes one call, or takes away all memory from one on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dacapo_driver::{Argument, CUresult, Call, Effect, Hook, Lawful, lawful};
use dacapo_sim::Machine;

/// Calls that give memory: where one finds none, the error says how much was wanted and how much is free.
pub const TAKES_MEMORY: [Call; 5] = [
    Call::cuMemAllocAsync,
    Call::cuMemHostAlloc,
    Call::cuMemAddressReserve,
    Call::cuMemCreate,
    Call::cuGraphInstantiateWithFlags,
];

/// What is made to fail.
#[derive(Clone, Copy)]
pub(super) enum Aim {
    /// This call, counted from 0, with this of its lawful faults.
    One(u64, usize),
    /// From this call on, every call that gives memory: there is none.
    Starve(u64),
}

impl Aim {
    fn fault(self, number: u64, call: Call) -> Option<Lawful> {
        match self {
            Aim::One(nth, which) if number == nth => lawful(call).get(which).copied(),
            Aim::Starve(nth) if number >= nth && TAKES_MEMORY.contains(&call) => lawful(call)
                .iter()
                .find(|fault| fault.code == CUresult::CUDA_ERROR_OUT_OF_MEMORY && fault.effect == Effect::NotDone)
                .copied(),
            _ => None,
        }
    }
}

/// Counts calls while it is armed, and makes some of them fail.
#[derive(Default)]
pub(super) struct Injector {
    machine: OnceLock<Arc<Machine>>,
    armed: AtomicBool,
    seen: AtomicU64,
    aim: Mutex<Option<Aim>>,
    struck: Mutex<Option<(Call, Lawful)>>,
    calls: Mutex<Vec<Call>>,
}

impl Injector {
    /// The machine to be broken.
    pub(super) fn over(&self, machine: &Machine) {
        self.machine.get_or_init(|| Arc::new(machine.clone()));
    }

    /// Counts from here on, and strikes if it has an aim.
    pub(super) fn arm(&self, aim: Option<Aim>) {
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

    /// The first call that failed, and how.
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
        let Some(aim) = aim else {
            self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
            return run();
        };
        let Some(fault) = aim.fault(number, call) else { return run() };
        let below = self.machine.get().map(|machine| &**machine as &dyn dacapo_driver::Breakable);
        match fault.produce(call, arguments, below, run) {
            Some(code) => {
                self.struck.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((call, fault));
                code
            }
            None => run(),
        }
    }
}

/// The same for whoever runs several ranks: one call, with one of its lawful faults.
#[derive(Default)]
pub struct Injected(Arc<Injector>);

impl Injected {
    /// The machine to be broken.
    pub fn over(&self, machine: &Machine) {
        self.0.over(machine);
    }

    /// What goes around a driver.
    pub fn hook(&self) -> Arc<dyn Hook> {
        self.0.clone()
    }

    /// Counts from here on; strikes this call, from 0, with this of its lawful faults.
    pub fn arm(&self, aim: Option<(u64, usize)>) {
        self.0.arm(aim.map(|(nth, which)| Aim::One(nth, which)));
    }

    /// Lets every call through again.
    pub fn disarm(&self) {
        self.0.disarm();
    }

    /// The calls that were seen, where nothing was to be struck.
    pub fn calls(&self) -> Vec<Call> {
        self.0.calls()
    }

    /// Whether a call has failed.
    pub fn has_struck(&self) -> bool {
        self.0.struck().is_some()
    }
}
