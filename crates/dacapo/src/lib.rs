//! Safe CUDA graphs for Rust: record GPU work once, replay it in one driver call, test it without a GPU.
//!
//! ```
//! use dacapo::{Device, Slot, copy};
//!
//! dacapo::kernels! {
//!     pub unsafe struct Kernels(include_str!("../kernels/saxpy.ptx")) {
//!         /// y ← a·x + y
//!         fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
//!             requires: x.len() == y.len();
//!             grid: linear(y.len(), 256);
//!         }
//!     }
//! }
//!
//! fn main() -> dacapo::Result<()> {
//!     let device = Device::best()?; // the GPU, or the software device
//!     let stream = device.stream()?;
//!     let k = Kernels::load(&device)?;
//!     let x = device.buffer(&[1.0, 2.0, 3.0])?;
//!     let mut y = device.zeros::<f32>(3)?;
//!     let a = Slot::new(0.0); // changes between replays
//!
//!     let mut graph = device.record(|r| {
//!         let mut t = r.alloc(x.len())?; // planned memory, cannot leave
//!         r.run(copy(&x, &mut t))?;
//!         r.run(k.saxpy(&a, &t, &mut y)) // edges come from what is read and written
//!     })?;
//!     for step in 0..3 {
//!         a.set(step as f32); // patched in at the next launch
//!         graph.launch(&stream)?;
//!     }
//!     assert_eq!(stream.read(&y)?, [3.0, 6.0, 9.0]); // waits
//!     Ok(())
//! }
//! ```
//!
//! # Where to start
//!
//! 1. A [`Device`] makes memory ([`Buffer`], [`Scalar`], [`HostBuffer`]) and [`Stream`]s.
//! 2. [`kernels!`] turns the entry points of a PTX module into typed methods. Each returns an [`Op`]: work that has
//!    not run yet. [`copy`], [`fill`], [`upload`] and [`download`] are ops too.
//! 3. [`Stream::run`] runs an op now. [`Device::record`] makes a [`Graph`] of it, and [`Graph::launch`] replays that.
//! 4. A number that changes between replays is a [`Slot`]; one that never does is [`baked`]. A plain number does not
//!    compile.
//!
//! A graph is bound to memory, not to variables. Between launches the memory is yours. Calls that touch it, from any
//! thread or stream, take effect in the order in which they were made.
//!
//! # Modules
//!
//! | module | what it is for |
//! |---|---|
//! | [`device`] | opening devices; what a device is, can do, and has in use |
//! | [`memory`] | arenas, parts of host buffers, read-only handles, memory reports |
//! | [`graph`] | options of a recording, pools, rerecording a live graph |
//! | [`op`] | ops from closures, boxed ops |
//! | [`flow`] | loops and branches that run on the device |
//! | [`grid`] | launch geometries for `kernels!` |
//! | [`shapes`] | few graphs for many sizes: buckets and caches |
//! | [`inspect`] | what a graph consists of: tables, Graphviz, JSON, differences |
//! | [`profile`] | how long each op takes, and the critical path |
//! | `page` | a graph with its time, memory and findings as one HTML file, with the feature `json` |
//! | [`random`] | random numbers that advance with each replay |
//! | [`interop`] | cuBLASLt, NVRTC and cudarc |
//! | `collective` | collectives over several GPUs, with the feature `nccl` |
//! | [`raw`] | `unsafe`: other libraries' work, undeclared kernels, handles |
//! | [`capture`] | stream capture, for code that is being ported |
//! | [`port`] | functions that are recorded at their first call, for code that is being ported |
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `software` | yes | [`Device::software`]: a CUDA driver in software that runs PTX, and reports races and bad accesses |
//! | `json` | yes | pages; reports, profiles and generator states as JSON |
//! | `tracing` | no | events for recording, patching, allocating, launching and losing a context |
//! | `cublaslt` | no | matrix products by cuBLASLt as safe ops; the library is found at run time |
//! | `nccl` | no | `collective`: collectives over several GPUs as ops; NCCL is found at run time, and in software on software devices |
//! | `nvrtc` | no | CUDA C compiled at run time; the library is found at run time |
//! | `cudarc` | no | contexts, streams and slices of the crate cudarc 0.19, in both directions |
//!
//! The software device interprets PTX, which is many times slower in a debug build. These lines in your `Cargo.toml`
//! optimise it there too:
//!
//! ```toml
//! [profile.dev.package.dacapo-sim]
//! opt-level = 3
//! [profile.dev.package.dacapo-ptx]
//! opt-level = 3
//! ```
//!
//! # What safe code can rely on
//!
//! The named tests of this package check each promise.
//!
//! 1. Memory that a replay touches, now or later, is not freed, moved or given to anyone else.
//!    (`tests/promises/lifetimes.rs`)
//! 2. Two accesses to the same bytes, one of them a write, are always ordered: inside a graph by edges; between
//!    streams, graphs and the host by events and waits. (`tests/holes/order.rs`)
//! 3. A kernel is launched only if its declared conditions hold, alignment included. (`tests/promises/misuse.rs`,
//!    `contract.rs`)
//! 4. No stream is left capturing. After any error everything else keeps working, unless a fault broke the context;
//!    then every call returns that fault with the launches in flight, and nothing hangs. (`tests/promises/faults.rs`)
//! 5. A number that is frozen into a graph says so in the source: it is [`baked`], or inside `unsafe` work.
//!    (`tests/ui/number_recorded.rs`)
//! 6. An error names the op that caused it, its line, the rule, and what to do. (`tests/promises/recorders.rs`)
//! 7. Dropping never calls the driver or waits, even after the context is lost. (`tests/promises/drops.rs`) Two
//!    exceptions: a [`capture`] guard ends its capture, and the last handle on a device closes it. If the device has copied
//!    to or from another one, that handle first waits for the device's own work.

// How it works, in reading order: `record` takes ops down as recipes, `plan` orders them by what they touch, `lower`
// makes driver objects of them, `graph` replays, `device` holds drivers, streams, memory and what was dropped; the
// crate `dacapo-ledger` decides who waits for whom.

#[macro_use]
pub mod op;
mod arrange;
pub mod capture;
#[cfg(feature = "nccl")]
pub mod collective;
pub mod device;
mod element;
mod error;
pub mod flow;
pub mod graph;
mod held;
pub mod inspect;
pub mod interop;
mod kernel;
mod lower;
pub mod memory;
mod nesting;
#[cfg(feature = "json")]
pub mod page;
mod plan;
mod pool;
pub mod port;
pub mod profile;
pub mod random;
pub mod raw;
mod record;
pub mod shapes;
mod timing;
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
