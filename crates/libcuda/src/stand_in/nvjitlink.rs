//! nvJitLink: PTX is linked here, link-time code by NVIDIA's linker, and what comes of both is PTX.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dacapo_sim::fatbin;

use super::{PLACES, Places, Real, tell};

type Handle = *mut c_void;

const PTX_COMPILE: c_int = 4;
const INTERNAL: c_int = 6;

/// `nvJitLinkInputType`.
const LTOIR: c_int = 3;
const OBJECT: c_int = 5;
const LIBRARY: c_int = 6;

/// The functions, ours and the library's own.
macro_rules! functions {
    ($($name:ident($($arg:ident: $ty:ty),*) as $ours:ident;)*) => {
        #[allow(non_upper_case_globals, reason = "NVIDIA's names")]
        mod reals {
            use super::{PLACES, Real};
            $(pub(super) static $name: [Real; PLACES] = [const { Real::new() }; PLACES];)*
        }

        $(
            /// The own one of the library at a place.
            #[allow(non_snake_case, reason = "NVIDIA's name")]
            unsafe fn $name<const AT: usize>($($arg: $ty),*) -> c_int {
                match reals::$name[AT].get() {
                    0 => INTERNAL,
                    // SAFETY: the address that the loader gave for this name; the arguments are the caller's promise.
                    address => unsafe {
                        std::mem::transmute::<usize, unsafe extern "C" fn($($ty),*) -> c_int>(address)($($arg),*)
                    },
                }
            }
        )*

        /// Ours for `name`, where the library has it. `find` looks a name up as the program does.
        pub(super) fn stand_in(name: &str, find: impl Fn(&CStr) -> usize) -> Option<usize> {
            let ours: [usize; PLACES] = match plain(name)? {
                $(stringify!($name) => each_place!($ours),)*
                _ => return None,
            };
            let find = |plainly: &str| {
                let spelled = CString::new(name.replace(plain(name)?, plainly)).ok()?;
                Some(find(&spelled)).filter(|address| *address != 0)
            };
            // All of them, so that one that is called has those that it needs. The first is what the library is known by.
            let found = [$(find(stringify!($name))?),*];
            let at = KNOWN.of(found[0]);
            [$(&reals::$name[at]),*].into_iter().zip(found).for_each(|(real, address)| real.set(address));
            Some(ours[at])
        }
    };
}

/// A function of ours for each library.
macro_rules! each_place {
    ($ours:ident) => { each_place!($ours: 0 1 2 3 4 5 6 7) };
    ($ours:ident: $($at:literal)*) => { [$($ours::<$at> as *const () as usize),*] };
}

static KNOWN: Places = Places::new();

functions! {
    nvJitLinkCreate(handle: *mut Handle, count: u32, options: *const *const c_char) as create;
    nvJitLinkDestroy(handle: *mut Handle) as destroy;
    nvJitLinkAddData(handle: Handle, kind: c_int, data: *const c_void, size: usize, name: *const c_char) as add_data;
    nvJitLinkAddFile(handle: Handle, kind: c_int, path: *const c_char) as add_file;
    nvJitLinkComplete(handle: Handle) as complete;
    nvJitLinkGetLinkedCubinSize(handle: Handle, size: *mut usize) as cubin_size;
    nvJitLinkGetLinkedCubin(handle: Handle, cubin: *mut c_void) as cubin;
    nvJitLinkGetLinkedPtxSize(handle: Handle, size: *mut usize) as ptx_size;
    nvJitLinkGetLinkedPtx(handle: Handle, text: *mut c_char) as ptx;
    nvJitLinkGetErrorLogSize(handle: Handle, size: *mut usize) as error_log_size;
    nvJitLinkGetErrorLog(handle: Handle, log: *mut c_char) as error_log;
}

/// `nvJitLinkCreate` of `__nvJitLinkCreate_13_0`, as the header spells it.
fn plain(name: &str) -> Option<&str> {
    let bare = name.strip_prefix("__").unwrap_or(name);
    if !bare.starts_with("nvJitLink") {
        return None;
    }
    Some(bare.split('_').next().unwrap_or(bare))
}

