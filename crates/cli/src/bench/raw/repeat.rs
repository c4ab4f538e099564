//! A graph by hand that ends in a loop: nodes, and a WHILE node with a body of nodes.

use dacapo_driver::types::*;
use dacapo_driver::{Call, Check, Driver};

use super::{KernelNode, RawGraph};
use crate::complaint::Complaint;

/// The kernels of a graph with a loop; each names those of its own list that it waits for.
pub struct Repeat {
    /// Those before the loop, which waits for the last of them.
    pub before: Vec<KernelNode>,
    /// Those of a round.
    pub body: Vec<KernelNode>,
}

impl<'d> RawGraph<'d> {
    /// `nodes` is given the handle of the loop's condition. It has no default: the last node of each list sets it.
    pub(super) fn with_while(driver: &'d dyn Driver, nodes: impl FnOnce(u64) -> Repeat) -> Result<Self, Complaint> {
        let mut made = RawGraph::empty(driver)?;
        let (mut context, mut handle) = (CUcontext::NULL, 0);
        // SAFETY: `context` is valid for the write.
        unsafe { driver.cuCtxGetCurrent(&mut context) }.check(Call::cuCtxGetCurrent)?;
        // SAFETY: `handle` is valid for the write, and the graph is ours.
        unsafe { driver.cuGraphConditionalHandleCreate(&mut handle, made.graph, context, 0, 0) }
            .check(Call::cuGraphConditionalHandleCreate)?;
        let Repeat { before, body } = nodes(handle);
        made.nodes = KernelNode::add_all(&before, driver, made.graph)?;
        let last = &made.nodes[made.nodes.len().saturating_sub(1)..];
        let params = CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            r#type: CU_GRAPH_COND_TYPE_WHILE,
            size: 1,
            phGraph_out: std::ptr::null_mut(),
            ctx: context,
        };
        // SAFETY: the struct that a conditional node takes, all of it initialised.
        let mut params = unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_CONDITIONAL, params) };
        let mut node = CUgraphNode::NULL;
        // SAFETY: `node` and `params` are valid for the write; `last` is a node of this graph, or none.
        unsafe {
            driver.cuGraphAddNode_v2(&mut node, made.graph, last.as_ptr(), std::ptr::null(), last.len(), &mut params)
        }
        .check(Call::cuGraphAddNode_v2)?;
        // SAFETY: of that type; the driver has filled it in, and gives one graph, which lives as long as the node.
        let inside = unsafe { *params.read::<CUDA_CONDITIONAL_NODE_PARAMS>().phGraph_out };
        KernelNode::add_all(&body, driver, inside)?;
        made.instantiated()
    }
}
