//! The C types of NCCL: ours, written from the layouts of its header. Enumerations are plain integers with constants, because a
//! library may answer values that no header of today names.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, reason = "the header's own names")]

pub use std::ffi::{c_int, c_uint, c_void};

pub use dacapo_driver::types::CUstream;

pub use crate::result::ncclResult;

/// A communicator: an opaque handle, never followed by us.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ncclComm(pub *mut c_void);

impl ncclComm {
    /// The null handle.
    pub const NULL: ncclComm = ncclComm(std::ptr::null_mut());

    /// Whether this is the null handle.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The handle as a number.
    pub fn bits(self) -> u64 {
        self.0 as usize as u64
    }

    /// A handle from a number.
    pub fn from_bits(bits: u64) -> ncclComm {
        ncclComm(bits as usize as *mut c_void)
    }
}

impl Default for ncclComm {
    fn default() -> Self {
        Self::NULL
    }
}

// SAFETY: a handle is a token that is compared and handed back to the library; nothing on this side follows it.
unsafe impl Send for ncclComm {}
// SAFETY: as for Send; sharing a token shares nothing.
unsafe impl Sync for ncclComm {}

/// Bytes that all ranks of a communicator are given: who made them tells the others.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ncclUniqueId {
    pub internal: [u8; 128],
}

impl std::fmt::Debug for ncclUniqueId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It is a secret of the ranks: who knows it can join.
        f.write_str("ncclUniqueId")
    }
}

/// How a communicator is made: the fields of NCCL 2.14. A newer library takes its own defaults for what came later, because
/// `size` and `version` say what is there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ncclConfig {
    pub size: usize,
    pub magic: c_uint,
    pub version: c_uint,
    /// 0: calls answer `ncclInProgress` instead of waiting.
    pub blocking: c_int,
}

impl ncclConfig {
    /// Calls that wait, or that do not.
    pub fn new(blocking: bool) -> ncclConfig {
        ncclConfig {
            size: size_of::<ncclConfig>(),
            magic: 0xcafe_beef,
            version: 21_400,
            blocking: c_int::from(blocking),
        }
    }
}

pub type ncclDataType = c_int;
pub const ncclInt8: ncclDataType = 0;
pub const ncclUint8: ncclDataType = 1;
pub const ncclInt32: ncclDataType = 2;
pub const ncclUint32: ncclDataType = 3;
pub const ncclInt64: ncclDataType = 4;
pub const ncclUint64: ncclDataType = 5;
pub const ncclFloat16: ncclDataType = 6;
pub const ncclFloat32: ncclDataType = 7;
pub const ncclFloat64: ncclDataType = 8;
pub const ncclBfloat16: ncclDataType = 9;

pub type ncclRedOp = c_int;
pub const ncclSum: ncclRedOp = 0;
pub const ncclProd: ncclRedOp = 1;
pub const ncclMax: ncclRedOp = 2;
pub const ncclMin: ncclRedOp = 3;
pub const ncclAvg: ncclRedOp = 4;
