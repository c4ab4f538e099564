//! Functions of modules: their names, parameters and attributes.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_char, c_int};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::jit::SM;
use crate::foreign::{put, put_optional};
use crate::model::objects::Function;
use crate::model::table::Lookup;
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;

/// The function behind a handle. A kernel handle of a library is accepted too, as by the driver.
pub(crate) fn named(v: &mut Visit<'_>, handle: CUfunction) -> Result<Arc<Function>, CUresult> {
    if let Some(function) = super::library::function_behind(v, handle) {
        return function;
    }
    match v.functions.look_up(handle.bits()) {
        Lookup::Live(key) => v.functions.get(key).cloned().ok_or(INVALID_HANDLE),
        Lookup::Stale => {
            v.find_stale("function", "the unloading of its module");
            Err(INVALID_HANDLE)
        }
        Lookup::Foreign => Err(INVALID_HANDLE),
    }
}

pub(crate) unsafe fn get_name(v: &mut Visit<'_>, out: *mut *const c_char, function: CUfunction) -> Answer {
    // Null is another mistake here than where a function is used, as observed.
    if function.is_null() {
        return Err(INVALID);
    }
    let function = named(v, function)?;
    // The name lives as long as the function does.
    // SAFETY: an out pointer of this call.
    unsafe { put(out, function.name.as_ptr()) }
}

pub(crate) unsafe fn kernel_get_name(v: &mut Visit<'_>, out: *mut *const c_char, kernel: CUkernel) -> Answer {
    match super::library::kernel_name(v, kernel) {
        // SAFETY: an out pointer of this call.
        Some(name) => unsafe { put(out, name) },
        // SAFETY: the arguments of this call; a function is taken for its kernel.
        None => unsafe { get_name(v, out, CUfunction::from_bits(kernel.bits())) },
    }
}

pub(crate) unsafe fn get_param_info(
    v: &mut Visit<'_>,
    function: CUfunction,
    index: usize,
    offset_out: *mut usize,
    size_out: *mut usize,
) -> Answer {
    let function = named(v, function)?;
    let info = function.image.program().info(function.kernel);
    let param = info.params.get(index).ok_or(INVALID)?;
    // SAFETY: out pointers of this call.
    unsafe {
        put(offset_out, param.offset)?;
        put_optional(size_out, param.size);
    }
    Ok(())
}

pub(crate) unsafe fn is_loaded(v: &mut Visit<'_>, out: *mut CUfunctionLoadingState, function: CUfunction) -> Answer {
    named(v, function)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, CU_FUNCTION_LOADING_STATE_LOADED) }
}

pub(crate) unsafe fn load(v: &mut Visit<'_>, function: CUfunction) -> Answer {
    named(v, function).map(|_| ())
}

pub(crate) unsafe fn get_module(v: &mut Visit<'_>, out: *mut CUmodule, function: CUfunction) -> Answer {
    if function.is_null() {
        return Err(INVALID);
    }
    let function = named(v, function)?;
    let handle = CUmodule::from_bits(v.modules.handle(function.module));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn get_attribute(
    v: &mut Visit<'_>,
    out: *mut c_int,
    attribute: CUfunction_attribute,
    function: CUfunction,
) -> Answer {
    let function = named(v, function)?;
    let info = function.image.program().info(function.kernel);
    let value = match attribute {
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => function.max_threads(),
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => info.static_shared,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => info.const_bytes,
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => info.local_bytes,
        CU_FUNC_ATTRIBUTE_NUM_REGS => info.registers,
        CU_FUNC_ATTRIBUTE_PTX_VERSION => ptx_number(&info.target),
        CU_FUNC_ATTRIBUTE_BINARY_VERSION => SM,
        CU_FUNC_ATTRIBUTE_CACHE_MODE_CA => 0,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => function.max_dynamic_shared.load(Ordering::Relaxed),
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => function.carveout.load(Ordering::Relaxed),
        CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET => u32::from(info.explicit_cluster),
        CLUSTERS_FROM..=CLUSTERS_TO => function.clusters[(attribute - CLUSTERS_FROM) as usize].load(Ordering::Relaxed),
        _ => return Err(INVALID),
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, value as c_int) }
}

/// `sm_80` as the number 80.
fn ptx_number(target: &str) -> u32 {
    target.trim_start_matches("sm_").trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap_or(0)
}

pub(crate) unsafe fn set_attribute(
    v: &mut Visit<'_>,
    function: CUfunction,
    attribute: CUfunction_attribute,
    value: c_int,
) -> Answer {
    let function = named(v, function)?;
    let statics = function.image.program().info(function.kernel).static_shared;
    match attribute {
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            if value < 0 || value as u32 > crate::h200::SHARED_PER_BLOCK_OPT_IN.saturating_sub(statics) {
                return Err(INVALID);
            }
            function.max_dynamic_shared.store(value as u32, Ordering::Relaxed);
            Ok(())
        }
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            if !(-1..=100).contains(&value) {
                return Err(INVALID);
            }
            function.carveout.store(value as u32, Ordering::Relaxed);
            Ok(())
        }
        CLUSTERS_FROM..=CLUSTERS_TO => set_cluster(&function, attribute, value),
        _ => Err(INVALID),
    }
}

/// The attributes about clusters that can be set: three extents, whether large ones are allowed, how they are scheduled.
const CLUSTERS_FROM: CUfunction_attribute = CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
const CLUSTERS_TO: CUfunction_attribute = CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;

/// Takes what is asked of clusters, as an H200 does. A launch that would need them is unsupported.
fn set_cluster(function: &Function, attribute: CUfunction_attribute, value: c_int) -> Answer {
    let required = function.image.program().info(function.kernel).required_cluster;
    let value = match attribute {
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => u32::from(value != 0),
        CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE if value > 2 => return Err(INVALID),
        _ => u32::try_from(value).map_err(|_| INVALID)?,
    };
    let at = (attribute - CLUSTERS_FROM) as usize;
    // What the text requires cannot be changed.
    if required.get(at).is_some_and(|required| *required != 0 && *required != value) {
        return Err(INVALID);
    }
    function.clusters[at].store(value, Ordering::Relaxed);
    Ok(())
}

pub(crate) unsafe fn set_cache_config(v: &mut Visit<'_>, function: CUfunction, config: CUfunc_cache) -> Answer {
    named(v, function)?;
    if config > CU_FUNC_CACHE_PREFER_EQUAL { Err(CUresult::CUDA_ERROR_INVALID_VALUE) } else { Ok(()) }
}

/// Banks of shared memory are what they are.
pub(crate) unsafe fn set_shared_config(v: &mut Visit<'_>, function: CUfunction, config: CUsharedconfig) -> Answer {
    named(v, function)?;
    if config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE { Err(INVALID) } else { Ok(()) }
}

impl Function {
    /// Threads a block of this function may have: by `.maxntid`, and by the registers it needs.
    pub(crate) fn max_threads(&self) -> u32 {
        let info = self.image.program().info(self.kernel);
        // `.reqntid` does not count here, as observed; a launch of another size is refused all the same.
        let declared = info.max_threads.map_or(1024, |[x, y, z]| x.saturating_mul(y).saturating_mul(z));
        let warps = crate::h200::REGISTERS / (info.registers.max(16).next_multiple_of(8) * 32);
        declared.min(warps * 32).min(1024)
    }
}
