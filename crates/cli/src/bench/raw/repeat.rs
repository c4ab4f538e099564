//! Graphs by hand with control flow: nodes, and a WHILE or an IF node with a body of nodes.

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

/// The kernels of a graph with an `if`; each names those of its own list that it waits for.
pub struct Choice {
    /// Those before it, which waits for the last of them.
    pub before: Vec<KernelNode>,
    /// Those that may run.
    pub body: Vec<KernelNode>,
    /// The one behind it.
    pub behind: KernelNode,
}

impl<'d> RawGraph<'d> {
    /// `nodes` is given the handle of the loop's condition. It has no default: the last node of each list sets it.
    pub(super) fn with_while(driver: &'d dyn Driver, nodes: impl FnOnce(u64) -> Repeat) -> Result<Self, Complaint> {
        let mut made = RawGraph::empty(driver)?;
        let (context, handle) = made.condition()?;
        let Repeat { before, body } = nodes(handle);
        made.nodes = KernelNode::add_all(&before, driver, made.graph)?;
        made.conditional((context, handle), CU_GRAPH_COND_TYPE_WHILE, &body)?;
        made.instantiated()
    }

    /// `nodes` is given the handle of the condition. It has no default: the last node before it sets it.
    pub(super) fn with_if(driver: &'d dyn Driver, nodes: impl FnOnce(u64) -> Choice) -> Result<Self, Complaint> {
        let mut made = RawGraph::empty(driver)?;
        let (context, handle) = made.condition()?;
        let Choice { before, body, behind } = nodes(handle);
        made.nodes = KernelNode::add_all(&before, driver, made.graph)?;
        let node = made.conditional((context, handle), CU_GRAPH_COND_TYPE_IF, &body)?;
        let behind = behind.add_to(driver, made.graph, &[node])?;
        made.nodes.push(behind);
        made.instantiated()
    }

    /// The context, and a handle for a condition without a default.
    fn condition(&self) -> Result<(CUcontext, u64), Complaint> {
        let (mut context, mut handle) = (CUcontext::NULL, 0);
        // SAFETY: `context` is valid for the write.
        unsafe { self.driver.cuCtxGetCurrent(&mut context) }.check(Call::cuCtxGetCurrent)?;
        // SAFETY: `handle` is valid for the write, and the graph is ours.
        unsafe { self.driver.cuGraphConditionalHandleCreate(&mut handle, self.graph, context, 0, 0) }
            .check(Call::cuGraphConditionalHandleCreate)?;
        Ok((context, handle))
    }

    /// Adds a conditional node with a body behind the last node.
    fn conditional(
        &self,
        (context, handle): (CUcontext, u64),
        kind: CUgraphConditionalNodeType,
        body: &[KernelNode],
    ) -> Result<CUgraphNode, Complaint> {
        let (driver, last) = (self.driver, &self.nodes[self.nodes.len().saturating_sub(1)..]);
        let params = CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            r#type: kind,
            size: 1,
            phGraph_out: std::ptr::null_mut(),
            ctx: context,
        };
        // SAFETY: the struct that a conditional node takes, all of it initialised.
        let mut params = unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_CONDITIONAL, params) };
        let mut node = CUgraphNode::NULL;
        // SAFETY: `node` and `params` are valid for the write; `last` is a node of this graph, or none.
        unsafe {
            driver.cuGraphAddNode_v2(&mut node, self.graph, last.as_ptr(), std::ptr::null(), last.len(), &mut params)
        }
        .check(Call::cuGraphAddNode_v2)?;
        // SAFETY: of that type; the driver has filled it in, and gives one graph, which lives as long as the node.
        let inside = unsafe { *params.read::<CUDA_CONDITIONAL_NODE_PARAMS>().phGraph_out };
        KernelNode::add_all(body, driver, inside)?;
        Ok(node)
    }
}
