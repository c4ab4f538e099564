//! Modules: loading, unloading, and what is in them. How PTX is compiled stands in [`super::jit`].
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::image::{self, Source};
use super::jit::{Refusal, compile};
use super::log::Logs;
use crate::exec::{Image, Program};
use crate::foreign::{list, put, put_optional, text};
use crate::model::objects::{Function, Module, Owner};
use crate::model::table::{Key, Lookup};
use crate::visit::{self, Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;

/// Compiles PTX.
pub(crate) fn program(v: &mut Visit<'_>, source: &Source) -> Result<Arc<Program>, Refusal> {
    v.modules_loaded += 1;
    let name = format!("module {}", v.modules_loaded);
    Ok(Arc::new(compile(source, &name)?))
}

/// Places a program in the current context.
pub(crate) fn install(v: &mut Visit<'_>, program: Arc<Program>, is_library: bool) -> Result<Key<Module>, CUresult> {
    let context = v.context()?;
    let home = v.home_of(context);
    let image = Image::place_for(home, program, &mut v.memory).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    let image = Arc::new(image);
    let variables: Vec<_> = image.variables().collect();
    let key = v.modules.insert(Module { context, image, functions: BTreeMap::new(), is_library });
    for (address, bytes) in variables {
        super::memory::show(v, address, bytes, Owner::Module)?;
    }
    Ok(key)
}

/// Leaves the refusal's finding; the answer and the words for a log.
pub(crate) fn report(v: &mut Visit<'_>, refusal: Refusal) -> (CUresult, String) {
    let log = refusal.finding.as_ref().map(|finding| finding.what.clone()).unwrap_or_default();
    if let Some(finding) = refusal.finding {
        let call = v.call.symbol();
        v.find(finding.at(call, format!("answered {}", refusal.code)));
    }
    (refusal.code, log)
}

pub(crate) unsafe fn load_data(v: &mut Visit<'_>, out: *mut CUmodule, image: *const c_void) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { load_data_ex(v, out, image, 0, std::ptr::null_mut(), std::ptr::null_mut()) }
}

pub(crate) unsafe fn load_data_ex(
    v: &mut Visit<'_>,
    out: *mut CUmodule,
    image: *const c_void,
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
) -> Answer {
    if out.is_null() {
        return Err(INVALID);
    }
    // SAFETY: arrays of `count` elements, by this call's page.
    let (numbers, given) = unsafe { (list(options, count as usize)?, list(values, count as usize)?) };
    // SAFETY: an image, by this call's page.
    let source = unsafe { image::of_module(image) };
    // SAFETY: an out pointer of this call.
    let (answer, log) = unsafe { finish(v, out, source) };
    // SAFETY: the arrays of this call.
    unsafe { Logs::of(&numbers, &given, values) }.write(&log, "");
    answer
}

/// A module of a source, which may be none; the answer, and the words for a log.
unsafe fn finish(v: &mut Visit<'_>, out: *mut CUmodule, source: Result<Source, Refusal>) -> (Answer, String) {
    let loaded = source.and_then(|source| program(v, &source)).and_then(|program| Ok(install(v, program, false)?));
    match loaded {
        Ok(key) => {
            let handle = CUmodule::from_bits(v.modules.handle(key));
            // SAFETY: an out pointer of the call.
            (unsafe { put(out, handle) }, String::new())
        }
        Err(refusal) => {
            let (code, log) = report(v, refusal);
            (Err(code), log)
        }
    }
}

/// A fat binary; text is taken as well, as by an H200.
pub(crate) unsafe fn load_fat_binary(v: &mut Visit<'_>, out: *mut CUmodule, image: *const c_void) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { load_data(v, out, image) }
}

pub(crate) unsafe fn load(v: &mut Visit<'_>, out: *mut CUmodule, path: *const c_char) -> Answer {
    // SAFETY: a C string, by this call's page.
    let path = unsafe { text(path) }?;
    if out.is_null() {
        return Err(INVALID);
    }
    // A folder opens as a file does, and then has no end.
    if std::fs::metadata(&path).is_ok_and(|found| found.is_dir()) {
        return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    }
    let bytes = image::file(&path)?;
    // SAFETY: an out pointer of this call.
    unsafe { finish(v, out, image::of_bytes(&bytes)) }.0
}

/// The module behind a handle.
pub(crate) fn named(v: &Visit<'_>, handle: CUmodule) -> Result<Key<Module>, CUresult> {
    match v.modules.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        _ => Err(INVALID_HANDLE),
    }
}

pub(crate) unsafe fn unload(v: &mut Visit<'_>, handle: CUmodule) -> Answer {
    v.check_unsafe()?;
    let key = named(v, handle)?;
    if v.modules.get(key).is_some_and(|module| module.is_library) {
        let (what, help) = ("the module belongs to a library", "unload the library: cuLibraryUnload");
        let code = CUresult::CUDA_ERROR_NOT_PERMITTED;
        return Err(v.refuse(visit::Refusal::new(code, "library-module", what, help)));
    }
    let context = v.modules.get(key).map(|module| module.context);
    if let Some(context) = context {
        v.wait_for_context(context)?;
    }
    remove(v, key);
    Ok(())
}

