//! Libraries: modules whose kernels are named by kernel handles.
#![allow(clippy::missing_safety_doc)] // stated once, in calls/mod.rs

use std::ffi::{c_char, c_uint, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::jit::bytes_of;
use super::module::{function_of, install, named, report, unload};
use crate::foreign::{put, text};
use crate::model::objects::Module;
use crate::model::table::Key;
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;

#[allow(clippy::too_many_arguments)] // C's
pub(crate) unsafe fn load_data(
    v: &mut Visit<'_>,
    out: *mut CUlibrary,
    code: *const c_void,
    _jit_options: *mut CUjit_option,
    _jit_values: *mut *mut c_void,
    _jit_count: c_uint,
    _options: *mut CUlibraryOption,
    _values: *mut *mut c_void,
    _count: c_uint,
) -> Answer {
    if out.is_null() {
        return Err(INVALID);
    }
    // SAFETY: an image, by this call's page.
    let loaded = unsafe { bytes_of(v, code) }.and_then(|source| install(v, source, true));
    match loaded {
        Ok(key) => {
            let handle = CUlibrary::from_bits(v.modules.handle(key));
            // SAFETY: an out pointer of this call.
            unsafe { put(out, handle) }
        }
        Err(refusal) => Err(report(v, refusal).0),
    }
}

fn library(v: &Visit<'_>, handle: CUlibrary) -> Result<Key<Module>, CUresult> {
    let key = named(v, CUmodule::from_bits(handle.bits()))?;
    if v.modules.get(key).is_some_and(|module| module.is_library) { Ok(key) } else { Err(INVALID_HANDLE) }
}

pub(crate) unsafe fn unload_library(v: &mut Visit<'_>, handle: CUlibrary) -> Answer {
    library(v, handle)?;
    // SAFETY: the arguments of this call; a library is a module here.
    unsafe { unload(v, CUmodule::from_bits(handle.bits())) }
}

pub(crate) unsafe fn get_module(v: &mut Visit<'_>, out: *mut CUmodule, handle: CUlibrary) -> Answer {
    library(v, handle)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, CUmodule::from_bits(handle.bits())) }
}

pub(crate) unsafe fn get_kernel(
    v: &mut Visit<'_>,
    out: *mut CUkernel,
    handle: CUlibrary,
    name: *const c_char,
) -> Answer {
    let key = library(v, handle)?;
    // SAFETY: a C string, by this call's page.
    let name = unsafe { text(name) }?;
    let function = function_of(v, key, &name)?;
    let handle = CUkernel::from_bits(v.functions.handle(function));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn kernel_get_function(v: &mut Visit<'_>, out: *mut CUfunction, kernel: CUkernel) -> Answer {
    let handle = CUfunction::from_bits(kernel.bits());
    super::function::named(v, handle)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}
