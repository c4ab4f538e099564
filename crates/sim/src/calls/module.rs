//! Modules, libraries and their functions.
#![allow(clippy::missing_safety_doc)] // stated once, in calls/mod.rs

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;
use dacapo_ptx::ir;

use crate::exec::{Image, Program};
use crate::finding::{Ending, Finding};
use crate::foreign::{list, put, put_optional, text};
use crate::model::objects::{Function, Module, Owner};
use crate::model::table::{Key, Lookup};
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const INVALID_IMAGE: CUresult = CUresult::CUDA_ERROR_INVALID_IMAGE;
const INVALID_PTX: CUresult = CUresult::CUDA_ERROR_INVALID_PTX;
/// The newest PTX version of CUDA 13.0.
const NEWEST_PTX: (u32, u32) = (9, 0);
/// The device's compute capability; PTX for a newer one does not load.
const SM: u32 = 90;
/// Functions that the driver itself provides to device code.
const PROVIDED: &[&str] = &["vprintf", "__assertfail", "cudaGraphSetConditional", "malloc", "free"];

/// A refusal and what to tell the person who reads the log.
struct Refusal {
    code: CUresult,
    finding: Option<Box<Finding>>,
}

impl From<CUresult> for Refusal {
    fn from(code: CUresult) -> Refusal {
        Refusal { code, finding: None }
    }
}

fn refusal(code: CUresult, what: impl Into<String>, help: &str) -> Refusal {
    let word = if code == INVALID_IMAGE { "invalid-image" } else { "invalid-ptx" };
    Refusal { code, finding: Some(Box::new(Finding::new(word, Ending::YourProgram, what).help(help))) }
}

/// PTX text to a program, by the rules by which the driver was observed to refuse.
fn compile(image: &[u8], name: &str) -> Result<Program, Refusal> {
    let source = String::from_utf8_lossy(image);
    if !first_word_is_version(&source) {
        return Err(refusal(INVALID_IMAGE, "the image is not PTX: it does not begin with `.version`", "load PTX text"));
    }
    if let Some(version) = ptx_version(&source)
        && version > NEWEST_PTX
    {
        let what = format!(
            "PTX version {}.{} is newer than this driver's {}.{}",
            version.0, version.1, NEWEST_PTX.0, NEWEST_PTX.1
        );
        let code = CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
        return Err(refusal(
            code,
            what,
            "compile with a toolkit no newer than the driver, or with an older PTX version",
        ));
    }
    let module = dacapo_ptx::parse(&source).map_err(|errors| {
        refusal(
            INVALID_PTX,
            format!("the PTX of {name} does not compile\n{}", errors.render(name)),
            "mend the PTX, or compile it again",
        )
    })?;
    let target = module.target.first().map(String::as_str).unwrap_or_default();
    if !target_runs_here(target) {
        let what = format!("the PTX of {name} is for `{target}`, and the device is sm_{SM}");
        return Err(refusal(INVALID_PTX, what, "compile for sm_90 or older"));
    }
    if let Some(missing) = unresolved(&module) {
        let what = format!("`{missing}` is declared `.extern` and defined nowhere");
        return Err(refusal(INVALID_PTX, what, "define it in the module: this driver links nothing to it"));
    }
    Ok(Program::new(module, name))
}

/// The text without blanks and comments at its beginning.
fn skip_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix("//") {
            text = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(rest) = text.strip_prefix("/*") {
            text = rest.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            return text;
        }
    }
}

fn first_word_is_version(text: &str) -> bool {
    skip_comments(text).starts_with(".version")
}

fn ptx_version(text: &str) -> Option<(u32, u32)> {
    let number = skip_comments(text).strip_prefix(".version")?.split_whitespace().next()?;
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?))
}

fn target_runs_here(target: &str) -> bool {
    let Some(number) = target.strip_prefix("sm_") else { return false };
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    match digits.parse::<u32>() {
        // A suffix (sm_90a) means that very architecture and no other.
        Ok(sm) => sm <= SM && (digits.len() == number.len() || sm == SM),
        Err(_) => false,
    }
}

