//! Graphs: lowered recordings with everything they keep alive.
//!
//! - [`Graph`] is what the user holds; [`GraphInto`] is a graph as a function of memory.
//! - [`Graph::rerecord`] puts another recording onto a graph's executable one where that can be done.
//! - [`Launched`] and [`Ticket`] are a replay under way.
//! - A replay takes one snapshot of the slots, re-evaluates only the recipes whose slots changed, all of them before any
//!   work is submitted, patches those nodes, asks the ledger what to wait for, and makes one driver call.

mod compare;
mod handle;
mod into;
mod launched;
mod memory;
mod replayable;
mod report;
pub mod rerecord;
mod wake;

pub(crate) use crate::lower::CapturedGraph;
pub use handle::Graph;
pub use into::GraphInto;
pub use launched::{Launched, Ticket};
pub use memory::GraphMemory;
pub(crate) use memory::{asked_for, executable_bytes};
pub(crate) use replayable::{GraphOptions, Hole, Replayable, order_of};
pub(crate) use report::{report_of, report_of_graph};
pub(crate) use wake::WakerThread;
