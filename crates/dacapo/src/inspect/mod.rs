//! Reports: what a graph consists of, as plain data to print, draw, store and compare.
//!
//! [`Graph::inspect`](crate::Graph::inspect) returns a [`Report`] of [`Node`]s, [`Memory`] and edges. It holds
//! everything by value, so it outlives the graph. `Display` prints a table, [`Report::to_svg`] draws it, [`Report::to_dot`]
//! lets Graphviz draw it, and with the feature `json` it is written to JSON and read back. [`diff`] compares two reports;
//! [`frozen_changes`] finds baked values that should have been slots. [`Checked`] is what loading a `kernels!` struct found
//! in its PTX. [`Finding`] is what the software device has found, with the ops at which it happened:
//! [`Device::found`](crate::Device::found).
//!
//! Nothing here is measured: the critical path of a report is that of a [cost model](Node::cost).
//! [`profile`](crate::profile) measures.

mod across;
mod critical;
mod diff;
mod dot;
pub(crate) mod draw;
mod found;
mod frozen;
mod homes;
#[cfg(feature = "json")]
mod json;
mod matching;
mod model;
mod orderly;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod waits;

pub use crate::error::FalseDeclaration;
pub use crate::kernel::{Checked, CheckedKernel, CheckedParam, Found, Warning, WarningKind};
pub use across::{Across, Route};
pub use critical::NODE_BYTES;
pub use diff::{Change, ChangedEdge, ChangedNode, Difference, EdgeOf, NodeOf, diff};
pub use found::{Finding, FoundAt};
pub use frozen::{Frozen, frozen_changes};
#[cfg(feature = "json")]
pub use json::ReadError;
#[cfg(feature = "json")]
pub(crate) use json::told;
pub use model::{
    Access, Argument, Bytes, CriticalPath, Geometry, How, Inside, KernelOf, Kind, Memory, MemoryKind, Node, Place,
    Report, Totals, VERSION, Value,
};
pub(crate) use table::WIDTH_MAX;
pub use waits::{Reason, Wait};
