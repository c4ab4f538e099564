//! Initialisation, versions, error names.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::CUuuid;

use crate::finding::{Ending, Finding};
use crate::foreign::{get, put};
use crate::sentences::sentence;
use crate::visit::{Answer, Visit};

pub(crate) unsafe fn init(v: &mut Visit<'_>, flags: c_uint) -> Answer {
    if flags != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    v.is_initialised = true;
    Ok(())
}

pub(crate) unsafe fn driver_get_version(v: &mut Visit<'_>, version: *mut c_int) -> Answer {
    // SAFETY: an out pointer of this call.
    unsafe { put(version, v.options.driver_version) }
}

/// No profiler is ever attached, so there is none to start or stop.
pub(crate) unsafe fn profiler(_: &mut Visit<'_>) -> Answer {
    Ok(())
}

pub(crate) unsafe fn get_error_name(_: &mut Visit<'_>, error: CUresult, out: *mut *const c_char) -> Answer {
    let name = error.c_name();
    // SAFETY: an out pointer of this call.
    unsafe { put(out, name.map_or(std::ptr::null(), |name| name.as_ptr())) }?;
    name.map(|_| ()).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

pub(crate) unsafe fn get_error_string(_: &mut Visit<'_>, error: CUresult, out: *mut *const c_char) -> Answer {
    let sentence = sentence(error);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, sentence.map_or(std::ptr::null(), CStr::as_ptr)) }?;
    sentence.map(|_| ()).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

/// Tables of functions that are not public, by their number. NVIDIA's runtime lives on them, and tests with one of them whether
/// the driver is NVIDIA's: this driver is not, and has none. The compilers' question for one leaves no finding: they ask
/// whether a driver is there that could compile with them, and go on without.
pub(crate) unsafe fn get_export_table(v: &mut Visit<'_>, out: *mut *const c_void, id: *const CUuuid) -> Answer {
    // SAFETY: an in pointer of this call.
    let id = unsafe { get(id) }?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, std::ptr::null()) }?;
    if ASKED_BY_COMPILERS.contains(&id.bytes) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let digits: String = id.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let finding =
        Finding::new("unsupported", Ending::Unsupported, format!("the private table {digits} of NVIDIA's driver"))
            .at("cuGetExportTable", "answered CUDA_ERROR_NOT_SUPPORTED")
            .note("NVIDIA's runtime (cudart, and what is linked with it) accepts NVIDIA's driver only")
            .help("use the driver API: see docs/known-differences.md for what runs and what does not");
    v.find_of_call(finding);
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

/// What NVRTC and nvJitLink ask for.
const ASKED_BY_COMPILERS: &[[u8; 16]] = &[];
