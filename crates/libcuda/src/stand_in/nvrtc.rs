//! NVRTC: it compiles as ever, and gives its PTX where it would give a cubin.
//!
//! Both functions are exported as well, for programs that are linked with NVRTC: while this library is preloaded their calls
//! come here.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::{PLACES, Places, Real, asked_for, image_of, lookup, tell};

type Program = *mut c_void;
type SizeOf = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(Program, *mut c_char) -> c_int;

/// One NVRTC of the process: its own functions.
struct Library {
    cubin_size: Real,
    cubin: Real,
    ptx_size: Real,
    ptx: Real,
}

const NAMES: [&CStr; 4] = [c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN", c"nvrtcGetPTXSize", c"nvrtcGetPTX"];

impl Library {
    const fn new() -> Library {
        Library { cubin_size: Real::new(), cubin: Real::new(), ptx_size: Real::new(), ptx: Real::new() }
    }

    fn set(&self, [cubin_size, cubin, ptx_size, ptx]: [usize; 4]) {
        self.cubin_size.set(cubin_size);
        self.cubin.set(cubin);
        self.ptx_size.set(ptx_size);
        self.ptx.set(ptx);
    }
}

/// Those that were looked up.
static LIBRARIES: [Library; PLACES] = [const { Library::new() }; PLACES];
static KNOWN: Places = Places::new();
/// The one that the program is linked with.
static LINKED: Library = Library::new();

/// Our two functions for each of them.
macro_rules! ours {
    ($($at:literal)*) => { [$((size_of::<$at> as *const () as usize, get::<$at> as *const () as usize)),*] };
}

fn ours(at: usize) -> (usize, usize) {
    let all: [(usize, usize); PLACES] = ours!(0 1 2 3 4 5 6 7);
    all[at]
}

/// `NVRTC_ERROR_INVALID_PROGRAM`, where there is no library to ask.
const INVALID_PROGRAM: c_int = 4;

/// Ours for `name`, where the library has it. `find` looks a name up as the program does, `behind` behind this library.
pub(super) fn stand_in(name: &str, find: impl Fn(&CStr) -> usize, behind: impl Fn(&CStr) -> usize) -> Option<usize> {
    let asked = NAMES[..2].iter().position(|known| known.to_bytes() == name.as_bytes())?;
    if find(NAMES[asked]) == 0 {
        // The loader says so itself, with the words of its own.
        return None;
    }
    let mut found = NAMES.map(&find);
    // Who asks for a name in no library in particular finds our own export.
    for (address, name) in found.iter_mut().zip(NAMES) {
        let exported = [nvrtcGetCUBINSize as *const () as usize, nvrtcGetCUBIN as *const () as usize];
        if exported.contains(address) {
            *address = behind(name);
        }
    }
    if found.contains(&0) {
        // None, or one so old that it has no cubins: an answer, for our export must not be taken for the library's.
        return Some(0);
    }
    let at = KNOWN.of(found[1]);
    LIBRARIES[at].set(found);
    let (size, get) = ours(at);
    Some(if asked == 0 { size } else { get })
}

/// The library of a program that is linked with it and has looked nothing up.
fn linked() -> &'static Library {
    if LINKED.ptx.get() == 0 {
        LINKED.set(NAMES.map(lookup::next));
    }
    &LINKED
}

fn cubin_size_of(library: &Library, program: Program, size: *mut usize) -> c_int {
    match library.cubin_size.get() {
        0 => INVALID_PROGRAM,
        // SAFETY: the library's function of this signature; its arguments are the program's.
        address => unsafe { std::mem::transmute::<usize, SizeOf>(address)(program, size) },
    }
}

/// The PTX of a program, if there is some.
fn ptx_of(library: &Library, program: Program) -> Option<Vec<u8>> {
    let (size, get) = (library.ptx_size.get(), library.ptx.get());
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

unsafe extern "C" fn size_of<const AT: usize>(program: Program, size: *mut usize) -> c_int {
    // SAFETY: the arguments of this call.
    unsafe { size_from(&LIBRARIES[AT], program, size) }
}

unsafe extern "C" fn get<const AT: usize>(program: Program, cubin: *mut c_char) -> c_int {
    // SAFETY: the arguments of this call.
    unsafe { get_from(&LIBRARIES[AT], program, cubin) }
}

/// # Safety
///
/// As NVRTC's page says.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "NVIDIA's name")]
pub unsafe extern "C" fn nvrtcGetCUBINSize(program: Program, size: *mut usize) -> c_int {
    // SAFETY: the arguments of this call.
    unsafe { size_from(linked(), program, size) }
}

/// # Safety
///
/// As NVRTC's page says.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "NVIDIA's name")]
pub unsafe extern "C" fn nvrtcGetCUBIN(program: Program, cubin: *mut c_char) -> c_int {
    // SAFETY: the arguments of this call.
    unsafe { get_from(linked(), program, cubin) }
}

/// `nvrtcGetCUBINSize`, of this library.
unsafe fn size_from(library: &Library, program: Program, size: *mut usize) -> c_int {
    let mut bytes = 0usize;
    let code = cubin_size_of(library, program, if size.is_null() { size } else { &mut bytes });
    if code != 0 || size.is_null() {
        return code;
    }
    if bytes > 0
        && asked_for()
        && let Some(text) = ptx_of(library, program)
    {
        bytes = image_of("NVRTC", &text).len();
    }
    // SAFETY: not null, and valid by the caller's promise.
    unsafe { size.write(bytes) };
    code
}

/// `nvrtcGetCUBIN`, of this library.
unsafe fn get_from(library: &Library, program: Program, cubin: *mut c_char) -> c_int {
    let mut bytes = 0;
    if asked_for()
        && !cubin.is_null()
        && cubin_size_of(library, program, &mut bytes) == 0
        && bytes > 0
        && let Some(text) = ptx_of(library, program)
    {
        let image = image_of("NVRTC", &text);
        tell();
        // SAFETY: the program has asked `nvrtcGetCUBINSize`, and has room for what that answered.
        unsafe { std::ptr::copy_nonoverlapping(image.as_ptr().cast(), cubin, image.len()) };
        return 0;
    }
    match library.cubin.get() {
        0 => INVALID_PROGRAM,
        // SAFETY: the library's function of this signature; its arguments are the program's.
        address => unsafe { std::mem::transmute::<usize, Get>(address)(program, cubin) },
    }
}
