//! What makes ops: kernels, copies, fills, transfers, foreign work.

#[macro_use]
mod kernels;
mod foreign;
mod own;
mod raw;
mod transfer;

pub use foreign::foreign;
#[cfg(feature = "cudarc")]
pub(crate) use foreign::foreign_at;
pub use kernels::kernel_op;
pub use raw::{RawArg, RawKernel};
pub use transfer::{copy, download, fill, upload};
