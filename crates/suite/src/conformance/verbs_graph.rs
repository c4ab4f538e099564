//! Verbs of graphs: nodes, edges, executable graphs, updates, graph memory, user objects, conditions.

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::case::{Case, HostAct, host_function};
use super::names::{Condition, Told, code_name};
use super::verbs::{Arg, Copy3, Edge, Fill, Kernel, MemOp, acts, asks, makes};

acts! {
    fn connect(graph: CUgraph, from: &[CUgraphNode], to: &[CUgraphNode]) = cuGraphAddDependencies(graph, from.as_ptr(), to.as_ptr(), from.len());
    fn disconnect(graph: CUgraph, from: &[CUgraphNode], to: &[CUgraphNode]) = cuGraphRemoveDependencies(graph, from.as_ptr(), to.as_ptr(), from.len());
    fn destroy_node(node: CUgraphNode) = cuGraphDestroyNode(node);
    fn run(exec: CUgraphExec, stream: CUstream) = cuGraphLaunch(exec, stream);
    fn upload(exec: CUgraphExec, stream: CUstream) = cuGraphUpload(exec, stream);
    fn enable(exec: CUgraphExec, node: CUgraphNode, on: u32) = cuGraphNodeSetEnabled(exec, node, on);
    fn exec_child(exec: CUgraphExec, node: CUgraphNode, graph: CUgraph) = cuGraphExecChildGraphNodeSetParams(exec, node, graph);
    fn exec_record(exec: CUgraphExec, node: CUgraphNode, event: CUevent) = cuGraphExecEventRecordNodeSetEvent(exec, node, event);
    fn exec_wait(exec: CUgraphExec, node: CUgraphNode, event: CUevent) = cuGraphExecEventWaitNodeSetEvent(exec, node, event);
    fn node_record_set(node: CUgraphNode, event: CUevent) = cuGraphEventRecordNodeSetEvent(node, event);
    fn copy_node_attributes(to: CUgraphNode, from: CUgraphNode) = cuGraphKernelNodeCopyAttributes(to, from);
    fn trim_graph_memory() = cuDeviceGraphMemTrim(0);
    fn retain(object: CUuserObject, count: u32) = cuUserObjectRetain(object, count);
    fn release(object: CUuserObject, count: u32) = cuUserObjectRelease(object, count);
    fn graph_retain(graph: CUgraph, object: CUuserObject, count: u32, flags: u32) = cuGraphRetainUserObject(graph, object, count, flags);
    fn graph_release(graph: CUgraph, object: CUuserObject, count: u32) = cuGraphReleaseUserObject(graph, object, count);
}

makes! {
    fn graph() -> graph: CUgraph = cuGraphCreate(&mut graph, 0);
    fn clone_graph(of: CUgraph) -> graph: CUgraph = cuGraphClone(&mut graph, of);
    fn instantiate(graph: CUgraph, flags: u64) -> exec: CUgraphExec = cuGraphInstantiateWithFlags(&mut exec, graph, flags);
}

asks! {
    fn node_type(node: CUgraphNode) -> kind: u32 = cuGraphNodeGetType(node, &mut kind);
    fn find_in_clone(node: CUgraphNode, clone: CUgraph) -> found: CUgraphNode = cuGraphNodeFindInClone(&mut found, node, clone);
    fn child_graph(node: CUgraphNode) -> graph: CUgraph = cuGraphChildGraphNodeGetGraph(node, &mut graph);
    fn is_enabled(exec: CUgraphExec, node: CUgraphNode) -> on: u32 = cuGraphNodeGetEnabled(exec, node, &mut on);
    fn exec_flags(exec: CUgraphExec) -> flags: u64 = cuGraphExecGetFlags(exec, &mut flags);
    fn record_node_event(node: CUgraphNode) -> event: CUevent = cuGraphEventRecordNodeGetEvent(node, &mut event);
    fn wait_node_event(node: CUgraphNode) -> event: CUevent = cuGraphEventWaitNodeGetEvent(node, &mut event);
    fn free_node_address(node: CUgraphNode) -> address: u64 = cuGraphMemFreeNodeGetParams(node, &mut address);
}

