//! Which driver calls add a node to the driver's graph, and which one changes it later: what reports say.
//!
//! The calls themselves are made in [`building`](super::building), [`foreign`](super::foreign) and [`built`](super::built).
//! `tests/reports/calls.rs` holds what is said here against the calls that a driver sees.

use dacapo_driver::Call;

use crate::lower::params;
use crate::memory::Kind;
use crate::record::{Node, Work};

/// The calls that add an op's node, in order; of foreign work what its own calls stand between. `early` if an edge into it is
/// programmatic, `in_body` if it is added to the graph of a body.
pub(crate) fn calls_of(node: &Node, early: bool, in_body: bool) -> &'static [Call] {
    match &node.work {
        Work::Kernel(_) if early => &[Call::cuGraphAddNode_v2],
        Work::Kernel(_) => &[Call::cuGraphAddKernelNode_v2],
        Work::Copy | Work::Fill(_) | Work::Upload(_) | Work::Download(_) if params::is_nothing(node) => {
            &[Call::cuGraphAddEmptyNode]
        }
        Work::Copy | Work::Upload(_) | Work::Download(_) => &[Call::cuGraphAddMemcpyNode],
        Work::Fill(_) => &[Call::cuGraphAddMemsetNode],
        Work::Foreign(_) if in_body => {
            &[Call::cuStreamBeginCaptureToGraph, Call::cuStreamEndCapture, Call::cuGraphAddChildGraphNode]
        }
        Work::Foreign(_) => &[Call::cuStreamBeginCaptureToGraph, Call::cuStreamEndCapture],
        // Its bodies are in the graph around it.
        Work::Branch(branch) if branch.is_guarded => &[],
        Work::Branch(_) => &[Call::cuGraphConditionalHandleCreate, Call::cuGraphAddNode_v2],
        Work::Captured => &[],
    }
}

/// The calls that add a step which only stands between others.
pub(crate) const CALLS_OF_JOIN: &[Call] = &[Call::cuGraphAddEmptyNode];

/// The call that tells an op's node other parameters when a slot has changed or other memory is bound; none where neither can
/// change it.
pub(crate) fn patch_of(node: &Node) -> Option<Call> {
    let is_bound = || node.access.iter().any(|access| matches!(access.place.allocation.kind(), Kind::StandIn(_)));
    if node.slots.is_empty() && !is_bound() {
        return None;
    }
    match &node.work {
        Work::Kernel(_) => Some(Call::cuGraphExecKernelNodeSetParams_v2),
        _ if params::is_nothing(node) => None,
        Work::Copy | Work::Upload(_) | Work::Download(_) => Some(Call::cuGraphExecMemcpyNodeSetParams),
        Work::Fill(_) => Some(Call::cuGraphExecMemsetNodeSetParams),
        Work::Foreign(_) | Work::Captured | Work::Branch(_) => None,
    }
}
