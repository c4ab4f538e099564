//! Calls by the signatures that they had in older versions of CUDA. A program that looks for a name without a suffix gets
//! one of these.
//!
//! Most have lost or gained an argument since, and are told in today's words. Those of CUDA 2 and 3 have addresses and sizes of
//! 32 bits: a 64-bit driver has them, and refuses every one of them, because it makes no context that they could be used
//! in. What each answers was observed on an H200 (driver 580.159.04).
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::offset_of;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::{capture, context, graph_exec, graph_node, stream};
use crate::foreign::{get, put, put_optional};
use crate::visit::{Answer, Refusal, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

// Today's parameters of a kernel node begin with all that there were, and have two more.
const _: () = assert!(offset_of!(CUDA_KERNEL_NODE_PARAMS, kern) == size_of::<CUDA_KERNEL_NODE_PARAMS_v1>());

/// Today's words for the parameters of a kernel node.
unsafe fn kernel_params(params: *const CUDA_KERNEL_NODE_PARAMS_v1) -> Result<CUDA_KERNEL_NODE_PARAMS, CUresult> {
    let mut now = CUDA_KERNEL_NODE_PARAMS::default();
    // SAFETY: an in pointer of the call that passes it on, and a local that begins with such a struct.
    unsafe { (&raw mut now).cast::<CUDA_KERNEL_NODE_PARAMS_v1>().write(get(params)?) };
    Ok(now)
}

pub(crate) unsafe fn add_kernel(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    params: *const CUDA_KERNEL_NODE_PARAMS_v1,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe {
        let params = kernel_params(params)?;
        graph_node::add_kernel(v, out, graph, dependencies, count, &raw const params)
    }
}

pub(crate) unsafe fn kernel_get_params(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    out: *mut CUDA_KERNEL_NODE_PARAMS_v1,
) -> Answer {
    let mut now = CUDA_KERNEL_NODE_PARAMS::default();
    // SAFETY: the arguments of this call, and a local.
    unsafe { graph_node::kernel_get_params(v, node, &raw mut now) }?;
    // SAFETY: an out pointer of this call, and a local that begins with such a struct.
    unsafe { put(out, (&raw const now).cast::<CUDA_KERNEL_NODE_PARAMS_v1>().read()) }
}

pub(crate) unsafe fn kernel_set_params(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    params: *const CUDA_KERNEL_NODE_PARAMS_v1,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe {
        let params = kernel_params(params)?;
        graph_node::kernel_set_params(v, node, &raw const params)
    }
}

pub(crate) unsafe fn exec_kernel_set_params(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: *const CUDA_KERNEL_NODE_PARAMS_v1,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe {
        let params = kernel_params(params)?;
        graph_exec::kernel_set_params(v, exec, node, &raw const params)
    }
}

/// The node in the way and a reason, each in a place of its own; either may be null.
pub(crate) unsafe fn exec_update(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    graph: CUgraph,
    node_out: *mut CUgraphNode,
    result_out: *mut CUgraphExecUpdateResult,
) -> Answer {
    let mut info = CUgraphExecUpdateResultInfo::default();
    // SAFETY: the arguments of this call, and a local.
    let answer = unsafe { graph_exec::update(v, exec, graph, &raw mut info) };
    // A shape that differs at no node in particular has no words of its own here, as observed.
    if info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED && info.errorNode.is_null() {
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
    if matches!(answer, Ok(()) | Err(CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)) {
        // SAFETY: out pointers of this call, which may be null.
        unsafe {
            put_optional(node_out, info.errorNode);
            put_optional(result_out, info.result);
        }
    }
    answer
}

/// The node in the way, and a text about it that is always empty, as observed.
pub(crate) unsafe fn instantiate(
    v: &mut Visit<'_>,
    out: *mut CUgraphExec,
    graph: CUgraph,
    node_out: *mut CUgraphNode,
    log: *mut c_char,
    log_size: usize,
) -> Answer {
    let mut params = CUDA_GRAPH_INSTANTIATE_PARAMS::default();
    // SAFETY: the arguments of this call, and a local.
    let answer = unsafe { graph_exec::instantiate_with_params(v, out, graph, &raw mut params) };
    // SAFETY: an out pointer, and a buffer of that many bytes; either may be null.
    unsafe {
        put_optional(node_out, params.hErrNode_out);
        if log_size > 0 {
            put_optional(log, 0);
        }
    }
    answer
}

/// In the mode that was the only one.
pub(crate) unsafe fn begin_capture(v: &mut Visit<'_>, stream: CUstream) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { capture::begin(v, stream, CU_STREAM_CAPTURE_MODE_GLOBAL) }
}

pub(crate) unsafe fn get_capture_info(
    v: &mut Visit<'_>,
    stream: CUstream,
    status: *mut CUstreamCaptureStatus,
    id: *mut u64,
) -> Answer {
    let none = std::ptr::null_mut();
    // SAFETY: the arguments of this call; what it does not ask for may be null.
    unsafe { capture::get_info(v, stream, status, id, none, none.cast(), none.cast(), none.cast()) }
}

/// The first versions of waits and writes need a driver that was loaded with a switch that is off: NOT_SUPPORTED, also on an
/// H200. A capture is told so in its own way.
fn values_are_off(v: &mut Visit<'_>, handle: CUstream) -> Answer {
    let stream = v.stream(handle)?;
    v.refuse_if_capturing(stream)?;
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

pub(crate) unsafe fn value_32(v: &mut Visit<'_>, stream: CUstream, _: CUdeviceptr, _: u32, _: c_uint) -> Answer {
    values_are_off(v, stream)
}

pub(crate) unsafe fn value_64(v: &mut Visit<'_>, stream: CUstream, _: CUdeviceptr, _: u64, _: c_uint) -> Answer {
    values_are_off(v, stream)
}

pub(crate) unsafe fn batch(
    v: &mut Visit<'_>,
    stream: CUstream,
    _: c_uint,
    _: *mut CUstreamBatchMemOpParams,
    _: c_uint,
) -> Answer {
    values_are_off(v, stream)
}

/// A stream of no green context: there are none.
pub(crate) unsafe fn stream_get_ctx_v2(
    v: &mut Visit<'_>,
    handle: CUstream,
    out: *mut CUcontext,
    green: *mut CUgreenCtx,
) -> Answer {
    let mut context = CUcontext::NULL;
    // SAFETY: the arguments of this call, and a local.
    unsafe { stream::get_ctx(v, handle, &raw mut context) }?;
    // SAFETY: out pointers of this call, which may be null.
    unsafe {
        put_optional(out, context);
        put_optional(green, CUgreenCtx::NULL);
    }
    Ok(())
}

/// A context that gives a share of the multiprocessors: only without one.
pub(crate) unsafe fn create_v3(
    v: &mut Visit<'_>,
    out: *mut CUcontext,
    params: *mut CUexecAffinityParam,
    count: c_int,
    flags: c_uint,
    dev: CUdevice,
) -> Answer {
    v.check_fault_of(dev)?;
    if count > 0 {
        // Nobody has a share to give without MPS, as observed.
        return Err(if params.is_null() { INVALID } else { CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY });
    }
    // SAFETY: the arguments of this call.
    unsafe { context::create(v, out, flags, dev) }
}

/// Bytes of the device, as far as 32 bits go.
pub(crate) unsafe fn total_mem(v: &mut Visit<'_>, out: *mut c_uint, dev: CUdevice) -> Answer {
    let mut bytes = 0;
    // SAFETY: the arguments of this call, and a local.
    unsafe { super::device::total_mem(v, &raw mut bytes, dev) }?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, c_uint::try_from(bytes).unwrap_or(c_uint::MAX)) }
}

/// A context of 32-bit addresses: a 64-bit driver has no memory for one.
pub(crate) unsafe fn create_v1(v: &mut Visit<'_>, _: *mut CUcontext, _: c_uint, dev: CUdevice) -> Answer {
    v.check_fault_of(dev)?;
    v.device(dev)?;
    Err(narrow(v, CUresult::CUDA_ERROR_OUT_OF_MEMORY))
}

/// Refuses a call with 32-bit addresses, and says which symbol the program wants.
fn narrow(v: &mut Visit<'_>, code: CUresult) -> CUresult {
    let (symbol, newer) = (v.call.symbol(), newer(v.call));
    let what =
        format!("`{symbol}` is the call of CUDA 2 and 3, with addresses and sizes of 32 bits; today's is `{newer}`");
    let help = "call that one: cuda.h means it by the plain name, and cuGetProcAddress gives it from version 3020 on";
    v.refuse(Refusal::new(code, "narrow-call", what, help))
}

/// The symbol that followed this one.
fn newer(call: dacapo_driver::Call) -> &'static str {
    let same = dacapo_driver::Call::ALL.iter().filter(|other| other.name() == call.name() && **other != call);
    same.min_by_key(|other| other.since()).map_or("its newer version", |other| other.symbol())
}

