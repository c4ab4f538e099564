//! The way down: addresses, streams and kernels by name, for work that this library knows nothing about.
//!
//! Everything that can break a promise is `unsafe` here, and says what it asks for. What goes through [`foreign`] is
//! still ordered, held and freed like all other work.

pub use crate::device::stream::RawStream;
pub use crate::memory::lists::RawSlice;
pub use crate::op::foreign::foreign;
pub use crate::op::raw::{RawArg, RawKernel};
