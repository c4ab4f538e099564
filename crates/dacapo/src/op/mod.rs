//! Ops as values: make one from a closure, or box one.
//!
//! An [`Op`](crate::Op) is GPU work that has not run yet. [`kernels!`](crate::kernels), [`copy`], [`fill`],
//! [`upload`](crate::upload), [`download`](crate::download) and [`raw::foreign`](crate::raw::foreign) make ops;
//! [`from_fn`] makes one from a closure, and [`BoxOp`] is any of them in a box.

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
