//! Device memory and page-locked host memory.
//!
//! [`Buffer`] owns device memory and [`Slice`] borrows it, as `Vec` and `[T]` do; [`Scalar`] is one value, and
//! [`Shared`] a read-only second handle. [`Temp`] is scratch memory of a recording, and an [`Arena`] is memory to place
//! temps in. [`HostBuffer`] is page-locked host memory, [`HostSlice`] a part of it. [`Reading`] is a copy to the host
//! in flight. [`MemoryReport`] and [`Held`] say what memory is used for.

// How it works: an `Allocation` is what all of them hold. It has a number for as long as anyone holds it, and a
// borrowed slice is that number and an offset, looked up in O(1) when it is recorded.

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
pub(crate) use access::{Access, Accesses, Extent, Mode};
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
