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
mod launching;
mod making;
mod memory;
mod recording;
mod replayable;
mod report;
pub mod rerecord;
mod stand_ins;
mod wake;
mod warm;

pub(crate) use crate::lower::CapturedGraph;
pub use handle::Graph;
pub use into::GraphInto;
pub use launched::{Launched, Ticket};
pub(crate) use making::{Asked, GraphOptions};
pub use memory::GraphMemory;
pub use recording::Recording;
pub(crate) use replayable::Replayable;
pub(crate) use report::{report_of, report_of_graph};
pub(crate) use stand_ins::{Hole, StandIns};
pub use warm::WarmRecording;
