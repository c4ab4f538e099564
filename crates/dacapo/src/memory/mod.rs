//! Memory: what the user holds, what a recording asks for, and how both are named.
//!
//! - [`Buffer`] is to [`Slice`] what `Vec` is to `[T]`; [`Shared`] is a read-only second handle; [`Scalar`] is one value.
//! - [`Temp`] is planned memory of a recording: it cannot leave the closure, and has no address before it is planned.
//! - An [`Arena`] is memory that temps are laid out in, of a size that the caller chose.
//! - [`HostBuffer`] is page-locked host memory with copying access only.
//! - An [`Allocation`] is what all of them hold. It has a number for as long as anyone holds it, and a borrowed slice is
//!   that number and an offset: looked up when it is recorded, in O(1).

pub(crate) mod access;
mod allocation;
mod arena;
pub(crate) mod buffer;
mod growing;
pub(crate) mod host;
mod host_slice;
pub(crate) mod lists;
mod make;
mod numbers;
mod reading;
pub(crate) mod scalar;
pub(crate) mod slice;
pub(crate) mod temp;
mod transfer;

pub use crate::device::memory_report::MemoryReport;
pub use crate::held::Held;
pub(crate) use access::{Access, Extent, Mode};
#[cfg(feature = "cudarc")]
pub(crate) use allocation::Owner;
pub(crate) use allocation::{Allocation, Kind};
pub use arena::Arena;
pub(crate) use arena::{InArena, written};
pub(crate) use buffer::Buffer;
pub use buffer::Shared;
pub(crate) use growing::GrowingArena;
pub(crate) use host::{Gate, HostBuffer};
pub(crate) use host_slice::HostSide;
pub use host_slice::{FromHost, HostSlice, HostSliceMut, ToHost};
pub use lists::{Reads, Writes};
pub(crate) use lists::{raw_places, stand_in_address};
pub use reading::Reading;
pub(crate) use scalar::{Element, Scalar};
pub(crate) use slice::Slice;
pub(crate) use temp::Temp;
pub use temp::TempScalar;