/// A function that is called and defined neither here nor by the driver.
fn unresolved(module: &ir::Module) -> Option<String> {
    let is_missing = |f: &&ir::Function| !f.has_body && !f.is_kernel && !PROVIDED.contains(&f.name.as_str());
    let missing: Vec<&ir::Function> = module.functions.iter().filter(is_missing).collect();
    let called = |id: &ir::FunctionId| {
        missing.iter().any(|m| module.functions.get(id.0 as usize).is_some_and(|f| f.name == m.name))
    };
    for instruction in module.functions.iter().flat_map(|f| &f.body) {
        for operand in &instruction.operands {
            if let ir::Operand::Call(call) = operand
                && let ir::CallTarget::Direct(id) = &call.target
                && called(id)
            {
                return module.functions.get(id.0 as usize).map(|f| f.name.clone());
            }
        }
    }
    None
}

/// The bytes of an image: PTX up to its NUL. What is not PTX is refused.
unsafe fn bytes_of<'a>(v: &mut Visit<'_>, image: *const c_void) -> Result<&'a [u8], Refusal> {
    if image.is_null() {
        return Err(INVALID.into());
    }
    // SAFETY: an image is text up to its NUL, or begins with a header of 64 bytes. Each byte is read only if those
    // before it are the beginning of such a header, and so not the NUL at the end of a shorter text.
    let byte = |at: usize| unsafe { image.cast::<u8>().add(at).read() };
    if byte(0) == 0x7f && byte(1) == b'E' && byte(2) == b'L' && byte(3) == b'F' {
        // SAFETY: an ELF header is 64 bytes long.
        let machine = u16::from_le_bytes([byte(18), byte(19)]);
        return Err(match machine {
            190 => v.unsupported("cubins: machine code is not interpreted").into(),
            _ => refusal(INVALID_IMAGE, "the image is an ELF file that is no cubin", "load PTX text"),
        });
    }
    if byte(0) == 0x50 && byte(1) == 0xed && byte(2) == 0x55 && byte(3) == 0xba {
        return Err(v.unsupported("fat binaries").into());
    }
    // SAFETY: anything else is text that ends with a NUL, by this call's page.
    Ok(unsafe { CStr::from_ptr(image.cast()) }.to_bytes())
}

fn install(v: &mut Visit<'_>, source: &[u8], is_library: bool) -> Result<Key<Module>, Refusal> {
    let context = v.context()?;
    v.modules_loaded += 1;
    let name = format!("module {}", v.modules_loaded);
    let program = Arc::new(compile(source, &name)?);
    let image = Image::place(program, &mut v.memory).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    let image = Arc::new(image);
    let variables: Vec<_> = image.variables().collect();
    let key = v.modules.insert(Module { context, image, functions: BTreeMap::new(), is_library });
    for (address, bytes) in variables {
        super::memory::show(v, address, bytes, Owner::Module)?;
    }
    Ok(key)
}

fn report(v: &mut Visit<'_>, refusal: Refusal) -> (CUresult, String) {
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

/// Numbers of the options that hand out the compiler's words.
const ERROR_LOG: (u32, u32) = (5, 6);
const INFO_LOG: (u32, u32) = (3, 4);

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
    let loaded = unsafe { bytes_of(v, image) }.and_then(|source| install(v, source, false));
    let (answer, log) = match loaded {
        Ok(key) => {
            let handle = CUmodule::from_bits(v.modules.handle(key));
            // SAFETY: an out pointer of this call.
            unsafe { put(out, handle) }?;
            (Ok(()), String::new())
        }
        Err(refusal) => {
            let (code, log) = report(v, refusal);
            (Err(code), log)
        }
    };
    for (buffer, size) in [ERROR_LOG, INFO_LOG] {
        let at = |wanted| numbers.iter().position(|number| *number == wanted);
        let (Some(buffer_at), Some(size_at)) = (at(buffer), at(size)) else { continue };
        // An `unsigned int` in the place of a pointer: what stands above its 32 bits means nothing.
        let room = given[size_at] as usize as u32 as usize;
        let words = if (buffer, size) == ERROR_LOG { log.as_bytes() } else { b"" };
        if room == 0 || given[buffer_at].is_null() {
            continue;
        }
        let length = words.len().min(room - 1);
        // SAFETY: the program gave a buffer of `room` bytes, and `length` and its NUL fit; the array of values is
        // written back as the page of this call says.
        unsafe {
            std::ptr::copy_nonoverlapping(words.as_ptr(), given[buffer_at].cast(), length);
            given[buffer_at].cast::<u8>().add(length).write(0);
            values.add(size_at).write(length as *mut c_void);
        }
    }
    answer
}

