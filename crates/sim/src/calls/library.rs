//! Libraries: programs of the process, and their kernels, which are named by handles of their own.
//!
//! A library needs no context and belongs to none. It becomes a module in a context when something there wants it, and again
//! in the next one after a reset, with the first values of its variables. What is wrong with its code is told when it is
//! loaded, and answered when something is wanted of it: a driver compiles it then.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::image::{self, Source};
use super::jit::Refusal;
use super::module::{function_of, install, program, report};
use crate::foreign::{put, text};
use crate::model::library::{Kernel, Library};
use crate::model::objects::{Function, Module};
use crate::model::table::{Key, Lookup};
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const NOT_FOUND: CUresult = CUresult::CUDA_ERROR_NOT_FOUND;

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
    if out.is_null() || code.is_null() {
        return Err(INVALID);
    }
    // SAFETY: an image, by this call's page.
    let source = unsafe { image::of_library(code) };
    // SAFETY: an out pointer of this call.
    unsafe { make(v, out, source) }
}

/// A library of a source, which may be none.
unsafe fn make(v: &mut Visit<'_>, out: *mut CUlibrary, source: Result<Source, Refusal>) -> Answer {
    let program = source.and_then(|source| program(v, &source)).map_err(|refusal| report(v, refusal).0);
    let key = v.libraries.insert(Library { program, modules: BTreeMap::new(), kernels: BTreeMap::new() });
    let handle = CUlibrary::from_bits(v.libraries.handle(key));
    // SAFETY: an out pointer of the call.
    unsafe { put(out, handle) }
}

#[allow(clippy::too_many_arguments, reason = "C's signature")]
pub(crate) unsafe fn load_from_file(
    v: &mut Visit<'_>,
    out: *mut CUlibrary,
    path: *const c_char,
    _jit_options: *mut CUjit_option,
    _jit_values: *mut *mut c_void,
    _jit_count: c_uint,
    _options: *mut CUlibraryOption,
    _values: *mut *mut c_void,
    _count: c_uint,
) -> Answer {
    // SAFETY: a C string, by this call's page.
    let path = unsafe { text(path) }?;
    let bytes = image::file(&path)?;
    if out.is_null() {
        return Err(INVALID);
    }
    // SAFETY: an out pointer of this call.
    unsafe { make(v, out, image::of_bytes(&bytes)) }
}

fn library(v: &mut Visit<'_>, handle: CUlibrary) -> Result<Key<Library>, CUresult> {
    match v.libraries.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        Lookup::Stale => {
            v.find_stale("library", "cuLibraryUnload");
            Err(INVALID_HANDLE)
        }
        Lookup::Foreign => Err(INVALID_HANDLE),
    }
}

/// The module of a library in the current context.
fn module_of(v: &mut Visit<'_>, key: Key<Library>) -> Result<Key<Module>, CUresult> {
    let context = v.context()?;
    let library = v.libraries.get(key).ok_or(INVALID_HANDLE)?;
    if let Some(module) = library.modules.get(&context)
        && v.modules.get(*module).is_some_and(|module| module.context == context)
    {
        return Ok(*module);
    }
    let program = library.program.clone()?;
    let module = install(v, program, true)?;
    if let Some(library) = v.libraries.get_mut(key) {
        library.modules.insert(context, module);
    }
    Ok(module)
}

pub(crate) unsafe fn unload_library(v: &mut Visit<'_>, handle: CUlibrary) -> Answer {
    v.check_unsafe()?;
    let key = library(v, handle)?;
    let modules: Vec<_> = v.libraries.get(key).into_iter().flat_map(|library| library.modules.clone()).collect();
    for (context, module) in modules {
        if v.modules.get(module).is_some_and(|module| module.context == context) {
            v.wait_for_context(context)?;
            super::module::remove(v, module);
        }
    }
    if let Some(library) = v.libraries.remove(key) {
        for kernel in library.kernels.into_values() {
            v.kernels.remove(kernel);
        }
    }
    Ok(())
}

