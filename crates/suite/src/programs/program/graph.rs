//! Graphs made by hand, and executable graphs.

use std::ffi::c_void;

use dacapo_driver::Driver;
use dacapo_driver::types::*;

use super::{Answer, Arguments, Buffer, Program, answer};

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`.
const ASSIGN_DEFAULT: u32 = 1;

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

    /// `cuGraphAddMemAllocNode`: memory of the graph, on device 0, under a name.
    pub(crate) fn add_alloc(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        label: &str,
        len: usize,
    ) -> Answer<(CUgraphNode, Buffer)> {
        let (mut node, list, count) = (CUgraphNode::NULL, after.as_ptr(), after.len());
        let mut params = CUDA_MEM_ALLOC_NODE_PARAMS { bytesize: 4 * len, ..Default::default() };
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphAddMemAllocNode(&mut node, graph, list, count, &mut params) })?;
        Ok((node, self.named(params.dptr, label, len)))
    }

    /// `cuGraphAddMemFreeNode`.
    pub(crate) fn add_free(&self, graph: CUgraph, after: &[CUgraphNode], buffer: &Buffer) -> Answer<CUgraphNode> {
        let (mut node, list, count) = (CUgraphNode::NULL, after.as_ptr(), after.len());
        // SAFETY: see above.
        let added = unsafe { self.driver.cuGraphAddMemFreeNode(&mut node, graph, list, count, buffer.address()) };
        answer(added).map(|()| node)
    }

    /// `cuGraphConditionalHandleCreate`, with the value at the begin of each launch if there is one.
    pub(crate) fn condition(&self, graph: CUgraph, opt_default: Option<u32>) -> Answer<CUgraphConditionalHandle> {
        let mut handle = 0;
        let flags = if opt_default.is_some() { ASSIGN_DEFAULT } else { 0 };
        let default = opt_default.unwrap_or(0);
        // SAFETY: see above.
        let made =
            unsafe { self.driver.cuGraphConditionalHandleCreate(&mut handle, graph, self.context, default, flags) };
        answer(made).map(|()| handle)
    }

    /// `cuGraphAddNode` of an IF; the answer is its body.
    pub(crate) fn add_if(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        handle: CUgraphConditionalHandle,
    ) -> Answer<CUgraph> {
        self.add_conditional(graph, after, handle, CU_GRAPH_COND_TYPE_IF)
    }

    /// `cuGraphAddNode` of a WHILE; the answer is its body.
    pub(crate) fn add_while(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        handle: CUgraphConditionalHandle,
    ) -> Answer<CUgraph> {
        self.add_conditional(graph, after, handle, CU_GRAPH_COND_TYPE_WHILE)
    }

    fn add_conditional(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        handle: CUgraphConditionalHandle,
        kind: u32,
    ) -> Answer<CUgraph> {
        let asked = CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            r#type: kind,
            size: 1,
            phGraph_out: std::ptr::null_mut(),
            ctx: self.context,
        };
        let (mut node, list, count) = (CUgraphNode::NULL, after.as_ptr(), after.len());
        // SAFETY: the struct of this type of node.
        let mut params = unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_CONDITIONAL, asked) };
        let no_ports = std::ptr::null();
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphAddNode_v2(&mut node, graph, list, no_ports, count, &mut params) })?;
        // SAFETY: the driver has answered with parameters of a conditional node, whose array holds one body.
        Ok(unsafe { params.read::<CUDA_CONDITIONAL_NODE_PARAMS>().phGraph_out.read() })
    }

    /// `cuGraphAddKernelNode` of one thread.
    pub(crate) fn add_kernel(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        kernel: CUfunction,
        arguments: &[u64],
    ) -> Answer<CUgraphNode> {
        let (mut node, list, count) = (CUgraphNode::NULL, after.as_ptr(), after.len());
        let mut arguments = Arguments::new(arguments);
        let params = CUDA_KERNEL_NODE_PARAMS {
            func: kernel,
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            kernelParams: arguments.as_mut_ptr(),
            ..Default::default()
        };
        // SAFETY: see above; as many arguments as the kernel has parameters, alive until the call returns.
        answer(unsafe { self.driver.cuGraphAddKernelNode_v2(&mut node, graph, list, count, &params) }).map(|()| node)
    }

    /// `cuUserObjectCreate` with one reference. Its destructor does nothing.
    pub(crate) fn user_object(&self) -> Answer<CUuserObject> {
        unsafe extern "C" fn nothing(_: *mut c_void) {}
        let (mut object, data, flags) = (CUuserObject::NULL, std::ptr::null_mut(), CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
        // SAFETY: the destructor takes any pointer.
        answer(unsafe { self.driver.cuUserObjectCreate(&mut object, data, Some(nothing), 1, flags) }).map(|()| object)
    }

    /// `cuGraphRetainUserObject`: the graph has a reference of its own.
    pub(crate) fn retain_object(&self, graph: CUgraph, object: CUuserObject) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphRetainUserObject(graph, object, 1, 0) })
    }

    /// `cuGraphReleaseUserObject`.
    pub(crate) fn release_object(&self, graph: CUgraph, object: CUuserObject, count: u32) -> Answer {
        // SAFETY: see above.
        answer(unsafe { self.driver.cuGraphReleaseUserObject(graph, object, count) })
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