pub(crate) unsafe fn load(v: &mut Visit<'_>, out: *mut CUmodule, path: *const c_char) -> Answer {
    // SAFETY: a C string, by this call's page.
    let path = unsafe { text(path) }?;
    if out.is_null() {
        return Err(INVALID);
    }
    let mut source = std::fs::read(&path).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
    // A NUL behind the text, and room for the header of a file that only looks like ELF.
    source.extend([0; 64]);
    // SAFETY: the bytes end with a NUL, and are long enough for an ELF header.
    unsafe { load_data(v, out, source.as_ptr().cast()) }
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
    }
    v.retired.push(module.image);
    v.retire_images();
}

/// A function of a module by its name; the same handle each time.
fn function_of(v: &mut Visit<'_>, module_key: Key<Module>, name: &str) -> Result<Key<Arc<Function>>, CUresult> {
    let module = v.modules.get(module_key).ok_or(INVALID_HANDLE)?;
    if let Some(function) = module.functions.get(name) {
        return Ok(*function);
    }
    let not_found = CUresult::CUDA_ERROR_NOT_FOUND;
    let kernel = module.image.program().kernel(name).ok_or(not_found)?;
    let function = Arc::new(Function {
        module: module_key,
        context: module.context,
        image: module.image.clone(),
        kernel,
        name: CString::new(name).map_err(|_| not_found)?,
        handle: AtomicU64::new(0),
        max_dynamic_shared: AtomicU32::new(crate::h200::SHARED_PER_BLOCK),
        carveout: AtomicU32::new(u32::MAX),
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
    if out.is_null() {
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

/// The function behind a handle. A kernel handle of a library is accepted too, as by the driver.
pub(crate) fn function_named(v: &mut Visit<'_>, handle: CUfunction) -> Result<Arc<Function>, CUresult> {
    match v.functions.look_up(handle.bits()) {
        Lookup::Live(key) => v.functions.get(key).cloned().ok_or(INVALID_HANDLE),
        Lookup::Stale => {
            v.find_stale("function", "the unloading of its module");
            Err(INVALID_HANDLE)
        }
        Lookup::Foreign => Err(INVALID_HANDLE),
    }
}

pub(crate) unsafe fn func_get_name(v: &mut Visit<'_>, out: *mut *const c_char, function: CUfunction) -> Answer {
    let function = function_named(v, function)?;
    // The name lives as long as the function does.
    // SAFETY: an out pointer of this call.
    unsafe { put(out, function.name.as_ptr()) }
}

pub(crate) unsafe fn kernel_get_name(v: &mut Visit<'_>, out: *mut *const c_char, kernel: CUkernel) -> Answer {
    // SAFETY: the arguments of this call; a kernel of a library is named by its function's handle.
    unsafe { func_get_name(v, out, CUfunction::from_bits(kernel.bits())) }
}

pub(crate) unsafe fn func_get_param_info(
    v: &mut Visit<'_>,
    function: CUfunction,
    index: usize,
    offset_out: *mut usize,
    size_out: *mut usize,
) -> Answer {
    let function = function_named(v, function)?;
    let info = function.image.program().info(function.kernel);
    let param = info.params.get(index).ok_or(INVALID)?;
    // SAFETY: out pointers of this call.
    unsafe {
        put(offset_out, param.offset)?;
        put_optional(size_out, param.size);
    }
    Ok(())
}

pub(crate) unsafe fn func_is_loaded(
    v: &mut Visit<'_>,
    out: *mut CUfunctionLoadingState,
    function: CUfunction,
) -> Answer {
    function_named(v, function)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, CU_FUNCTION_LOADING_STATE_LOADED) }
}

pub(crate) unsafe fn func_load(v: &mut Visit<'_>, function: CUfunction) -> Answer {
    function_named(v, function).map(|_| ())
}

pub(crate) unsafe fn func_get_module(v: &mut Visit<'_>, out: *mut CUmodule, function: CUfunction) -> Answer {
    let function = function_named(v, function)?;
    let handle = CUmodule::from_bits(v.modules.handle(function.module));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn func_get_attribute(
    v: &mut Visit<'_>,
    out: *mut c_int,
    attribute: CUfunction_attribute,
    function: CUfunction,
) -> Answer {
    let function = function_named(v, function)?;
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
        other if other < 16 => return Err(v.unsupported(format!("function attribute {other}"))),
        _ => return Err(INVALID),
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, value as c_int) }
}

/// `sm_80` as the number 80.
fn ptx_number(target: &str) -> u32 {
    target.trim_start_matches("sm_").trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap_or(0)
}

pub(crate) unsafe fn func_set_attribute(
    v: &mut Visit<'_>,
    function: CUfunction,
    attribute: CUfunction_attribute,
    value: c_int,
) -> Answer {
    let function = function_named(v, function)?;
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
        other if (10..16).contains(&other) => Err(v.unsupported(format!("function attribute {other}"))),
        _ => Err(INVALID),
    }
}