/// Takes a module away; what still holds its functions keeps their code and variables.
pub(crate) fn remove(v: &mut Visit<'_>, key: Key<Module>) {
    let Some(module) = v.modules.remove(key) else { return };
    for function in module.functions.values() {
        v.functions.remove(*function);
    }
    for (address, _) in module.image.variables().collect::<Vec<_>>() {
        v.visible.remove(&address);
        v.managed.remove(&address);
    }
    v.retired.push(module.image);
    v.retire_images();
}

/// A function of a module by its name; the same handle each time.
pub(crate) fn function_of(
    v: &mut Visit<'_>,
    module_key: Key<Module>,
    name: &str,
) -> Result<Key<Arc<Function>>, CUresult> {
    let module = v.modules.get(module_key).ok_or(INVALID_HANDLE)?;
    if let Some(function) = module.functions.get(name) {
        return Ok(*function);
    }
    let not_found = CUresult::CUDA_ERROR_NOT_FOUND;
    let kernel = module.image.program().kernel(name).ok_or(not_found)?;
    let info = module.image.program().info(kernel);
    let device = v.device_of(module.context);
    let (static_shared, [x, y, z]) = (info.static_shared, info.required_cluster);
    let function = Arc::new(Function {
        module: module_key,
        context: module.context,
        device,
        image: module.image.clone(),
        kernel,
        name: CString::new(name).map_err(|_| not_found)?,
        handle: AtomicU64::new(0),
        max_dynamic_shared: AtomicU32::new(crate::h200::SHARED_PER_BLOCK.saturating_sub(static_shared)),
        carveout: AtomicU32::new(u32::MAX),
        clusters: [x, y, z, 0, 0].map(AtomicU32::new),
    });
    let key = v.functions.insert(function.clone());
    function.handle.store(v.functions.handle(key), Ordering::Relaxed);
    if let Some(module) = v.modules.get_mut(module_key) {
        module.functions.insert(name.to_string(), key);
    }
    Ok(key)
}

pub(crate) unsafe fn get_function(
    v: &mut Visit<'_>,
    out: *mut CUfunction,
    module: CUmodule,
    name: *const c_char,
) -> Answer {
    let module = named(v, module)?;
    // SAFETY: a C string, by this call's page.
    let name = unsafe { text(name) }?;
    if out.is_null() || name.is_empty() {
        return Err(INVALID);
    }
    let key = function_of(v, module, &name)?;
    let handle = CUfunction::from_bits(v.functions.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn get_global(
    v: &mut Visit<'_>,
    out: *mut CUdeviceptr,
    bytes_out: *mut usize,
    module: CUmodule,
    name: *const c_char,
) -> Answer {
    let key = named(v, module)?;
    // SAFETY: a C string, by this call's page.
    let name = unsafe { text(name) }?;
    let image = v.modules.get(key).map(|module| module.image.clone()).ok_or(INVALID_HANDLE)?;
    let Some((address, bytes)) = image.variable(&name) else {
        let is_function = image.program().kernel(&name).is_some();
        return Err(if is_function { INVALID } else { CUresult::CUDA_ERROR_NOT_FOUND });
    };
    // SAFETY: out pointers of this call, which may be null.
    unsafe {
        put_optional(out, address);
        put_optional(bytes_out, bytes as usize);
    }
    Ok(())
}

pub(crate) unsafe fn get_function_count(v: &mut Visit<'_>, out: *mut c_uint, module: CUmodule) -> Answer {
    let key = named(v, module)?;
    let count = v.modules.get(key).map_or(0, |module| module.image.program().kernels().count());
    // SAFETY: an out pointer of this call.
    unsafe { put(out, count as c_uint) }
}

pub(crate) unsafe fn get_loading_mode(_: &mut Visit<'_>, out: *mut CUmoduleLoadingMode) -> Answer {
    // SAFETY: an out pointer of this call.
    unsafe { put(out, CU_MODULE_LAZY_LOADING) }
}

pub(crate) unsafe fn enumerate_functions(
    v: &mut Visit<'_>,
    out: *mut CUfunction,
    count: c_uint,
    module: CUmodule,
) -> Answer {
    let key = named(v, module)?;
    if out.is_null() {
        return Err(INVALID);
    }
    let image = v.modules.get(key).map(|module| module.image.clone()).ok_or(INVALID_HANDLE)?;
    let names: Vec<String> = image.program().kernels().map(|(_, info)| info.name.clone()).collect();
    for (at, name) in names.iter().take(count as usize).enumerate() {
        let function = function_of(v, key, name)?;
        let handle = CUfunction::from_bits(v.functions.handle(function));
        // SAFETY: an array of `count` handles, by this call's page.
        unsafe { out.add(at).write_unaligned(handle) };
    }
    Ok(())
}
