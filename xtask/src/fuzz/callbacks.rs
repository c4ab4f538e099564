//! The program's side: functions that the driver calls.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::Machine;

/// The machine that is fuzzed now: a function that is called back asks it something.
static MACHINE: Mutex<Option<Machine>> = Mutex::new(None);

/// Callbacks ask this machine from now on.
pub(super) fn ask(machine: Option<Machine>) {
    *MACHINE.lock().unwrap_or_else(PoisonError::into_inner) = machine;
}

fn question() {
    let machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(machine) = machine {
        let mut count = 0;
        // SAFETY: a valid out pointer, and a call that takes the null stream.
        unsafe {
            machine.cuDeviceGetCount(&mut count);
            machine.cuStreamQuery(CUstream::NULL);
        }
    }
}

pub(super) unsafe extern "C" fn nothing(_: *mut c_void) {}

pub(super) unsafe extern "C" fn asks(_: *mut c_void) {
    question();
}

pub(super) unsafe extern "C" fn notes(_: CUstream, _: CUresult, _: *mut c_void) {
    question();
}

pub(super) unsafe extern "C" fn no_bytes(_: i32) -> usize {
    0
}

pub(super) unsafe extern "C" fn some_bytes(block: i32) -> usize {
    question();
    (block.max(0) as usize) * 4
}

pub(super) unsafe extern "C" fn all_bytes(_: i32) -> usize {
    usize::MAX
}
