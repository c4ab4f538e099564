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
mod op;
mod arrange;
pub mod capture;
mod device;
mod element;
mod error;
mod graph;
mod held;
pub mod inspect;
pub mod interop;
mod kernel;
mod lower;
mod memory;
mod module;
mod nesting;
mod plan;
mod pool;
pub mod profile;
pub mod random;
mod record;
mod shapes;
mod trace;
mod value;

pub use bytemuck;
pub use half;

#[cfg(feature = "software")]
pub use device::Software;
pub use device::{Abilities, Ability, Counters, Device, MemoryReport, Properties, RawStream, Stream};
pub use element::Pod;
pub use error::{Error, ErrorKind, FalseDeclaration, Result};
pub use graph::rerecord::{self, Rerecorded};
pub use graph::{Graph, GraphInto, GraphMemory, Launched, Recording, Ticket, WarmRecording};
pub use held::Held;
pub use kernel::{Checked, CheckedKernel, CheckedParam, Found, Grid, Warning, WarningKind, grid};
pub use memory::{
    Arena, Buffer, Element, HostBuffer, RawSlice, Reads, Scalar, Shared, Slice, Temp, TempScalar, Writes,
};
pub use module::{Graphed, Mirror, Module, graphed};
pub use op::{RawArg, RawKernel, copy, download, fill, foreign, upload};
pub use pool::{Pool, PoolHandle};
pub use profile::Profile;
pub use record::{BoxOp, Op, Recorder, op};
pub use shapes::{Bucketed, Buckets, CacheCounters, GraphCache, Inputs, Outputs, Pad, Rows, rows};
pub use value::{Baked, Slot, Value, baked};

/// What [`kernels!`] expands to. Not a part of the API: nothing here is for use by hand, and all of it may change.
#[doc(hidden)]
pub mod __private {
    pub use crate::kernel::{
        Args, ByValue, Class, Declared, Derived, Given, KernelDecl, LoadedModule, One, Out, Param, ParamKind, Plain,
        PointerMode, Read, ToArg, Write, aside, check_text, derive, describe, position, requires_failed, said, tell,
    };
    pub use crate::memory::Access;
    pub use crate::op::kernel_op;
    pub use crate::value::{Snapshot, Val};
}

#[cfg(doctest)]
#[path = "../kernels/readme.rs"]
mod readme;