/// A link in progress.
#[derive(Default)]
struct Link {
    /// Texts with their names.
    texts: Vec<(String, Vec<u8>)>,
    /// NVIDIA's linker has inputs of its own: link-time code, or machine code.
    theirs: Theirs,
    /// The highest architecture that is taken from a fat binary.
    architecture: u32,
    errors: String,
    image: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Theirs {
    #[default]
    Nothing,
    LinkTimeCode,
    MachineCode,
}

fn links() -> MutexGuard<'static, Option<HashMap<(usize, usize), Link>>> {
    static LINKS: Mutex<Option<HashMap<(usize, usize), Link>>> = Mutex::new(None);
    let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
    links.get_or_insert_default();
    links
}

/// What `with` says of the link behind `handle`, if it is one that was made here.
fn of<T>(at: usize, handle: Handle, with: impl FnOnce(&mut Link) -> T) -> Option<T> {
    links().as_mut()?.get_mut(&(at, handle as usize)).map(with)
}

unsafe extern "C" fn create<const AT: usize>(handle: *mut Handle, count: u32, options: *const *const c_char) -> c_int {
    // SAFETY: an array of `count` C strings, by this call's page.
    let mut given: Vec<*const c_char> =
        (0..if options.is_null() { 0 } else { count as usize }).map(|at| unsafe { *options.add(at) }).collect();
    let words: Vec<String> = given
        .iter()
        .filter(|word| !word.is_null())
        // SAFETY: C strings, as above.
        .map(|word| unsafe { CStr::from_ptr(*word) }.to_string_lossy().into_owned())
        .collect();
    if words.iter().any(|word| word == "-lto") && !words.iter().any(|word| word == "-ptx") {
        given.push(c"-ptx".as_ptr());
    }
    // SAFETY: the arguments of this call, and one option more.
    let code = unsafe { nvJitLinkCreate::<AT>(handle, given.len() as u32, given.as_ptr()) };
    if code == 0 && !handle.is_null() {
        let architecture = words.iter().find_map(|word| {
            let digits: String = word.strip_prefix("-arch=")?.chars().filter(char::is_ascii_digit).collect();
            digits.parse().ok()
        });
        let link = Link { architecture: architecture.unwrap_or(90), ..Link::default() };
        // SAFETY: the library has put a handle there.
        let key = unsafe { *handle } as usize;
        links().get_or_insert_default().insert((AT, key), link);
    }
    code
}

unsafe extern "C" fn destroy<const AT: usize>(handle: *mut Handle) -> c_int {
    if !handle.is_null() {
        // SAFETY: a handle, by this call's page.
        let key = unsafe { *handle } as usize;
        links().get_or_insert_default().remove(&(AT, key));
    }
    // SAFETY: the argument of this call.
    unsafe { nvJitLinkDestroy::<AT>(handle) }
}

/// What an input has for us.
enum Input {
    Texts(Vec<(String, Vec<u8>)>),
    Theirs(Theirs),
    /// Machine code for the host, or for no device here: left out.
    Nothing,
}

fn input(kind: c_int, bytes: &[u8], name: &str, architecture: u32) -> Input {
    if kind == LTOIR {
        return Input::Theirs(Theirs::LinkTimeCode);
    }
    if let Ok(image) = fatbin::choose(bytes, architecture) {
        return match image {
            fatbin::Image::Text { bytes, name: own } => Input::Texts(vec![(own.unwrap_or(name.to_string()), bytes)]),
            fatbin::Image::Linked(texts) => Input::Texts(texts),
            fatbin::Image::Nothing(_) => {
                let has_code =
                    |entries: Vec<fatbin::Entry<'_>>| entries.iter().any(|entry| entry.kind == fatbin::Kind::Other(8));
                let link_time = fatbin::entries(bytes).is_ok_and(has_code);
                Input::Theirs(if link_time { Theirs::LinkTimeCode } else { Theirs::MachineCode })
            }
        };
    }
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or(bytes);
    if dacapo_sim::is_ptx(text) {
        return Input::Texts(vec![(name.to_string(), text.to_vec())]);
    }
    let objects = if fatbin::is_archive(bytes) { fatbin::members(bytes) } else { vec![bytes] };
    let containers: Vec<&[u8]> = objects.into_iter().filter_map(fatbin::containers_of).flatten().collect();
    let mut texts = Vec::new();
    for container in containers {
        match fatbin::choose(container, architecture) {
            Ok(fatbin::Image::Text { bytes, name: own }) => texts.push((own.unwrap_or(name.to_string()), bytes)),
            Ok(fatbin::Image::Linked(linked)) => texts.extend(linked),
            _ => {}
        }
    }
    match kind {
        _ if !texts.is_empty() => Input::Texts(texts),
        // NVIDIA's device runtime, as a rule, which has machine code only.
        OBJECT | LIBRARY => Input::Nothing,
        _ => Input::Theirs(Theirs::MachineCode),
    }
}

