//! Graphs made by hand, and executable graphs.

use dacapo_driver::Driver;
use dacapo_driver::types::*;

use super::{Answer, Buffer, Program, answer};

fn set_params(buffer: &Buffer, value: u32) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS { dst: buffer.address(), pitch: 0, value, elementSize: 4, width: buffer.len(), height: 1 }
}

// SAFETY of every block here: out pointers are to locals of the right type, arrays are as long as the count beside
// them, and handles are numbers that the driver looks up and refuses if it does not know them.
impl Program {
    /// `cuGraphCreate`.
    pub(crate) fn graph(&self) -> Answer<CUgraph> {
        let mut graph = CUgraph::NULL;
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphCreate(&mut graph, 0) }).map(|()| graph)
    }

    /// `cuGraphAddMemsetNode`: a node that sets every number of the buffer.
    pub(crate) fn add_set(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        buffer: &Buffer,
        value: u32,
    ) -> Answer<CUgraphNode> {
        let (mut node, params) = (CUgraphNode::NULL, set_params(buffer, value));
        let (list, count) = (after.as_ptr(), after.len());
        // SAFETY: see above.
        let added = unsafe { self.driver.cuGraphAddMemsetNode(&mut node, graph, list, count, &params, self.context) };
        answer(added).map(|()| node)
    }

    /// `cuGraphAddChildGraphNode`.
    pub(crate) fn add_child(&self, graph: CUgraph, after: &[CUgraphNode], child: CUgraph) -> Answer<CUgraphNode> {
        let (mut node, list, count) = (CUgraphNode::NULL, after.as_ptr(), after.len());
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphAddChildGraphNode(&mut node, graph, list, count, child) }).map(|()| node)
    }

    /// `cuGraphAddDependencies` of one edge.
    pub(crate) fn add_edge(&self, graph: CUgraph, from: CUgraphNode, to: CUgraphNode) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphAddDependencies_v2(graph, &from, &to, std::ptr::null(), 1) })
    }

    /// `cuGraphInstantiate`.
    pub(crate) fn instantiate(&self, graph: CUgraph) -> Answer<CUgraphExec> {
        let mut exec = CUgraphExec::NULL;
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphInstantiateWithFlags(&mut exec, graph, 0) }).map(|()| exec)
    }

    /// `cuGraphExecDestroy`.
    pub(crate) fn destroy_exec(&self, exec: CUgraphExec) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphExecDestroy(exec) })
    }

    /// `cuGraphDestroy`.
    pub(crate) fn destroy_graph(&self, graph: CUgraph) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphDestroy(graph) })
    }

    /// `cuGraphLaunch`.
    pub(crate) fn replay(&self, exec: CUgraphExec, stream: CUstream) -> Answer {
        // SAFETY: see above; what the nodes touch is what the programs are about.
        answer(unsafe { self.driver.cuGraphLaunch(exec, stream) })
    }

    /// `cuGraphExecUpdate`.
    pub(crate) fn update(&self, exec: CUgraphExec, graph: CUgraph) -> Answer {
        let mut info = CUgraphExecUpdateResultInfo::default();
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphExecUpdate_v2(exec, graph, &mut info) })
    }

    /// `cuGraphExecMemsetNodeSetParams`.
    pub(crate) fn change_set(&self, exec: CUgraphExec, node: CUgraphNode, buffer: &Buffer, value: u32) -> Answer {
        let params = set_params(buffer, value);
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphExecMemsetNodeSetParams(exec, node, &params, self.context) })
    }
}