/// Calls with 32-bit addresses: what each has in common, with its outputs, which are set to zero as observed.
macro_rules! narrow_calls {
    ($($name:ident($($arg:ident: $ty:ty),*) $(zeroes $($out:ident),*)?;)*) => { $(
        #[allow(clippy::too_many_arguments, reason = "C's signature")]
        #[allow(unused_variables, reason = "an argument of 32 bits is not looked at")]
        pub(crate) unsafe fn $name(v: &mut Visit<'_>, $($arg: $ty),*) -> Answer {
            // SAFETY: out pointers of this call, which may be null; every such type may be zero.
            $(unsafe { $(put_optional($out, std::mem::zeroed());)* })?
            Err(narrow(v, CUresult::CUDA_ERROR_INVALID_CONTEXT))
        }
    )* };
}

narrow_calls! {
    alloc(out: *mut CUdeviceptr_v1, size: c_uint) zeroes out;
    alloc_host(out: *mut *mut c_void, size: c_uint) zeroes out;
    alloc_pitch(out: *mut CUdeviceptr_v1, pitch: *mut c_uint, width: c_uint, height: c_uint, element: c_uint) zeroes out, pitch;
    free(address: CUdeviceptr_v1);
    get_address_range(base: *mut CUdeviceptr_v1, size: *mut c_uint, address: CUdeviceptr_v1) zeroes base, size;
    get_info(free: *mut c_uint, total: *mut c_uint) zeroes free, total;
    host_get_device_pointer(out: *mut CUdeviceptr_v1, host: *mut c_void, flags: c_uint) zeroes out;
    get_global(out: *mut CUdeviceptr_v1, bytes: *mut c_uint, module: CUmodule, name: *const c_char) zeroes out, bytes;
    copy_2d(copy: *const CUDA_MEMCPY2D_v1);
    copy_2d_async(copy: *const CUDA_MEMCPY2D_v1, stream: CUstream);
    copy_3d(copy: *const CUDA_MEMCPY3D_v1);
    copy_3d_async(copy: *const CUDA_MEMCPY3D_v1, stream: CUstream);
    device_to_device(target: CUdeviceptr_v1, source: CUdeviceptr_v1, bytes: c_uint);
    device_to_device_async(target: CUdeviceptr_v1, source: CUdeviceptr_v1, bytes: c_uint, stream: CUstream);
    device_to_host(target: *mut c_void, source: CUdeviceptr_v1, bytes: c_uint);
    device_to_host_async(target: *mut c_void, source: CUdeviceptr_v1, bytes: c_uint, stream: CUstream);
    host_to_device(target: CUdeviceptr_v1, source: *const c_void, bytes: c_uint);
    host_to_device_async(target: CUdeviceptr_v1, source: *const c_void, bytes: c_uint, stream: CUstream);
    set_8(target: CUdeviceptr_v1, value: u8, count: c_uint);
    set_16(target: CUdeviceptr_v1, value: u16, count: c_uint);
    set_32(target: CUdeviceptr_v1, value: c_uint, count: c_uint);
    set_2d_8(target: CUdeviceptr_v1, pitch: c_uint, value: u8, width: c_uint, height: c_uint);
    set_2d_16(target: CUdeviceptr_v1, pitch: c_uint, value: u16, width: c_uint, height: c_uint);
    set_2d_32(target: CUdeviceptr_v1, pitch: c_uint, value: c_uint, width: c_uint, height: c_uint);
}
