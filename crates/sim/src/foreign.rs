//! Pointers and functions of the program: the only file that follows an address that C code gave us, apart from
//! the memory itself.
//!
//! What a call may read and write through its pointers is stated by the driver API's page for it, and is the
//! caller's promise (`trait Driver` says so once for all calls). The functions here add what can be checked:
//! null answers `INVALID_VALUE`.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::CUstream;

use crate::model::work::{CallbackWork, HostWork, Work};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// Writes an answer where the program wants it.
///
/// # Safety
///
/// - `out` is null, or valid for writing a `T`.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) -> Result<(), CUresult> {
    if out.is_null() {
        return Err(INVALID);
    }
    // SAFETY: not null, so valid for a write by the caller's promise; unaligned because C code packs what it likes.
    unsafe { out.write_unaligned(value) };
    Ok(())
}

/// Writes an answer if the program wants it.
///
/// # Safety
///
/// - `out` is null, or valid for writing a `T`.
pub(crate) unsafe fn put_optional<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: as in `put`.
        unsafe { out.write_unaligned(value) };
    }
}

/// Reads an argument that is given by address.
///
/// # Safety
///
/// - `from` is null, or valid for reading a `T`.
pub(crate) unsafe fn get<T: Copy>(from: *const T) -> Result<T, CUresult> {
    if from.is_null() {
        return Err(INVALID);
    }
    // SAFETY: not null, so valid for a read by the caller's promise.
    Ok(unsafe { from.read_unaligned() })
}

/// Reads an array of `count` elements; none may be given as null.
///
/// # Safety
///
/// - `from` is null, or valid for reading `count` elements.
pub(crate) unsafe fn list<T: Copy>(from: *const T, count: usize) -> Result<Vec<T>, CUresult> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // A count no array can have is a wild size, not a reason to ask for that much memory.
    if from.is_null() || count > 1 << 24 {
        return Err(INVALID);
    }
    // SAFETY: not null, and valid for `count` elements by the caller's promise.
    Ok((0..count).map(|at| unsafe { from.add(at).read_unaligned() }).collect())
}

/// Reads a C string.
///
/// # Safety
///
/// - `text` is null, or a string with a NUL at its end.
pub(crate) unsafe fn text(text: *const c_char) -> Result<String, CUresult> {
    if text.is_null() {
        return Err(INVALID);
    }
    // SAFETY: not null, and NUL terminated by the caller's promise.
    Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Copies `bytes` bytes out of the program's memory.
///
/// # Safety
///
/// - `address` is valid for reading `bytes` bytes.
pub(crate) unsafe fn read_host(address: u64, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    // SAFETY: the source is valid by the caller's promise, the target is a fresh vector of that length.
    unsafe { std::ptr::copy_nonoverlapping(address as usize as *const u8, out.as_mut_ptr(), bytes) };
    out
}

/// Copies `data` into the program's memory.
///
/// # Safety
///
/// - `address` is valid for writing `data.len()` bytes.
pub(crate) unsafe fn write_host(address: u64, data: &[u8]) {
    // SAFETY: the target is valid by the caller's promise; `data` is memory of ours and cannot overlap it.
    unsafe { std::ptr::copy(data.as_ptr(), address as usize as *mut u8, data.len()) };
}

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a host function: every driver call is refused there.
pub(crate) fn in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// A host function or stream callback whose turn has come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostCall {
    Host(HostWork),
    Callback(CallbackWork, CUresult),
}

impl HostCall {
    /// The work that this call is.
    pub(crate) fn work(self) -> Work {
        match self {
            HostCall::Host(work) => Work::Host(work),
            HostCall::Callback(work, _) => Work::Callback(work),
        }
    }

    /// Calls it, on this thread, with no lock held.
    pub(crate) fn perform(self) {
        let before = IN_HOST_FUNCTION.replace(true);
        match self {
            HostCall::Host(work) => {
                // SAFETY: `function` came from a non-null `CUhostFn` argument. The program promised with that call
                // that the function may be called with `data` when its turn comes.
                let function: unsafe extern "C" fn(*mut c_void) = unsafe { std::mem::transmute(work.function) };
                // SAFETY: as above.
                unsafe { function(work.data as *mut c_void) };
            }
            HostCall::Callback(work, status) => {
                // SAFETY: as above, for a non-null `CUstreamCallback`.
                let function: unsafe extern "C" fn(CUstream, CUresult, *mut c_void) =
                    unsafe { std::mem::transmute(work.function) };
                // SAFETY: as above.
                unsafe { function(CUstream::from_bits(work.stream), status, work.data as *mut c_void) };
            }
        }
        IN_HOST_FUNCTION.set(before);
    }
}
