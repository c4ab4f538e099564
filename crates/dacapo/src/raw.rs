//! The unsafe layer: addresses, stream handles and undeclared kernels, for code that this library knows nothing about.
//!
//! [`foreign`] makes another library's work an op, so that it can be part of a graph. [`RawKernel`] launches an entry
//! point with any [`RawArg`]s. [`RawStream`] and [`RawSlice`] are the handles and addresses that other libraries take.
//!
//! Everything here that can break a promise is `unsafe` and lists its conditions. What goes through [`foreign`] is
//! still ordered, kept alive and freed like all other work.

pub use crate::device::stream::RawStream;
pub use crate::memory::lists::RawSlice;
pub use crate::op::foreign::foreign;
pub use crate::op::raw::{RawArg, RawKernel};
