//! The shared library: which file, and where an entry point is in it.
//!
//! Guarantees: an address handed out belongs to a function with the signature of the row it was asked for, and stays
//! valid for the life of the process, because a library is never closed (see the parent's documentation for why).

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::NonNull;

use super::LoadError;
use crate::types::{CU_GET_PROC_ADDRESS_SUCCESS, CUdriverProcAddressQueryResult};
use crate::{CUresult, Call};

/// What is tried, in order, when no file is named. The last is where Windows puts it for WSL2.
pub const SEARCHED: [&str; 3] = ["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"];

/// An opened library that stays open.
pub struct Library(&'static libloading::Library);

/// Opens the first of `candidates` that can be opened, and says which.
pub fn open_first(candidates: &[PathBuf]) -> Result<(Library, PathBuf), LoadError> {
    let mut tried = Vec::new();
    for path in candidates {
        if path.as_os_str().is_empty() {
            // An empty name would open the running program itself.
            tried.push((path.clone(), "the name is empty".to_string()));
            continue;
        }
        // SAFETY: opening runs the library's initialisers. Whoever named the file has promised that they do no harm
        // (`open_path`), or it is the system's, or of who started this process (`open`).
        match unsafe { libloading::Library::new(path) } {
            Ok(library) => return Ok((Library(Box::leak(Box::new(library))), path.clone())),
            Err(error) => {
                // The loader's own words are one level down.
                let reason = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                tried.push((path.clone(), reason));
            }
        }
    }
    Err(LoadError::LibraryNotFound { tried })
}

impl Library {
    /// The address of an exported symbol.
    pub fn symbol(&self, name: &str) -> Option<NonNull<c_void>> {
        // SAFETY: a symbol's address is asked for as a plain pointer and nothing is done with it here.
        let symbol = unsafe { self.0.get::<*mut c_void>(name) }.ok()?;
        // SAFETY: the library is never closed, so the address may outlive the borrow.
        NonNull::new(unsafe { symbol.try_as_raw_ptr() }?)
    }

    /// The address of a row's entry point; `ask` is that of `cuGetProcAddress_v2`, where the library has it.
    ///
    /// The exported symbol comes first, although NVIDIA recommends `cuGetProcAddress`: a symbol names ONE signature for
    /// ever (`cuGraphAddNode_v2`), while `cuGetProcAddress` takes the manual's name and a version and chooses the
    /// signature. Too low a version gives an older one, too high a newer one, and the call would then pass the wrong
    /// arguments. It is asked only for what is not exported, with exactly the version that brought the row's signature.
    pub fn entry_point(&self, call: Call, ask: Option<NonNull<c_void>>) -> Option<NonNull<c_void>> {
        self.symbol(call.symbol()).or_else(|| ask_driver(ask?, call))
    }
}

/// `cuGetProcAddress_v2`.
type AskFn =
    unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64, *mut CUdriverProcAddressQueryResult) -> CUresult;

fn ask_driver(ask: NonNull<c_void>, call: Call) -> Option<NonNull<c_void>> {
    // SAFETY: `ask` is the address of the symbol `cuGetProcAddress_v2`, which has this signature.
    let ask = unsafe { std::mem::transmute::<NonNull<c_void>, AskFn>(ask) };
    let name = CString::new(call.name()).ok()?;
    let version = c_int::try_from(call.since()).ok()?;
    let (mut address, mut status) = (std::ptr::null_mut(), CU_GET_PROC_ADDRESS_SUCCESS);
    // SAFETY: the name ends in NUL, and both out pointers are valid for one write. Flags 0: the legacy default stream.
    let answer = unsafe { ask(name.as_ptr(), &raw mut address, version, 0, &raw mut status) };
    // A driver answers success and null for a name it does not know (observed); both must say yes.
    if answer.is_success() && status == CU_GET_PROC_ADDRESS_SUCCESS { NonNull::new(address) } else { None }
}

/// The file that `address` was mapped from, as Linux tells it: a library opened by its short name is thereby named in full.
pub fn file_of(address: NonNull<c_void>) -> Option<PathBuf> {
    let address = address.as_ptr() as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    // 7f00000000-7f00001000 r-xp 00000000 08:01 1234    /usr/lib/libcuda.so.580.95
    maps.lines().find_map(|line| {
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        let inside = (usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?).contains(&address);
        let path = &line[line.find('/')?..];
        inside.then(|| PathBuf::from(path))
    })
}
