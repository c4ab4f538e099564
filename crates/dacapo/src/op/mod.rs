//! What makes ops: kernels, copies, fills, transfers, foreign work.

#[macro_use]
pub(crate) mod kernels;
pub(crate) mod foreign;
mod own;
pub(crate) mod raw;
pub(crate) mod transfer;

#[cfg(feature = "cudarc")]
pub(crate) use foreign::foreign_at;
pub(crate) use transfer::{copy, fill};

pub use crate::record::{BoxOp, from_fn};
