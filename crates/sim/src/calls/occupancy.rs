//! How many blocks fit a multiprocessor: a model of the documented limits, not of the scheduler.
#![allow(clippy::missing_safety_doc)] // stated once, in calls/mod.rs

use std::ffi::c_int;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::function;
use crate::foreign::put;
use crate::h200;
use crate::model::objects::Function;
use crate::visit::{Answer, Visit};

/// Blocks of `threads` threads and `shared` dynamic bytes that a multiprocessor can hold at once: bounded by
/// blocks, threads, registers (allotted by warp in steps of 256) and shared memory (with what the system takes).
pub(crate) fn blocks_per_sm(function: &Function, threads: u32, shared: u32) -> u32 {
    if threads == 0 || threads > function.max_threads() {
        return 0;
    }
    let info = function.image.program().info(function.kernel);
    let warps = threads.div_ceil(32);
    let by_threads = h200::THREADS_PER_SM / (warps * 32);
    let by_registers = h200::REGISTERS / ((info.registers.max(16) * 32).next_multiple_of(256) * warps);
    let bytes = u64::from(info.static_shared) + u64::from(shared) + u64::from(h200::SHARED_RESERVED);
    let by_shared = (u64::from(h200::SHARED_PER_SM) / bytes.next_multiple_of(128)) as u32;
    h200::BLOCKS_PER_SM.min(by_threads).min(by_registers).min(by_shared)
}

pub(crate) unsafe fn max_active_blocks(
    v: &mut Visit<'_>,
    out: *mut c_int,
    function: CUfunction,
    block: c_int,
    shared: usize,
) -> Answer {
    let function = function::named(v, function)?;
    if block <= 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let shared = u32::try_from(shared).unwrap_or(u32::MAX);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, blocks_per_sm(&function, block as u32, shared) as c_int) }
}