/// Adding a node: graph, what it comes after, and something that the call reads.
macro_rules! adds {
    ($(fn $verb:ident($($arg:ident: $ty:ty),*) = $symbol:ident($($given:expr),*);)*) => {
        impl Case<'_> { $(
            #[doc = concat!("`", stringify!($symbol), "`")]
            pub(super) fn $verb(&mut self, graph: CUgraph, after: &[CUgraphNode], $($arg: $ty),*) -> CUgraphNode {
                let told = vec![graph.told(&mut self.names), after.told(&mut self.names), $($arg.told(&mut self.names)),*];
                let (mut node, context) = (CUgraphNode::NULL, self.context);
                let _ = context;
                // SAFETY: the graph and the nodes are alive; what the node is given lives until the call returns.
                let code = unsafe { self.driver.$symbol(&mut node, graph, after.as_ptr(), after.len(), $($given),*) };
                self.added(stringify!($symbol), told, code, node)
            }
        )* }
    };
}

adds! {
    fn add_empty() = cuGraphAddEmptyNode();
    fn add_child(child: CUgraph) = cuGraphAddChildGraphNode(child);
    fn add_record(event: CUevent) = cuGraphAddEventRecordNode(event);
    fn add_wait(event: CUevent) = cuGraphAddEventWaitNode(event);
    fn add_free(address: u64) = cuGraphAddMemFreeNode(address);
}