/// Takes an input; `None` where it is for NVIDIA's linker.
fn add<const AT: usize>(handle: Handle, kind: c_int, bytes: &[u8], name: &str) -> Option<c_int> {
    of(AT, handle, |link| match input(kind, bytes, name, link.architecture) {
        Input::Nothing => Some(0),
        Input::Theirs(theirs) => {
            link.theirs = theirs;
            None
        }
        Input::Texts(texts) => {
            for (name, text) in texts {
                if let Err(words) = dacapo_sim::check_text(&text, &name) {
                    link.errors.push_str(&words);
                    return Some(PTX_COMPILE);
                }
                link.texts.push((name, text));
            }
            Some(0)
        }
    })?
}

unsafe extern "C" fn add_data<const AT: usize>(
    handle: Handle,
    kind: c_int,
    data: *const c_void,
    size: usize,
    name: *const c_char,
) -> c_int {
    if !data.is_null() && size > 0 && size <= isize::MAX as usize {
        // SAFETY: `size` bytes and a C string or null, by this call's page.
        let (bytes, name) = unsafe {
            let name = if name.is_null() { c"PTX" } else { CStr::from_ptr(name) };
            (std::slice::from_raw_parts(data.cast::<u8>(), size), name.to_string_lossy())
        };
        if let Some(code) = add::<AT>(handle, kind, bytes, &name) {
            return code;
        }
    }
    // SAFETY: the arguments of this call.
    unsafe { nvJitLinkAddData::<AT>(handle, kind, data, size, name) }
}

unsafe extern "C" fn add_file<const AT: usize>(handle: Handle, kind: c_int, path: *const c_char) -> c_int {
    if !path.is_null() {
        // SAFETY: a C string, by this call's page.
        let name = unsafe { CStr::from_ptr(path) }.to_string_lossy().into_owned();
        if let Ok(bytes) = std::fs::read(&name)
            && let Some(code) = add::<AT>(handle, kind, &bytes, &name)
        {
            return code;
        }
    }
    // SAFETY: the arguments of this call.
    unsafe { nvJitLinkAddFile::<AT>(handle, kind, path) }
}

/// The PTX that NVIDIA's linker has made of link-time code.
fn linked_by_them<const AT: usize>(handle: Handle) -> Result<Vec<u8>, c_int> {
    let mut size = 0;
    // SAFETY: a link that is complete, and a buffer of the size that it names.
    unsafe {
        match nvJitLinkGetLinkedPtxSize::<AT>(handle, &mut size) {
            0 => {}
            code => return Err(code),
        }
        let mut text = vec![0u8; size];
        match nvJitLinkGetLinkedPtx::<AT>(handle, text.as_mut_ptr().cast()) {
            0 => Ok(text),
            code => Err(code),
        }
    }
}

