//! Graphs: recordings that are replayed in one driver call, and everything they keep alive.
//!
//! [`Device::record`](crate::Device::record) makes a [`Graph`]; [`GraphBuilder`] has the options: label, pool, arena,
//! warm-up. [`GraphInto`] is a graph as a function of memory. [`Graph::rerecord`](crate::Graph::rerecord) replaces a
//! graph's recording, and [`Rerecorded`] says how. A [`Pool`] holds graphs that belong together.

// How a replay works: it takes one snapshot of the slots, evaluates again only the recipes whose slots changed, all of
// them before any work is submitted, patches those nodes, asks the ledger what to wait for, and makes one driver call.

mod builder;
mod compare;
mod embed;
pub(crate) mod handle;
pub(crate) mod into;
pub(crate) mod launched;
mod launching;
mod making;
mod memory;
mod replayable;
mod report;
mod rerecord;
mod stand_ins;
mod tune;
mod tuning;
mod warm;

pub use crate::arrange::Edge;
pub(crate) use crate::lower::CapturedGraph;
pub use crate::pool::{Pool, PoolHandle};
pub use builder::GraphBuilder;
pub(crate) use handle::Graph;
pub(crate) use into::GraphInto;
pub(crate) use making::{Asked, GraphOptions};
pub use memory::GraphMemory;
pub(crate) use replayable::Replayable;
pub(crate) use report::report_of_graph;
pub use rerecord::{Change, How, NodeChange, Rerecorded};
pub(crate) use stand_ins::{Hole, StandIns};
pub use tune::{Tuned, TunedPair};
pub use tuning::{TunedKernel, Tuning};
pub use warm::WarmGraphBuilder;
