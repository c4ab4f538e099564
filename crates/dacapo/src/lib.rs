//! GPU work as values: run it now on a stream, or record it once and replay it many times as a CUDA graph.
//!
//! Safe code cannot break it: nothing a replay touches is freed, nothing races, no stream is left capturing, and no
//! number is frozen in silence.
//!
//! Where to start: a [`Device`] makes memory ([`Buffer`], [`Scalar`], [`HostBuffer`]) and [`Stream`]s; [`kernels!`] makes
//! typed ops of a module's entry points; [`Stream::run`] runs an [`Op`] now, [`Device::record`] makes a [`Graph`] of it;
//! a [`Slot`] is a number that changes between replays. The README's example is all of these in twenty lines.
//!
//! How it works, in reading order: `record` takes ops down as recipes, `plan` orders them by what they touch, `lower`
//! makes driver objects of them, `graph` replays, `device` holds drivers, streams, memory and what was dropped; the
//! crate `dacapo-ledger` decides who waits for whom.
//!
//! # What safe code can rely on
//!
//! 1. Nothing that a replay, running or yet to come, touches is freed, moved or handed to someone else.
//! 2. Two accesses to the same bytes, one of them a write, are never unordered: inside a graph by edges, between streams,
//!    graphs and the host by the ledger.
//! 3. A declared kernel is launched only when its conditions hold, alignment included.
//! 4. No stream is ever left capturing; after any error but a fault that breaks the context, everything goes on working.
//!    After such a fault every call answers with it, names the launches in flight, and nothing hangs.
//! 5. What is frozen in a graph is visible in the source as [`baked`], or inside `unsafe` work.
//! 6. An error names the op that caused it, its line, the rule, and what to do.
//! 7. A drop makes no driver call, waits for no device, and runs on any thread, also when the context is gone. (A
//!    [`capture`] guard ends its capture: that is its purpose. The last handle on a device gives the device back.)
//!
//! A graph is bound to memory, not to variables. Between launches the memory is yours. Every call that touches it, from any
//! thread or stream, takes effect in the order in which the calls were made.

#[macro_use]
pub mod op;
mod arrange;
pub mod capture;
pub mod device;
mod element;
mod error;
pub mod graph;
mod held;
pub mod inspect;
pub mod interop;
mod kernel;
mod lower;
pub mod memory;
mod nesting;
mod plan;
mod pool;
pub mod port;
pub mod profile;
pub mod random;
pub mod raw;
mod record;
pub mod shapes;
mod trace;
mod value;

pub use bytemuck;
pub use dacapo_derive::Pod;
pub use dacapo_driver as driver;
#[cfg(feature = "software")]
pub use dacapo_sim as sim;
pub use half;

pub use device::Device;
#[cfg(feature = "software")]
pub use device::open::Software;
pub use device::stream::Stream;
pub use device::ticket::Ticket;
pub use element::Pod;
pub use error::{Error, ErrorKind, Result};
pub use graph::handle::Graph;
pub use graph::into::GraphInto;
pub use graph::launched::Launched;
pub use kernel::grid;
pub use memory::buffer::Buffer;
pub use memory::host::HostBuffer;
pub use memory::scalar::{Element, Scalar};
pub use memory::slice::Slice;
pub use memory::temp::Temp;
pub use op::transfer::{copy, download, fill, upload};
pub use record::{Op, Recorder};
pub use value::{Baked, Slot, Value, baked};

/// What [`kernels!`] expands to. Not a part of the API: nothing here is for use by hand, and all of it may change.
#[doc(hidden)]
pub mod __private {
    pub use crate::kernel::{
        Args, ByValue, Class, Declared, Derived, Given, KernelDecl, LoadedModule, One, Out, Param, ParamKind, Plain,
        PointerMode, Read, ToArg, Write, aside, check_text, derive, describe, position, requires_failed, said, tell,
    };
    pub use crate::memory::access::Access;
    pub use crate::op::kernels::kernel_op;
    pub use crate::value::{Snapshot, Val};
}