impl Case<'_> {
    fn added(&mut self, call: &str, told: Vec<String>, code: CUresult, node: CUgraphNode) -> CUgraphNode {
        let name = if code.is_success() { self.names.new_handle("node", node.bits()) } else { String::new() };
        self.said(call, &told, code, &name);
        node
    }

    /// `cuGraphAddKernelNode`
    pub(super) fn add_kernel(&mut self, graph: CUgraph, after: &[CUgraphNode], kernel: &Kernel) -> CUgraphNode {
        let told = vec![graph.told(&mut self.names), after.told(&mut self.names), kernel.told(&mut self.names)];
        let (mut values, mut pointers, mut node) = (kernel.values(), Vec::new(), CUgraphNode::NULL);
        let params = kernel.node(&mut values, &mut pointers);
        // SAFETY: the graph and the nodes are alive; the parameters live until the call returns.
        let code =
            unsafe { self.driver.cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), &params) };
        self.added("cuGraphAddKernelNode", told, code, node)
    }

    /// `cuGraphAddNode_v2` of a kernel node, with data for each edge.
    pub(super) fn add_kernel_with(
        &mut self,
        graph: CUgraph,
        after: &[(CUgraphNode, Edge)],
        kernel: &Kernel,
    ) -> CUgraphNode {
        let mut told = vec![graph.told(&mut self.names)];
        for (node, edge) in after {
            told.push(format!("{} by {}", node.told(&mut self.names), edge.told(&mut self.names)));
        }
        told.push(kernel.told(&mut self.names));
        let (mut values, mut pointers, mut node) = (kernel.values(), Vec::new(), CUgraphNode::NULL);
        let nodes: Vec<_> = after.iter().map(|(node, _)| *node).collect();
        let edges: Vec<_> = after.iter().map(|(_, edge)| edge.params()).collect();
        // SAFETY: the struct of this type of node.
        let mut params =
            unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_KERNEL, kernel.node(&mut values, &mut pointers)) };
        let (first, data, count) = (nodes.as_ptr(), edges.as_ptr(), nodes.len());
        // SAFETY: the graph and the nodes are alive, with data for each; the parameters live until the call returns.
        let code = unsafe { self.driver.cuGraphAddNode_v2(&mut node, graph, first, data, count, &mut params) };
        self.added("cuGraphAddNode", told, code, node)
    }

    /// A kernel node by its short form.
    pub(super) fn node(
        &mut self,
        graph: CUgraph,
        after: &[CUgraphNode],
        name: &'static str,
        arguments: &[Arg],
    ) -> CUgraphNode {
        let kernel = self.kernel(name, arguments);
        self.add_kernel(graph, after, &kernel)
    }

    /// `cuGraphAddMemcpyNode`
    pub(super) fn add_copy(&mut self, graph: CUgraph, after: &[CUgraphNode], copy: &Copy3) -> CUgraphNode {
        let told = vec![graph.told(&mut self.names), after.told(&mut self.names), copy.told(&mut self.names)];
        let (params, mut node) = (copy.params(), CUgraphNode::NULL);
        let (deps, count, context) = (after.as_ptr(), after.len(), self.context);
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphAddMemcpyNode(&mut node, graph, deps, count, &params, context) };
        self.added("cuGraphAddMemcpyNode", told, code, node)
    }

    /// `cuGraphAddMemsetNode`
    pub(super) fn add_fill(&mut self, graph: CUgraph, after: &[CUgraphNode], fill: &Fill) -> CUgraphNode {
        let told = vec![graph.told(&mut self.names), after.told(&mut self.names), fill.told(&mut self.names)];
        let (params, mut node) = (fill.params(), CUgraphNode::NULL);
        let (deps, count, context) = (after.as_ptr(), after.len(), self.context);
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphAddMemsetNode(&mut node, graph, deps, count, &params, context) };
        self.added("cuGraphAddMemsetNode", told, code, node)
    }

    /// `cuGraphAddHostNode`
    pub(super) fn add_host(&mut self, graph: CUgraph, after: &[CUgraphNode], act: HostAct) -> CUgraphNode {
        let told = vec![graph.told(&mut self.names), after.told(&mut self.names), act.told(&mut self.names)];
        let params = CUDA_HOST_NODE_PARAMS { r#fn: Some(host_function), userData: self.job(act) };
        let mut node = CUgraphNode::NULL;
        // SAFETY: as above; the job lives until the case has ended.
        let code = unsafe { self.driver.cuGraphAddHostNode(&mut node, graph, after.as_ptr(), after.len(), &params) };
        self.added("cuGraphAddHostNode", told, code, node)
    }

    /// `cuGraphAddMemAllocNode`; the address is known before any launch.
    pub(super) fn add_alloc(&mut self, graph: CUgraph, after: &[CUgraphNode], bytes: usize) -> (CUgraphNode, u64) {
        let told = vec![graph.told(&mut self.names), after.told(&mut self.names), bytes.to_string()];
        let mut params = CUDA_MEM_ALLOC_NODE_PARAMS { bytesize: bytes, ..Default::default() };
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
        let mut node = CUgraphNode::NULL;
        // SAFETY: as above.
        let code =
            unsafe { self.driver.cuGraphAddMemAllocNode(&mut node, graph, after.as_ptr(), after.len(), &mut params) };
        let gave = match code.is_success() {
            true => {
                let node = self.names.new_handle("node", node.bits());
                let address = params.dptr;
                // Perhaps still allocated at the end, perhaps not: then the driver refuses, and nothing happens.
                // SAFETY: the driver checks the address.
                self.keep_raw("graph memory", address, move |driver| unsafe { driver.cuMemFree_v2(address) });
                format!("{node}, {}", self.names.new_region("mem", address, bytes as u64))
            }
            false => String::new(),
        };
        self.said("cuGraphAddMemAllocNode", &told, code, &gave);
        (node, params.dptr)
    }

    /// `cuGraphMemAllocNodeGetParams`
    pub(super) fn alloc_node_params(&mut self, node: CUgraphNode) {
        let (told, mut params) = (vec![node.told(&mut self.names)], CUDA_MEM_ALLOC_NODE_PARAMS::default());
        // SAFETY: `params` is valid for the write.
        let code = unsafe { self.driver.cuGraphMemAllocNodeGetParams(node, &mut params) };
        let place = (params.poolProps.allocType, params.poolProps.location.r#type, params.poolProps.location.id);
        let gave = format!("{} bytes at {}, {place:?}", params.bytesize, self.names.address(params.dptr));
        self.said("cuGraphMemAllocNodeGetParams", &told, code, &gave);
    }

    /// `cuGraphAddBatchMemOpNode`
    pub(super) fn add_batch(&mut self, graph: CUgraph, after: &[CUgraphNode], ops: &[MemOp]) -> CUgraphNode {
        let told = vec![graph.told(&mut self.names), after.told(&mut self.names), ops.told(&mut self.names)];
        let (mut array, mut node) = (ops.iter().map(|op| op.params()).collect::<Vec<_>>(), CUgraphNode::NULL);
        let params = CUDA_BATCH_MEM_OP_NODE_PARAMS {
            ctx: self.context,
            count: array.len() as u32,
            paramArray: array.as_mut_ptr(),
            flags: 0,
        };
        // SAFETY: as above.
        let code =
            unsafe { self.driver.cuGraphAddBatchMemOpNode(&mut node, graph, after.as_ptr(), after.len(), &params) };
        self.added("cuGraphAddBatchMemOpNode", told, code, node)
    }

    /// `cuGraphExecBatchMemOpNodeSetParams`
    pub(super) fn exec_batch(&mut self, exec: CUgraphExec, node: CUgraphNode, ops: &[MemOp]) -> CUresult {
        let told = vec![exec.told(&mut self.names), node.told(&mut self.names), ops.told(&mut self.names)];
        let mut array: Vec<CUstreamBatchMemOpParams> = ops.iter().map(|op| op.params()).collect();
        let params = CUDA_BATCH_MEM_OP_NODE_PARAMS {
            ctx: self.context,
            count: array.len() as u32,
            paramArray: array.as_mut_ptr(),
            flags: 0,
        };
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphExecBatchMemOpNodeSetParams(exec, node, &params) };
        self.said("cuGraphExecBatchMemOpNodeSetParams", &told, code, "")
    }

    /// `cuGraphConditionalHandleCreate`; flags 1: the default is set at every launch.
    pub(super) fn condition(&mut self, graph: CUgraph, default: u32, flags: u32) -> Condition {
        let told = vec![graph.told(&mut self.names), default.to_string(), flags.to_string()];
        let (mut handle, context) = (0, self.context);
        // SAFETY: `handle` is valid for the write.
        let code = unsafe { self.driver.cuGraphConditionalHandleCreate(&mut handle, graph, context, default, flags) };
        let name = if code.is_success() { self.names.new_handle("condition", handle) } else { String::new() };
        self.said("cuGraphConditionalHandleCreate", &told, code, &name);
        Condition(handle)
    }

    /// `cuGraphAddNode` of a conditional node; returns its bodies.
    pub(super) fn add_condition(
        &mut self,
        graph: CUgraph,
        after: &[CUgraphNode],
        condition: Condition,
        kind: u32,
        size: u32,
    ) -> (CUgraphNode, Vec<CUgraph>) {
        let kinds = ["if", "while", "switch"];
        let (mut told, how) =
            (vec![graph.told(&mut self.names), after.told(&mut self.names)], condition.told(&mut self.names));
        told.push(format!("{} {how} of {size}", kinds.get(kind as usize).copied().unwrap_or("?")));
        let value = CUDA_CONDITIONAL_NODE_PARAMS {
            handle: condition.0,
            r#type: kind,
            size,
            ctx: self.context,
            ..Default::default()
        };
        // SAFETY: the struct of this type of node.
        let mut params = unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_CONDITIONAL, value) };
        let (mut node, deps) = (CUgraphNode::NULL, after.as_ptr());
        // SAFETY: as above.
        let code = unsafe {
            self.driver.cuGraphAddNode_v2(&mut node, graph, deps, std::ptr::null(), after.len(), &mut params)
        };
        if !code.is_success() {
            self.said("cuGraphAddNode", &told, code, "");
            // Bodies that can be written to and are never run, so that the case may go on.
            let spare = || {
                let mut graph = CUgraph::NULL;
                // SAFETY: `graph` is valid for the write.
                unsafe { self.driver.cuGraphCreate(&mut graph, 0) };
                graph
            };
            let spares: Vec<CUgraph> = (0..size.max(1)).map(|_| spare()).collect();
            return (node, spares);
        }
        // SAFETY: the driver was given these parameters for this type, and wrote where the bodies are: an array of `size`.
        let bodies: Vec<CUgraph> = unsafe {
            let written: CUDA_CONDITIONAL_NODE_PARAMS = params.read();
            std::slice::from_raw_parts(written.phGraph_out, size as usize).to_vec()
        };
        let mut names = vec![self.names.new_handle("node", node.bits())];
        names.extend(bodies.iter().map(|body| self.names.new_handle("graph", body.bits())));
        self.said("cuGraphAddNode", &told, code, &names.join(", "));
        (node, bodies)
    }

    /// `cuGraphAddDependencies_v2`: edges with data.
    pub(super) fn connect_with(&mut self, graph: CUgraph, from: CUgraphNode, to: CUgraphNode, edge: Edge) -> CUresult {
        let told = vec![
            graph.told(&mut self.names),
            from.told(&mut self.names),
            to.told(&mut self.names),
            edge.told(&mut self.names),
        ];
        let data = edge.params();
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphAddDependencies_v2(graph, &from, &to, &data, 1) };
        self.said("cuGraphAddDependencies", &told, code, "")
    }

    /// Nodes with their types, and edges, as `cuGraphGetNodes` and `cuGraphGetEdges_v2` list them.
    pub(super) fn shape(&mut self, graph: CUgraph) -> Vec<CUgraphNode> {
        const TYPES: [&str; 14] = [
            "kernel",
            "copy",
            "set",
            "host",
            "child",
            "empty",
            "wait",
            "record",
            "signal",
            "await",
            "alloc",
            "free",
            "batch",
            "condition",
        ];
        let mut count = 0;
        // SAFETY: with a null array the driver only counts.
        let code = unsafe { self.driver.cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count) };
        let mut nodes = vec![CUgraphNode::NULL; count];
        let (mut edges, from, to, data);
        edges = 0;
        // SAFETY: the arrays have as many elements as the driver counted.
        unsafe {
            if count > 0 {
                self.driver.cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count);
            }
            let null = std::ptr::null_mut();
            self.driver.cuGraphGetEdges_v2(graph, null, null, std::ptr::null_mut(), &mut edges);
            let mut ends = [vec![CUgraphNode::NULL; edges], vec![CUgraphNode::NULL; edges]];
            let mut how = vec![CUgraphEdgeData::default(); edges];
            if edges > 0 {
                let [from, to] = ends.each_mut().map(|nodes| nodes.as_mut_ptr());
                self.driver.cuGraphGetEdges_v2(graph, from, to, how.as_mut_ptr(), &mut edges);
            }
            ([from, to], data) = (ends, how);
        }
        let mut parts = Vec::new();
        for &node in &nodes {
            let mut kind = 0;
            // SAFETY: the driver gave the node.
            unsafe { self.driver.cuGraphNodeGetType(node, &mut kind) };
            parts.push(format!("{} {}", node.told(&mut self.names), TYPES.get(kind as usize).unwrap_or(&"?")));
        }
        for ((from, to), data) in from.iter().zip(&to).zip(&data) {
            let how = match (data.r#type, data.from_port, data.to_port) {
                (0, 0, 0) => String::new(),
                (kind, port, other) => format!(" type {kind} ports {port}>{other}"),
            };
            parts.push(format!("{}>{}{how}", from.told(&mut self.names), to.told(&mut self.names)));
        }
        let name = graph.told(&mut self.names);
        self.say(format!("{name}: {} {}", code_name(code), parts.join("; ")));
        nodes
    }

    /// `cuGraphInstantiateWithParams`
    pub(super) fn instantiate_with(&mut self, graph: CUgraph, flags: u64, stream: CUstream) -> CUgraphExec {
        let told = vec![graph.told(&mut self.names), flags.to_string(), stream.told(&mut self.names)];
        let mut params = CUDA_GRAPH_INSTANTIATE_PARAMS { flags, hUploadStream: stream, ..Default::default() };
        let mut exec = CUgraphExec::NULL;
        // SAFETY: both are valid for reading and writing.
        let code = unsafe { self.driver.cuGraphInstantiateWithParams(&mut exec, graph, &mut params) };
        let name = if code.is_success() { self.keep(exec) } else { String::new() };
        self.said("cuGraphInstantiateWithParams", &told, code, &name);
        let node = params.hErrNode_out.told(&mut self.names);
        self.say(format!("result {}, {node}", params.result_out));
        exec
    }

    /// `cuGraphExecUpdate`
    pub(super) fn update(&mut self, exec: CUgraphExec, graph: CUgraph) -> CUresult {
        let told = vec![exec.told(&mut self.names), graph.told(&mut self.names)];
        let mut info = CUgraphExecUpdateResultInfo::default();
        // SAFETY: `info` is valid for the write.
        let code = unsafe { self.driver.cuGraphExecUpdate_v2(exec, graph, &mut info) };
        self.said("cuGraphExecUpdate", &told, code, "");
        let (node, from) = (info.errorNode.told(&mut self.names), info.errorFromNode.told(&mut self.names));
        self.say(format!("result {}, {node}, from {from}", info.result));
        code
    }

    /// `cuGraphExecKernelNodeSetParams`
    pub(super) fn exec_kernel(&mut self, exec: CUgraphExec, node: CUgraphNode, kernel: &Kernel) -> CUresult {
        let told = vec![exec.told(&mut self.names), node.told(&mut self.names), kernel.told(&mut self.names)];
        let (mut values, mut pointers) = (kernel.values(), Vec::new());
        let params = kernel.node(&mut values, &mut pointers);
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphExecKernelNodeSetParams_v2(exec, node, &params) };
        self.said("cuGraphExecKernelNodeSetParams", &told, code, "")
    }

    /// `cuGraphKernelNodeSetParams`
    pub(super) fn node_kernel(&mut self, node: CUgraphNode, kernel: &Kernel) -> CUresult {
        let told = vec![node.told(&mut self.names), kernel.told(&mut self.names)];
        let (mut values, mut pointers) = (kernel.values(), Vec::new());
        let params = kernel.node(&mut values, &mut pointers);
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphKernelNodeSetParams_v2(node, &params) };
        self.said("cuGraphKernelNodeSetParams", &told, code, "")
    }

    /// `cuGraphKernelNodeGetParams`: shape and function.
    pub(super) fn kernel_params(&mut self, node: CUgraphNode) {
        let (told, mut p) = (vec![node.told(&mut self.names)], CUDA_KERNEL_NODE_PARAMS::default());
        // SAFETY: `p` is valid for the write.
        let code = unsafe { self.driver.cuGraphKernelNodeGetParams_v2(node, &mut p) };
        let (grid, block) = ([p.gridDimX, p.gridDimY, p.gridDimZ], [p.blockDimX, p.blockDimY, p.blockDimZ]);
        let function = if code.is_success() { p.func.told(&mut self.names) } else { String::new() };
        let gave = format!("{function} {grid:?} {block:?} {} shared", p.sharedMemBytes);
        self.said("cuGraphKernelNodeGetParams", &told, code, &gave);
    }

    /// `cuGraphExecMemcpyNodeSetParams`
    pub(super) fn exec_copy(&mut self, exec: CUgraphExec, node: CUgraphNode, copy: &Copy3) -> CUresult {
        let told = vec![exec.told(&mut self.names), node.told(&mut self.names), copy.told(&mut self.names)];
        let params = copy.params();
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphExecMemcpyNodeSetParams(exec, node, &params, self.context) };
        self.said("cuGraphExecMemcpyNodeSetParams", &told, code, "")
    }

    /// `cuGraphMemcpyNodeGetParams`: what it copies.
    pub(super) fn copy_params(&mut self, node: CUgraphNode) {
        let (told, mut p) = (vec![node.told(&mut self.names)], CUDA_MEMCPY3D::default());
        // SAFETY: `p` is valid for the write.
        let code = unsafe { self.driver.cuGraphMemcpyNodeGetParams(node, &mut p) };
        let side = |kind: u32, host: u64, device: u64| match kind {
            CU_MEMORYTYPE_HOST => format!("host {}", self.names.address(host)),
            kind => format!("type {kind} {}", self.names.address(device)),
        };
        let target = side(p.dstMemoryType, p.dstHost as usize as u64, p.dstDevice);
        let source = side(p.srcMemoryType, p.srcHost as usize as u64, p.srcDevice);
        let extent = [p.WidthInBytes, p.Height, p.Depth];
        self.said("cuGraphMemcpyNodeGetParams", &told, code, &format!("{target} <- {source}, {extent:?}"));
    }

    /// `cuGraphExecMemsetNodeSetParams`
    pub(super) fn exec_fill(&mut self, exec: CUgraphExec, node: CUgraphNode, fill: &Fill) -> CUresult {
        let told = vec![exec.told(&mut self.names), node.told(&mut self.names), fill.told(&mut self.names)];
        let params = fill.params();
        // SAFETY: as above.
        let code = unsafe { self.driver.cuGraphExecMemsetNodeSetParams(exec, node, &params, self.context) };
        self.said("cuGraphExecMemsetNodeSetParams", &told, code, "")
    }

    /// `cuGraphMemsetNodeGetParams`
    pub(super) fn fill_params(&mut self, node: CUgraphNode) {
        let (told, mut p) = (vec![node.told(&mut self.names)], CUDA_MEMSET_NODE_PARAMS::default());
        // SAFETY: `p` is valid for the write.
        let code = unsafe { self.driver.cuGraphMemsetNodeGetParams(node, &mut p) };
        let gave = Fill {
            target: p.dst,
            value: p.value,
            element: p.elementSize,
            width: p.width,
            rows: p.height,
            pitch: p.pitch,
        };
        let gave = gave.told(&mut self.names);
        self.said("cuGraphMemsetNodeGetParams", &told, code, &gave);
    }

    /// `cuGraphExecHostNodeSetParams`
    pub(super) fn exec_host(&mut self, exec: CUgraphExec, node: CUgraphNode, act: HostAct) -> CUresult {
        let told = vec![exec.told(&mut self.names), node.told(&mut self.names), act.told(&mut self.names)];
        let params = CUDA_HOST_NODE_PARAMS { r#fn: Some(host_function), userData: self.job(act) };
        // SAFETY: as above; the job lives until the case has ended.
        let code = unsafe { self.driver.cuGraphExecHostNodeSetParams(exec, node, &params) };
        self.said("cuGraphExecHostNodeSetParams", &told, code, "")
    }

    /// `cuGraphKernelNodeSetAttribute`
    pub(super) fn set_node_attribute(&mut self, node: CUgraphNode, attribute: u32, word: u64) -> CUresult {
        let told = vec![node.told(&mut self.names), attribute.to_string(), word.to_string()];
        let mut value = CUlaunchAttributeValue::default();
        value.words[0] = word;
        // SAFETY: `value` lives until the call returns.
        let code = unsafe { self.driver.cuGraphKernelNodeSetAttribute(node, attribute, &value) };
        self.said("cuGraphKernelNodeSetAttribute", &told, code, "")
    }

    /// `cuGraphKernelNodeGetAttribute`: the low half of the first word.
    pub(super) fn node_attribute(&mut self, node: CUgraphNode, attribute: u32) -> CUresult {
        let (told, mut value) =
            (vec![node.told(&mut self.names), attribute.to_string()], CUlaunchAttributeValue::default());
        // SAFETY: `value` is valid for the write.
        let code = unsafe { self.driver.cuGraphKernelNodeGetAttribute(node, attribute, &mut value) };
        self.said("cuGraphKernelNodeGetAttribute", &told, code, &(value.words[0] as u32 as i32).to_string())
    }

    /// The four attributes of the memory that graphs hold.
    pub(super) fn graph_memory(&mut self) {
        let mut values = [0u64; 4];
        let mut codes = Vec::new();
        for (attribute, value) in values.iter_mut().enumerate() {
            // SAFETY: eight bytes, valid for the write.
            let code = unsafe {
                self.driver.cuDeviceGetGraphMemAttribute(0, attribute as u32, std::ptr::from_mut(value).cast())
            };
            codes.push(code_name(code));
        }
        codes.dedup();
        let [used, used_high, reserved, reserved_high] = values;
        self.say(format!(
            "graph memory {codes:?}: used {used} high {used_high}, reserved {reserved} high {reserved_high}"
        ));
    }

    /// `cuDeviceSetGraphMemAttribute`
    pub(super) fn set_graph_memory(&mut self, attribute: u32, value: u64) -> CUresult {
        let (told, mut value) = ([attribute.to_string(), value.to_string()], value);
        // SAFETY: eight bytes, alive until the call returns.
        let code =
            unsafe { self.driver.cuDeviceSetGraphMemAttribute(0, attribute, std::ptr::from_mut(&mut value).cast()) };
        self.said("cuDeviceSetGraphMemAttribute", &told, code, "")
    }

    /// `cuUserObjectCreate`; its destructor notes a number in the log.
    pub(super) fn object(&mut self, number: u64, references: u32) -> CUuserObject {
        let (job, mut object) = (self.job(HostAct::Note(number)), CUuserObject::NULL);
        // SAFETY: the job lives until the case has ended; `object` is valid for the write.
        let code = unsafe { self.driver.cuUserObjectCreate(&mut object, job, Some(host_function), references, 1) };
        let name = if code.is_success() { self.names.new_handle("object", object.bits()) } else { String::new() };
        self.said("cuUserObjectCreate", &[number.to_string(), references.to_string()], code, &name);
        object
    }

    /// Launches once and waits.
    pub(super) fn run_once(&mut self, exec: CUgraphExec, stream: CUstream) {
        self.run(exec, stream);
        self.sync(stream);
    }
}