pub(crate) unsafe fn get_module(v: &mut Visit<'_>, out: *mut CUmodule, handle: CUlibrary) -> Answer {
    let key = library(v, handle)?;
    let module = module_of(v, key)?;
    let handle = CUmodule::from_bits(v.modules.handle(module));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

/// A kernel of a library by its name; the same handle each time.
fn kernel_of(v: &mut Visit<'_>, key: Key<Library>, name: &str) -> Result<Key<Kernel>, CUresult> {
    let library = v.libraries.get(key).ok_or(INVALID_HANDLE)?;
    library.program.as_ref().map_err(|code| *code)?.kernel(name).ok_or(NOT_FOUND)?;
    if let Some(kernel) = library.kernels.get(name) {
        return Ok(*kernel);
    }
    let kernel = v.kernels.insert(Kernel { library: key, name: CString::new(name).map_err(|_| NOT_FOUND)? });
    if let Some(library) = v.libraries.get_mut(key) {
        library.kernels.insert(name.to_string(), kernel);
    }
    Ok(kernel)
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
    let kernel = kernel_of(v, key, &name)?;
    let handle = CUkernel::from_bits(v.kernels.handle(kernel));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

fn kernel(v: &mut Visit<'_>, handle: CUkernel) -> Result<Key<Kernel>, CUresult> {
    match v.kernels.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        Lookup::Stale => {
            v.find_stale("kernel", "the unloading of its library");
            Err(INVALID_HANDLE)
        }
        Lookup::Foreign => Err(INVALID_HANDLE),
    }
}

/// The function in the current context that a handle of a kernel stands for, where it is one.
pub(crate) fn function_behind(v: &mut Visit<'_>, handle: CUfunction) -> Option<Result<Arc<Function>, CUresult>> {
    if matches!(v.kernels.look_up(handle.bits()), Lookup::Foreign) {
        return None;
    }
    Some(function_of_kernel(v, CUkernel::from_bits(handle.bits())))
}

fn function_of_kernel(v: &mut Visit<'_>, handle: CUkernel) -> Result<Arc<Function>, CUresult> {
    let key = kernel(v, handle)?;
    let (library, name) = match v.kernels.get(key) {
        Some(kernel) => (kernel.library, kernel.name.to_string_lossy().into_owned()),
        None => return Err(INVALID_HANDLE),
    };
    let module = module_of(v, library)?;
    let function = function_of(v, module, &name)?;
    v.functions.get(function).cloned().ok_or(INVALID_HANDLE)
}

/// The name of a kernel, which lives as long as its library.
pub(crate) fn kernel_name(v: &Visit<'_>, handle: CUkernel) -> Option<*const c_char> {
    match v.kernels.look_up(handle.bits()) {
        Lookup::Live(key) => v.kernels.get(key).map(|kernel| kernel.name.as_ptr()),
        _ => None,
    }
}

pub(crate) unsafe fn kernel_get_function(v: &mut Visit<'_>, out: *mut CUfunction, kernel: CUkernel) -> Answer {
    let function = super::function::named(v, CUfunction::from_bits(kernel.bits()))?;
    let handle = function.handle.load(std::sync::atomic::Ordering::Relaxed);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, CUfunction::from_bits(handle)) }
}

