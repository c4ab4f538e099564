//! Initialisation, versions, error names.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{CStr, c_char, c_int, c_uint};

use dacapo_driver::CUresult;

use crate::foreign::put;
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