unsafe extern "C" fn complete<const AT: usize>(handle: Handle) -> c_int {
    let Some((theirs, has_texts)) = of(AT, handle, |link| (link.theirs, !link.texts.is_empty())) else {
        // SAFETY: the argument of this call.
        return unsafe { nvJitLinkComplete::<AT>(handle) };
    };
    if theirs != Theirs::Nothing || !has_texts {
        // SAFETY: as above.
        let code = unsafe { nvJitLinkComplete::<AT>(handle) };
        if code != 0 || theirs != Theirs::LinkTimeCode {
            return code;
        }
        match linked_by_them::<AT>(handle) {
            Ok(text) => {
                let text = text.split(|byte| *byte == 0).next().unwrap_or(&text).to_vec();
                of(AT, handle, |link| link.texts.push(("link-time code".to_string(), text)));
            }
            Err(code) => return code,
        }
    }
    of(AT, handle, |link| match dacapo_sim::linked_image(&link.texts) {
        Ok(image) => {
            link.image = Some(image);
            0
        }
        Err(words) => {
            link.errors.push_str(&words);
            INTERNAL
        }
    })
    .unwrap_or(INTERNAL)
}

unsafe extern "C" fn cubin_size<const AT: usize>(handle: Handle, size: *mut usize) -> c_int {
    match of(AT, handle, |link| link.image.as_ref().map(Vec::len)).flatten() {
        Some(bytes) if !size.is_null() => {
            // SAFETY: not null, and valid by the caller's promise.
            unsafe { size.write(bytes) };
            0
        }
        // SAFETY: the arguments of this call.
        _ => unsafe { nvJitLinkGetLinkedCubinSize::<AT>(handle, size) },
    }
}

unsafe extern "C" fn cubin<const AT: usize>(handle: Handle, cubin: *mut c_void) -> c_int {
    match of(AT, handle, |link| link.image.clone()).flatten() {
        Some(image) if !cubin.is_null() => {
            tell();
            // SAFETY: the program has room for what `nvJitLinkGetLinkedCubinSize` answered.
            unsafe { std::ptr::copy_nonoverlapping(image.as_ptr(), cubin.cast(), image.len()) };
            0
        }
        // SAFETY: the arguments of this call.
        _ => unsafe { nvJitLinkGetLinkedCubin::<AT>(handle, cubin) },
    }
}

unsafe extern "C" fn ptx_size<const AT: usize>(handle: Handle, size: *mut usize) -> c_int {
    // SAFETY: the arguments of this call.
    unsafe { nvJitLinkGetLinkedPtxSize::<AT>(handle, size) }
}

unsafe extern "C" fn ptx<const AT: usize>(handle: Handle, text: *mut c_char) -> c_int {
    // SAFETY: the arguments of this call.
    unsafe { nvJitLinkGetLinkedPtx::<AT>(handle, text) }
}

unsafe extern "C" fn error_log_size<const AT: usize>(handle: Handle, size: *mut usize) -> c_int {
    match of(AT, handle, |link| link.errors.len()) {
        Some(length) if length > 0 && !size.is_null() => {
            // SAFETY: not null, and valid by the caller's promise.
            unsafe { size.write(length + 1) };
            0
        }
        // SAFETY: the arguments of this call.
        _ => unsafe { nvJitLinkGetErrorLogSize::<AT>(handle, size) },
    }
}

unsafe extern "C" fn error_log<const AT: usize>(handle: Handle, log: *mut c_char) -> c_int {
    match of(AT, handle, |link| link.errors.clone()) {
        Some(words) if !words.is_empty() && !log.is_null() => {
            // SAFETY: the program has room for what `nvJitLinkGetErrorLogSize` answered.
            unsafe {
                std::ptr::copy_nonoverlapping(words.as_ptr().cast(), log, words.len());
                log.add(words.len()).write(0);
            }
            0
        }
        // SAFETY: the arguments of this call.
        _ => unsafe { nvJitLinkGetErrorLog::<AT>(handle, log) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_as_the_header_spells_them() {
        assert_eq!(plain("nvJitLinkCreate"), Some("nvJitLinkCreate"));
        assert_eq!(plain("__nvJitLinkCreate_13_0"), Some("nvJitLinkCreate"));
        assert_eq!(plain("nvrtcGetCUBIN"), None);
        assert!(stand_in("nvJitLinkVersion", |_| 1).is_none());
        assert!(stand_in("nvJitLinkCreate", |_| 0).is_none(), "where the library has none, there is none");
    }
}