pub(crate) unsafe fn kernel_get_library(v: &mut Visit<'_>, out: *mut CUlibrary, handle: CUkernel) -> Answer {
    if out.is_null() {
        return Err(INVALID);
    }
    let key = kernel(v, handle)?;
    let library = v.kernels.get(key).map(|kernel| kernel.library).ok_or(INVALID_HANDLE)?;
    let handle = CUlibrary::from_bits(v.libraries.handle(library));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

/// Whether `device` is that of the current context: a kernel is asked about there.
fn check_device(v: &mut Visit<'_>, device: CUdevice) -> Answer {
    let device = v.device(device)?;
    if v.here().is_some_and(|here| here != device) {
        return Err(v.unsupported("a kernel on another device than that of the current context"));
    }
    Ok(())
}

pub(crate) unsafe fn kernel_set_cache_config(
    v: &mut Visit<'_>,
    handle: CUkernel,
    config: CUfunc_cache,
    device: CUdevice,
) -> Answer {
    check_device(v, device)?;
    kernel(v, handle)?;
    // A preference, and there are no caches.
    if config <= CU_FUNC_CACHE_PREFER_EQUAL { Ok(()) } else { Err(INVALID) }
}

pub(crate) unsafe fn kernel_get_attribute(
    v: &mut Visit<'_>,
    out: *mut c_int,
    attribute: CUfunction_attribute,
    kernel: CUkernel,
    device: CUdevice,
) -> Answer {
    check_device(v, device)?;
    // SAFETY: the arguments of this call; a kernel of a library stands for its function.
    unsafe { super::function::get_attribute(v, out, attribute, CUfunction::from_bits(kernel.bits())) }
}

pub(crate) unsafe fn kernel_set_attribute(
    v: &mut Visit<'_>,
    attribute: CUfunction_attribute,
    value: c_int,
    kernel: CUkernel,
    device: CUdevice,
) -> Answer {
    check_device(v, device)?;
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

/// The names of a library's kernels; none of one that does not compile, as an H200 counts them.
fn names(v: &Visit<'_>, key: Key<Library>) -> Vec<String> {
    let program = v.libraries.get(key).and_then(|library| library.program.as_ref().ok());
    program.into_iter().flat_map(|program| program.kernels()).map(|(_, info)| info.name.clone()).collect()
}

pub(crate) unsafe fn get_kernel_count(v: &mut Visit<'_>, out: *mut c_uint, handle: CUlibrary) -> Answer {
    let key = library(v, handle)?;
    let count = names(v, key).len() as c_uint;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, count) }
}

pub(crate) unsafe fn enumerate_kernels(
    v: &mut Visit<'_>,
    out: *mut CUkernel,
    count: c_uint,
    handle: CUlibrary,
) -> Answer {
    let key = library(v, handle)?;
    if out.is_null() {
        return Err(INVALID);
    }
    for (at, name) in names(v, key).iter().take(count as usize).enumerate() {
        let kernel = kernel_of(v, key, name)?;
        let handle = CUkernel::from_bits(v.kernels.handle(kernel));
        // SAFETY: an array of `count` handles, by this call's page.
        unsafe { out.add(at).write_unaligned(handle) };
    }
    Ok(())
}

pub(crate) unsafe fn get_global(
    v: &mut Visit<'_>,
    out: *mut CUdeviceptr,
    bytes_out: *mut usize,
    handle: CUlibrary,
    name: *const c_char,
) -> Answer {
    let key = library(v, handle)?;
    if out.is_null() && bytes_out.is_null() {
        return Err(INVALID);
    }
    let module = module_of(v, key)?;
    let module = CUmodule::from_bits(v.modules.handle(module));
    // SAFETY: the arguments of this call.
    unsafe { super::module::get_global(v, out, bytes_out, module, name) }
}

/// A managed variable of a library. One that is not managed is not found, as on an H200.
pub(crate) unsafe fn get_managed(
    v: &mut Visit<'_>,
    out: *mut CUdeviceptr,
    bytes_out: *mut usize,
    handle: CUlibrary,
    name: *const c_char,
) -> Answer {
    let key = library(v, handle)?;
    // SAFETY: a C string, by this call's page.
    let wanted = unsafe { text(name) }?;
    let library = v.libraries.get(key).ok_or(INVALID_HANDLE)?;
    if !library.program.as_ref().map_err(|code| *code)?.is_managed(&wanted) {
        return Err(NOT_FOUND);
    }
    let module = module_of(v, key)?;
    let module = CUmodule::from_bits(v.modules.handle(module));
    // SAFETY: the arguments of this call.
    unsafe { super::module::get_global(v, out, bytes_out, module, name) }
}

/// An H200 answers so for every name, that of a kernel included.
pub(crate) unsafe fn get_unified_function(
    v: &mut Visit<'_>,
    _out: *mut *mut c_void,
    handle: CUlibrary,
    _symbol: *const c_char,
) -> Answer {
    library(v, handle)?;
    Err(INVALID)
}