pub(crate) unsafe fn func_set_cache_config(v: &mut Visit<'_>, function: CUfunction, _config: CUfunc_cache) -> Answer {
    function_named(v, function).map(|_| ())
}

impl Function {
    /// Threads a block of this function may have: by `.maxntid`, and by the registers it needs.
    pub(crate) fn max_threads(&self) -> u32 {
        let info = self.image.program().info(self.kernel);
        let declared =
            info.max_threads.or(info.required_threads).map_or(1024, |[x, y, z]| x.saturating_mul(y).saturating_mul(z));
        let warps = crate::h200::REGISTERS / (info.registers.max(16).next_multiple_of(8) * 32);
        declared.min(warps * 32).min(1024)
    }
}

#[allow(clippy::too_many_arguments)] // C's
pub(crate) unsafe fn library_load_data(
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

fn library_named(v: &Visit<'_>, handle: CUlibrary) -> Result<Key<Module>, CUresult> {
    let key = named(v, CUmodule::from_bits(handle.bits()))?;
    if v.modules.get(key).is_some_and(|module| module.is_library) { Ok(key) } else { Err(INVALID_HANDLE) }
}

pub(crate) unsafe fn library_unload(v: &mut Visit<'_>, handle: CUlibrary) -> Answer {
    library_named(v, handle)?;
    // SAFETY: the arguments of this call; a library is a module here.
    unsafe { unload(v, CUmodule::from_bits(handle.bits())) }
}

pub(crate) unsafe fn library_get_module(v: &mut Visit<'_>, out: *mut CUmodule, handle: CUlibrary) -> Answer {
    library_named(v, handle)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, CUmodule::from_bits(handle.bits())) }
}

pub(crate) unsafe fn library_get_kernel(
    v: &mut Visit<'_>,
    out: *mut CUkernel,
    handle: CUlibrary,
    name: *const c_char,
) -> Answer {
    let key = library_named(v, handle)?;
    // SAFETY: a C string, by this call's page.
    let name = unsafe { text(name) }?;
    let function = function_of(v, key, &name)?;
    let handle = CUkernel::from_bits(v.functions.handle(function));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn kernel_get_function(v: &mut Visit<'_>, out: *mut CUfunction, kernel: CUkernel) -> Answer {
    let handle = CUfunction::from_bits(kernel.bits());
    function_named(v, handle)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_behind_comments() {
        assert_eq!(ptx_version("// made by hand\n/* twice */ .version 8.4\n"), Some((8, 4)));
        assert!(!first_word_is_version("// .version 8.4\n.target sm_80"));
    }

    #[test]
    fn ptx_for_this_architecture_or_older_runs() {
        for (target, runs) in [
            ("sm_70", true),
            ("sm_90", true),
            ("sm_90a", true),
            ("sm_80a", false),
            ("sm_100", false),
            ("sm_x", false),
            ("", false),
        ] {
            assert_eq!(target_runs_here(target), runs, "{target}");
        }
    }
}
