//! How many blocks fit a multiprocessor: a model of the documented limits, not of the scheduler.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_int, c_uint};

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
    // `.maxntid` does not count here, as observed; the registers below do.
    if threads == 0 || threads > h200::BLOCK_MAX[0] {
        return 0;
    }
    let info = function.image.program().info(function.kernel);
    // More than the function may ask for fits nowhere.
    if shared > function.max_dynamic_shared.load(std::sync::atomic::Ordering::Relaxed) {
        return 0;
    }
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

/// The flags only say how caches are used, of which nothing is modelled.
fn check_flags(flags: c_uint) -> Answer {
    match flags {
        // CU_OCCUPANCY_DEFAULT and CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE.
        0 | 1 => Ok(()),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

pub(crate) unsafe fn max_active_blocks_with_flags(
    v: &mut Visit<'_>,
    out: *mut c_int,
    function: CUfunction,
    block: c_int,
    shared: usize,
    flags: c_uint,
) -> Answer {
    check_flags(flags)?;
    // SAFETY: the arguments of this call, whose page demands the same of them.
    unsafe { max_active_blocks(v, out, function, block, shared) }
}

/// Dynamic bytes that each of `blocks` blocks on one multiprocessor may have: an even share, as far as the function may ask.
/// What the system takes for a block is not subtracted, as observed.
pub(crate) unsafe fn available_shared(
    v: &mut Visit<'_>,
    out: *mut usize,
    function: CUfunction,
    blocks: c_int,
    threads: c_int,
) -> Answer {
    let function = function::named(v, function)?;
    let statics = function.image.program().info(function.kernel).static_shared;
    let (Ok(blocks @ 1..), Ok(threads @ 1..)) = (u32::try_from(blocks), u32::try_from(threads)) else {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    };
    // More blocks than fit without any shared memory.
    if blocks > blocks_per_sm(&function, threads, 0) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let share = h200::SHARED_PER_SM / blocks;
    let most = function.max_dynamic_shared.load(std::sync::atomic::Ordering::Relaxed);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, share.saturating_sub(statics).min(most) as usize) }
}

pub(crate) unsafe fn potential_block(
    v: &mut Visit<'_>,
    grid_out: *mut c_int,
    block_out: *mut c_int,
    function: CUfunction,
    shared_of: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
) -> Answer {
    let function = function::named(v, function)?;
    let most = function.max_threads();
    let limit = match u32::try_from(limit) {
        Err(_) => return Err(v.unsupported(format!("a block size limit of {limit}"))),
        Ok(0) => most,
        Ok(limit) => limit.min(most),
    };
    // From the largest block down in whole warps: the first that fills a multiprocessor best.
    let (mut best, mut best_threads) = ((0, 0), 0);
    let sizes = std::iter::once(limit).chain((1..=limit.saturating_sub(1) / 32).rev().map(|warps| warps * 32));
    for threads in sizes {
        let bytes = match shared_of {
            // SAFETY: the program's function, which its caller vouches for. It runs without the lock.
            Some(shared_of) => v.unlocked(|| unsafe { shared_of(threads as c_int) }),
            None => shared,
        };
        let blocks = blocks_per_sm(&function, threads, u32::try_from(bytes).unwrap_or(u32::MAX));
        if blocks * threads > best_threads {
            (best, best_threads) = ((blocks, threads), blocks * threads);
        }
    }
    let multiprocessors = h200::attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap_or(0);
    // SAFETY: out pointers of this call.
    unsafe {
        put(grid_out, best.0 as c_int * multiprocessors)?;
        put(block_out, best.1 as c_int)
    }
}

#[expect(clippy::too_many_arguments, reason = "C's signature")]
pub(crate) unsafe fn potential_block_with_flags(
    v: &mut Visit<'_>,
    grid_out: *mut c_int,
    block_out: *mut c_int,
    function: CUfunction,
    shared_of: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
    flags: c_uint,
) -> Answer {
    check_flags(flags)?;
    // SAFETY: the arguments of this call, whose page demands the same of them.
    unsafe { potential_block(v, grid_out, block_out, function, shared_of, shared, limit) }
}
