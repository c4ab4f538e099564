//! NVRTC: it compiles as ever, and gives its PTX where it would give a cubin.
//!
//! Both functions are exported as well, for programs that are linked with NVRTC: while this library is preloaded their calls
//! come here.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::{Real, asked_for, image_of, lookup, tell};

type Program = *mut c_void;
type SizeOf = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(Program, *mut c_char) -> c_int;

static CUBIN_SIZE: Real = Real::new();
static CUBIN: Real = Real::new();
static PTX_SIZE: Real = Real::new();
static PTX: Real = Real::new();

/// `NVRTC_ERROR_INVALID_PROGRAM`, where there is no library to ask.
const INVALID_PROGRAM: c_int = 4;

/// Ours for `name`, where the library has it. `find` looks a name up as the program does, `behind` behind this library.
pub(super) fn stand_in(name: &str, find: impl Fn(&CStr) -> usize, behind: impl Fn(&CStr) -> usize) -> Option<usize> {
    let ours = match name {
        "nvrtcGetCUBINSize" => nvrtcGetCUBINSize as *const () as usize,
        "nvrtcGetCUBIN" => nvrtcGetCUBIN as *const () as usize,
        _ => return None,
    };
    let names = [c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN", c"nvrtcGetPTXSize", c"nvrtcGetPTX"];
    let mut found = names.map(&find);
    // Who asks for a name in no library in particular finds our own export.
    for (address, name) in found.iter_mut().zip(names) {
        let is_ours = [nvrtcGetCUBINSize as *const () as usize, nvrtcGetCUBIN as *const () as usize];
        if is_ours.contains(address) {
            *address = behind(name);
        }
    }
    if found.contains(&0) {
        // None, or one so old that it has no cubins: an answer, for our export must not be taken for the library's.
        return Some(0);
    }
    for (real, address) in [&CUBIN_SIZE, &CUBIN, &PTX_SIZE, &PTX].into_iter().zip(found) {
        real.set(address);
    }
    Some(ours)
}

/// The library's function, also for a program that is linked with it and has looked nothing up.
fn real(known: &Real, name: &CStr) -> usize {
    if known.get() == 0 {
        known.set(lookup::next(name));
    }
    known.get()
}

fn cubin_size(program: Program, size: *mut usize) -> c_int {
    match real(&CUBIN_SIZE, c"nvrtcGetCUBINSize") {
        0 => INVALID_PROGRAM,
        // SAFETY: the library's function of this signature; its arguments are the program's.
        address => unsafe { std::mem::transmute::<usize, SizeOf>(address)(program, size) },
    }
}

/// The PTX of a program, if there is some.
fn ptx(program: Program) -> Option<Vec<u8>> {
    let (size, get) = (real(&PTX_SIZE, c"nvrtcGetPTXSize"), real(&PTX, c"nvrtcGetPTX"));
    if size == 0 || get == 0 {
        return None;
    }
    let mut bytes = 0;
    // SAFETY: the library's function of this signature, and a program that has a cubin.
    if unsafe { std::mem::transmute::<usize, SizeOf>(size)(program, &mut bytes) } != 0 || bytes < 2 {
        return None;
    }
    let mut text = vec![0; bytes];
    // SAFETY: as above; the buffer has the size that the library named.
    let code = unsafe { std::mem::transmute::<usize, Get>(get)(program, text.as_mut_ptr().cast()) };
    (code == 0).then_some(text)
}

/// # Safety
///
/// As NVRTC's page says.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "NVIDIA's name")]
pub unsafe extern "C" fn nvrtcGetCUBINSize(program: Program, size: *mut usize) -> c_int {
    let mut bytes = 0usize;
    let code = cubin_size(program, if size.is_null() { size } else { &mut bytes });
    if code != 0 || size.is_null() {
        return code;
    }
    if bytes > 0
        && asked_for()
        && let Some(text) = ptx(program)
    {
        bytes = image_of("NVRTC", &text).len();
    }
    // SAFETY: not null, and valid by the caller's promise.
    unsafe { size.write(bytes) };
    code
}

/// # Safety
///
/// As NVRTC's page says.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "NVIDIA's name")]
pub unsafe extern "C" fn nvrtcGetCUBIN(program: Program, cubin: *mut c_char) -> c_int {
    let mut bytes = 0;
    if asked_for()
        && !cubin.is_null()
        && cubin_size(program, &mut bytes) == 0
        && bytes > 0
        && let Some(text) = ptx(program)
    {
        let image = image_of("NVRTC", &text);
        tell();
        // SAFETY: the program has asked `nvrtcGetCUBINSize`, and has room for what that answered.
        unsafe { std::ptr::copy_nonoverlapping(image.as_ptr().cast(), cubin, image.len()) };
        return 0;
    }
    match real(&CUBIN, c"nvrtcGetCUBIN") {
        0 => INVALID_PROGRAM,
        // SAFETY: the library's function of this signature; its arguments are the program's.
        address => unsafe { std::mem::transmute::<usize, Get>(address)(program, cubin) },
    }
}
