//! NVRTC's C interface, as far as it is used here (NVRTC documentation, "User Interface"). It has been the same since CUDA 8.

use std::ffi::{c_char, c_int, c_void};

use crate::interop::library::entries;

/// `nvrtcResult`.
pub(super) type Status = c_int;
/// `NVRTC_SUCCESS`.
pub(super) const SUCCESS: Status = 0;
/// `NVRTC_ERROR_COMPILATION`.
pub(super) const COMPILATION: Status = 6;
/// `nvrtcProgram`.
pub(super) type Program = *mut c_void;

entries! {
    nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> Status;
    nvrtcGetErrorString(status: Status) -> *const c_char;
    nvrtcGetNumSupportedArchs(count: *mut c_int) -> Status;
    nvrtcGetSupportedArchs(architectures: *mut c_int) -> Status;
    nvrtcCreateProgram(
        program: *mut Program, source: *const c_char, name: *const c_char, headers: c_int, texts: *const *const c_char,
        names: *const *const c_char,
    ) -> Status;
    nvrtcDestroyProgram(program: *mut Program) -> Status;
    nvrtcAddNameExpression(program: Program, expression: *const c_char) -> Status;
    nvrtcGetLoweredName(program: Program, expression: *const c_char, name: *mut *const c_char) -> Status;
    nvrtcCompileProgram(program: Program, options: c_int, texts: *const *const c_char) -> Status;
    nvrtcGetProgramLogSize(program: Program, bytes: *mut usize) -> Status;
    nvrtcGetProgramLog(program: Program, text: *mut c_char) -> Status;
    nvrtcGetPTXSize(program: Program, bytes: *mut usize) -> Status;
    nvrtcGetPTX(program: Program, text: *mut c_char) -> Status;
}
