//! Recording: ops in the order in which the program gives them, as plain data.
//!
//! - A [`Recorder`] is handed to every op. It checks each node as it arrives, so an error names the op at fault; an op
//!   that fails leaves no trace.
//! - A [`Node`] is a recipe, not a set of numbers: what it reads and writes, its label and line, and one closure that
//!   computes arguments, conditions and geometry from the current slots.
//! - No driver call is made while recording (outputs excepted, which are memory at once), so nothing done beside it can
//!   invalidate it.

mod node;
mod op;
#[cfg(feature = "nccl")]
mod owed;
mod recorder;
mod scope;
mod told;
mod written;

#[cfg(feature = "nccl")]
pub(crate) use node::Joint;
pub(crate) use node::{
    Body, Branch, BranchKind, CAPTURED, FillRecipe, ForeignWork, Guard, JointOps, KernelRecipe, KernelWork, Node, Work,
    gates, lock_gates, partners,
};
pub(crate) use op::whole;
pub use op::{BoxOp, Op, from_fn};
#[cfg(feature = "nccl")]
pub(crate) use owed::Owed;
pub(crate) use recorder::Recorded;
pub use recorder::Recorder;
pub(crate) use scope::{Certain, ScopeKind};
pub(crate) use told::{NodeParams, Side, Told};
pub(crate) use written::{expect_written, in_both, may_idle};
