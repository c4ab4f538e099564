//! What a recording and a graph consist of, as plain data: to print, to draw, to keep in a file, to compare.
//!
//! - A [`Report`] holds everything by value: it outlives the graph it tells of, and needs no device.
//! - With the feature `json`, `Report::to_json` and `Report::from_json` are inverse to each other; the format has a
//!   version, and another version is refused by name.
//! - [`Report::to_dot`] draws it for Graphviz; `Display` prints a table.
//! - [`diff`] compares two reports; [`frozen_changes`] names the values that two recordings of one closure froze
//!   differently.
//!
//! Nothing here measures: the critical path is that of a [cost model](Node::cost).

mod critical;
mod diff;
mod dot;
mod frozen;
#[cfg(feature = "json")]
mod json;
mod matching;
mod model;
mod table;
#[cfg(test)]
mod tests;

pub use crate::error::FalseDeclaration;
pub use crate::kernel::{Checked, CheckedKernel, CheckedParam, Found, Warning, WarningKind};
pub use critical::NODE_BYTES;
pub use diff::{Change, ChangedNode, Difference, EdgeOf, NodeOf, diff};
pub use frozen::{Frozen, frozen_changes};
#[cfg(feature = "json")]
pub use json::ReadError;
pub use model::{
    Access, Argument, Bytes, CriticalPath, Geometry, How, Kind, Memory, MemoryKind, Node, Place, Report, Totals,
    VERSION, Value,
};
pub(crate) use table::WIDTH_MAX;
