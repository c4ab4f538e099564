//! GPU work as values: run it now on a stream, or record it once and replay it many times as a CUDA graph.
//!
//! Safe code cannot break it: nothing a replay touches is freed, nothing races, no stream is left capturing, and no
//! number is frozen in silence.

#[macro_use]
mod kernel;
pub mod capture;
mod device;
mod element;
mod error;
mod graph;
pub mod inspect;
mod lower;
mod memory;
mod module;
mod op;
mod plan;
mod pool;
pub mod random;
mod record;
mod trace;
mod value;

pub use bytemuck;
pub use half;

#[cfg(feature = "software")]
pub use device::Software;
pub use device::{Abilities, Ability, Counters, Device, Properties, RawStream, Stream};
pub use element::Pod;
pub use error::{Error, ErrorKind, Result};
pub use graph::{Graph, GraphInto, Launched, Ticket};
pub use kernel::{Grid, RawArg, RawKernel, grid};
pub use memory::{Buffer, Element, HostBuffer, RawSlice, Reads, Scalar, Shared, Slice, Temp, TempScalar, Writes};
pub use module::{Graphed, Mirror, Module, graphed};
pub use op::{BoxOp, Op, copy, download, fill, foreign, op, upload};
pub use pool::{Pool, PoolHandle};
pub use record::{Recorder, Recording, WarmRecording};
pub use value::{Baked, Slot, Value, baked};

/// What [`kernels!`] expands to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::kernel::{
        ElementArg, KernelDecl, LoadedModule, Param, ParamKind, Prepared, SliceArg, ToArg, derive, describe, kernel_op,
        requires_failed,
    };
    pub use crate::memory::Access;
    pub use crate::value::{Snapshot, Val};
}
