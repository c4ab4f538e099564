//! `cuGetProcAddress`: a name and a version to an address of ours.
//!
//! Answers as an H200's driver (580.159.04) was observed to:
//!
//! - an unknown name, or one that came later than the version: success, a null address, and the status says which;
//! - a version beyond the driver's, or flags it does not know: `CUDA_ERROR_INVALID_VALUE`, nothing written;
//! - the status may be null.
//!
//! Not observed: a null name or address pointer crashes NVIDIA's driver; here they are `CUDA_ERROR_INVALID_VALUE`.

use std::ffi::{CStr, c_char, c_int, c_void};

use dacapo_driver::types::{
    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, CU_GET_PROC_ADDRESS_SUCCESS, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
    CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, CUdriverProcAddressQueryResult,
};
use dacapo_driver::{CUresult, Call, PerThreadTwin};

use crate::absent::{ABSENT, For};
use crate::{export, software};

/// The version the driver claims, as `cuDriverGetVersion` counts.
const DRIVER_VERSION: u32 = 13_000;

/// The flag that asks for a twin. 0 and 1 mean the legacy default stream; a caller that wants the other says so with 2.
const PER_THREAD: u64 = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM as u64;

/// `_ptsz` and `_ptds` came with CUDA 7.0, also for what is older.
const TWINS_SINCE: u32 = 7_000;

/// What was found for a name and a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// This address of ours.
    Address(*mut c_void),
    /// The name is known, and every signature of it is newer.
    TooOld,
    /// No such name.
    Unknown,
}

/// `cuGetProcAddress_v2`.
///
/// # Safety
///
/// - `symbol` is null or a string that ends in NUL.
/// - `pfn` and `status` are each null or valid for a write.
pub unsafe fn answer(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    version: c_int,
    flags: u64,
    status: *mut CUdriverProcAddressQueryResult,
) -> CUresult {
    // A version below 0 is too old for everything, as 0 is.
    let version = u32::try_from(version).unwrap_or(0);
    if symbol.is_null() || pfn.is_null() || version > DRIVER_VERSION || flags > PER_THREAD {
        return CUresult::CUDA_ERROR_INVALID_VALUE;
    }
    // SAFETY: not null, and the caller promises a closing NUL.
    let name = unsafe { CStr::from_ptr(symbol) };
    let (address, outcome) = match find(name.to_bytes(), version, flags == PER_THREAD) {
        Found::Address(address) => (address, CU_GET_PROC_ADDRESS_SUCCESS),
        Found::TooOld => (std::ptr::null_mut(), CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT),
        Found::Unknown => {
            if is_missed(name.to_bytes()) {
                software::unknown_name(&name.to_string_lossy());
            }
            (std::ptr::null_mut(), CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
        }
    };
    // SAFETY: not null, and the caller promises that it can be written.
    unsafe { pfn.write(address) };
    if !status.is_null() {
        // SAFETY: not null, and the caller promises that it can be written.
        unsafe { status.write(outcome) };
    }
    CUresult::CUDA_SUCCESS
}

/// Whether a name that is refused is worth a finding. The empty name is how NVIDIA's runtime says hello. Names that are
/// exported, of graphics, are asked for with all others by cuda-bindings, which misses none of them: a call says enough.
fn is_missed(name: &[u8]) -> bool {
    !name.is_empty() && ABSENT.iter().all(|absent| absent.symbol.as_bytes() != name)
}

/// The newest signature of `name` that `version` knows. Who wants the per-thread default stream gets twins where there are
/// some, and nothing where the version knows only a symbol without its twin.
fn find(name: &[u8], version: u32, per_thread: bool) -> Found {
    let rows = Call::ALL.iter().copied().filter(|call| call.name().as_bytes() == name);
    let rows = rows.flat_map(|call| {
        let plain = (call.since(), For::Plain, export::address(call));
        let twin = (call.since().max(TWINS_SINCE), For::PerThread, export::twin_address(call));
        [Some(plain), (call.per_thread_twin() != PerThreadTwin::None).then_some(twin)].into_iter().flatten()
    });
    let absent = ABSENT.iter().filter(|absent| absent.name.as_bytes() == name && absent.asked != For::Hidden);
    let all: Vec<_> = rows.chain(absent.map(|absent| (absent.since, absent.asked, absent.address()))).collect();
    let has_twins = all.iter().any(|(_, asked, _)| *asked == For::PerThread);
    let asked = if per_thread && has_twins { For::PerThread } else { For::Plain };
    let known = all.iter().filter(|(since, whose, _)| *whose == asked && *since <= version);
    match known.max_by_key(|(since, ..)| *since) {
        Some((.., address)) => Found::Address(*address),
        None if all.is_empty() => Found::Unknown,
        None => Found::TooOld,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_exported_is_not_missed() {
        assert!(is_missed(b"cuNobodyKnowsThis") && is_missed(b"cuGLInit2"));
        assert!(!is_missed(b"") && !is_missed(b"cuGLInit") && !is_missed(b"cuEGLStreamProducerConnect"));
    }
}
