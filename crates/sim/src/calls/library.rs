//! Libraries: modules whose kernels are named by kernel handles.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_char, c_int, c_uint, c_void};

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

#[allow(clippy::too_many_arguments, reason = "C's signature")]
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

/// Whether `device` is the one there is.
fn check_device(device: CUdevice) -> Answer {
    if device == 0 { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_DEVICE) }
}

pub(crate) unsafe fn kernel_get_attribute(
    v: &mut Visit<'_>,
    out: *mut c_int,
    attribute: CUfunction_attribute,
    kernel: CUkernel,
    device: CUdevice,
) -> Answer {
    check_device(device)?;
    // SAFETY: the arguments of this call; a kernel of a library is named by its function's handle.
    unsafe { super::function::get_attribute(v, out, attribute, CUfunction::from_bits(kernel.bits())) }
}

pub(crate) unsafe fn kernel_set_attribute(
    v: &mut Visit<'_>,
    attribute: CUfunction_attribute,
    value: c_int,
    kernel: CUkernel,
    device: CUdevice,
) -> Answer {
    check_device(device)?;
    // SAFETY: as above.
    unsafe { super::function::set_attribute(v, CUfunction::from_bits(kernel.bits()), attribute, value) }
}

pub(crate) unsafe fn kernel_get_param_info(
    v: &mut Visit<'_>,
    kernel: CUkernel,
    index: usize,
    offset_out: *mut usize,
    size_out: *mut usize,
) -> Answer {
    let function = CUfunction::from_bits(kernel.bits());
    // SAFETY: as above.
    unsafe { super::function::get_param_info(v, function, index, offset_out, size_out) }
}

pub(crate) unsafe fn get_kernel_count(v: &mut Visit<'_>, out: *mut c_uint, handle: CUlibrary) -> Answer {
    library(v, handle)?;
    // SAFETY: the arguments of this call; a library is a module here.
    unsafe { super::module::get_function_count(v, out, CUmodule::from_bits(handle.bits())) }
}

pub(crate) unsafe fn enumerate_kernels(
    v: &mut Visit<'_>,
    out: *mut CUkernel,
    count: c_uint,
    handle: CUlibrary,
) -> Answer {
    library(v, handle)?;
    // SAFETY: the arguments of this call; kernels are named by their functions' handles.
    unsafe { super::module::enumerate_functions(v, out.cast(), count, CUmodule::from_bits(handle.bits())) }
}

pub(crate) unsafe fn get_global(
    v: &mut Visit<'_>,
    out: *mut CUdeviceptr,
    bytes_out: *mut usize,
    handle: CUlibrary,
    name: *const c_char,
) -> Answer {
    library(v, handle)?;
    // SAFETY: the arguments of this call.
    unsafe { super::module::get_global(v, out, bytes_out, CUmodule::from_bits(handle.bits()), name) }
}

#[allow(clippy::too_many_arguments, reason = "C's signature")]
pub(crate) unsafe fn load_from_file(
    v: &mut Visit<'_>,
    out: *mut CUlibrary,
    path: *const c_char,
    jit_options: *mut CUjit_option,
    jit_values: *mut *mut c_void,
    jit_count: c_uint,
    options: *mut CUlibraryOption,
    values: *mut *mut c_void,
    count: c_uint,
) -> Answer {
    // SAFETY: a C string, by this call's page.
    let path = unsafe { text(path) }?;
    let mut source = std::fs::read(&path).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
    // A NUL behind the text, and room for the header of a file that only looks like ELF.
    source.extend([0; 64]);
    // SAFETY: the arguments of this call, and an image that ends with a NUL.
    unsafe { load_data(v, out, source.as_ptr().cast(), jit_options, jit_values, jit_count, options, values, count) }
}
