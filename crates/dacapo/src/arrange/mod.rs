//! A recording arranged by plans: its ops in order, its temps in memory.
//!
//! `plan` knows numbers and ranges of bytes; here they are nodes and allocations.

mod edges;
mod order;
mod temps;

pub use edges::Edge;
pub(crate) use edges::{EdgeChoice, Pair};
pub(crate) use order::{Arrangement, Level, arranged};
pub(crate) use temps::TempPlan;
