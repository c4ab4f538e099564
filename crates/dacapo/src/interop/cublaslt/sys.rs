//! cuBLASLt's C interface, as far as it is used here: of versions 12 and 13, in which these parts are the same.
//!
//! Names, numbers and layouts are those of `cublasLt.h` and `library_types.h` (cuBLAS documentation, "Using the cuBLASLt
//! API"). Attributes and types are numbers here: an enumeration of C's may get more values.

use std::ffi::{c_int, c_void};

use dacapo_driver::types::CUstream;

use crate::interop::library::entries;

/// `cublasStatus_t`.
pub(super) type Status = c_int;
/// `CUBLAS_STATUS_SUCCESS`.
pub(super) const SUCCESS: Status = 0;
/// `CUBLAS_STATUS_NOT_SUPPORTED`.
pub(super) const NOT_SUPPORTED: Status = 15;

/// The name of a status.
pub(super) fn status_name(status: Status) -> String {
    let name = match status {
        0 => "CUBLAS_STATUS_SUCCESS",
        1 => "CUBLAS_STATUS_NOT_INITIALIZED",
        3 => "CUBLAS_STATUS_ALLOC_FAILED",
        7 => "CUBLAS_STATUS_INVALID_VALUE",
        8 => "CUBLAS_STATUS_ARCH_MISMATCH",
        11 => "CUBLAS_STATUS_MAPPING_ERROR",
        13 => "CUBLAS_STATUS_EXECUTION_FAILED",
        14 => "CUBLAS_STATUS_INTERNAL_ERROR",
        15 => "CUBLAS_STATUS_NOT_SUPPORTED",
        16 => "CUBLAS_STATUS_LICENSE_ERROR",
        other => return format!("status {other}"),
    };
    name.to_string()
}

// cudaDataType_t
pub(super) const CUDA_R_32F: c_int = 0;
pub(super) const CUDA_R_16F: c_int = 2;
pub(super) const CUDA_R_16BF: c_int = 14;

// cublasComputeType_t
pub(super) const COMPUTE_32F: c_int = 68;
pub(super) const COMPUTE_32F_FAST_TF32: c_int = 77;

// cublasLtMatmulDescAttributes_t
pub(super) const DESC_POINTER_MODE: c_int = 2;
pub(super) const DESC_TRANSA: c_int = 3;
pub(super) const DESC_TRANSB: c_int = 4;
pub(super) const DESC_EPILOGUE: c_int = 7;
pub(super) const DESC_BIAS_POINTER: c_int = 8;

// cublasLtPointerMode_t
pub(super) const POINTER_MODE_DEVICE: c_int = 1;

// cublasOperation_t
pub(super) const OP_N: c_int = 0;
pub(super) const OP_T: c_int = 1;

// cublasLtEpilogue_t: bits
pub(super) const EPILOGUE_DEFAULT: c_int = 1;
pub(super) const EPILOGUE_RELU: c_int = 2;
pub(super) const EPILOGUE_BIAS: c_int = 4;
pub(super) const EPILOGUE_GELU: c_int = 32;

// cublasLtMatrixLayoutAttribute_t
pub(super) const LAYOUT_BATCH_COUNT: c_int = 5;
pub(super) const LAYOUT_STRIDED_BATCH_OFFSET: c_int = 6;

// cublasLtMatmulPreferenceAttributes_t
pub(super) const PREF_MAX_WORKSPACE_BYTES: c_int = 1;
pub(super) const PREF_REDUCTION_SCHEME_MASK: c_int = 3;
pub(super) const PREF_MIN_ALIGNMENT_A_BYTES: c_int = 5;
pub(super) const PREF_MIN_ALIGNMENT_B_BYTES: c_int = 6;
pub(super) const PREF_MIN_ALIGNMENT_C_BYTES: c_int = 7;
pub(super) const PREF_MIN_ALIGNMENT_D_BYTES: c_int = 8;

// cublasLtReductionScheme_t: bits; a sum that is not split is always allowed
pub(super) const REDUCTION_SCHEME_COMPUTE_TYPE: u32 = 2;

/// `cublasLtMatmulAlgo_t`: opaque, and to be copied at will.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Algorithm {
    data: [u64; 8],
}

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct HeuristicResult {
    pub(super) algorithm: Algorithm,
    pub(super) workspace: usize,
    pub(super) state: Status,
    pub(super) waves: f32,
    reserved: [c_int; 4],
}

const _: () = assert!(size_of::<Algorithm>() == 64 && size_of::<HeuristicResult>() == 96);

impl HeuristicResult {
    /// One that nothing has been written to: its state is an error.
    pub(super) const EMPTY: HeuristicResult = HeuristicResult {
        algorithm: Algorithm { data: [0; 8] },
        workspace: 0,
        state: NOT_SUPPORTED,
        waves: 0.0,
        reserved: [0; 4],
    };
}

/// `cublasLtHandle_t`, `cublasLtMatmulDesc_t`, `cublasLtMatrixLayout_t`, `cublasLtMatmulPreference_t`.
pub(super) type Opaque = *mut c_void;

entries! {
    cublasLtGetVersion() -> usize;
    cublasLtCreate(handle: *mut Opaque) -> Status;
    cublasLtDestroy(handle: Opaque) -> Status;
    cublasLtMatmulDescCreate(desc: *mut Opaque, compute: c_int, scale: c_int) -> Status;
    cublasLtMatmulDescDestroy(desc: Opaque) -> Status;
    cublasLtMatmulDescSetAttribute(desc: Opaque, attribute: c_int, value: *const c_void, bytes: usize) -> Status;
    cublasLtMatrixLayoutCreate(layout: *mut Opaque, element: c_int, rows: u64, columns: u64, leading: i64) -> Status;
    cublasLtMatrixLayoutDestroy(layout: Opaque) -> Status;
    cublasLtMatrixLayoutSetAttribute(layout: Opaque, attribute: c_int, value: *const c_void, bytes: usize) -> Status;
    cublasLtMatmulPreferenceCreate(preference: *mut Opaque) -> Status;
    cublasLtMatmulPreferenceDestroy(preference: Opaque) -> Status;
    cublasLtMatmulPreferenceSetAttribute(preference: Opaque, attribute: c_int, value: *const c_void, bytes: usize) -> Status;
    cublasLtMatmulAlgoGetHeuristic(
        handle: Opaque, desc: Opaque, a: Opaque, b: Opaque, c: Opaque, d: Opaque, preference: Opaque, asked: c_int,
        results: *mut HeuristicResult, found: *mut c_int,
    ) -> Status;
    cublasLtMatmul(
        handle: Opaque, desc: Opaque, alpha: *const c_void, a: *const c_void, a_layout: Opaque, b: *const c_void,
        b_layout: Opaque, beta: *const c_void, c: *const c_void, c_layout: Opaque, d: *mut c_void, d_layout: Opaque,
        algorithm: *const Algorithm, workspace: *mut c_void, workspace_bytes: usize, stream: CUstream,
    ) -> Status;
}
