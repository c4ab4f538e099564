//! Nodes: adding them, and asking for and changing what they do.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::graph::{edge_list, graph_named, node_handle, node_named};
use super::launch::{Request, prepare, set_attribute};
use crate::foreign::{get, put};
use crate::model::graph::{Lent, Node, NodeKind};
use crate::model::table::Key;
use crate::model::work::{HostWork, KernelWork};
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// How deep child graphs may nest: every walk over them is a recursion.
pub(crate) const DEPTH_MAX: usize = 64;

/// Where a node is to stand: the arguments that every "add node" call has.
pub(crate) struct Spot {
    pub(crate) out: *mut CUgraphNode,
    pub(crate) graph: CUgraph,
    pub(crate) dependencies: *const CUgraphNode,
    pub(crate) data: *const CUgraphEdgeData,
    pub(crate) count: usize,
}

impl Spot {
    pub(crate) fn plain(out: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize) -> Spot {
        Spot { out, graph, dependencies, data: std::ptr::null(), count }
    }

    /// Adds a node of this kind here.
    pub(crate) unsafe fn add(&self, v: &mut Visit<'_>, kind: NodeKind) -> Answer {
        // SAFETY: the arguments of the call that passes them on.
        unsafe { self.add_node(v, kind) }.map(|_| ())
    }

    /// As [`Spot::add`]; the answer is the node.
    pub(crate) unsafe fn add_node(&self, v: &mut Visit<'_>, kind: NodeKind) -> Result<Key<Node>, CUresult> {
        let graph = graph_named(v, self.graph)?;
        if self.out.is_null() {
            return Err(INVALID);
        }
        // SAFETY: the arrays of the call that passes them on.
        let before = unsafe { edge_list(v, self.dependencies, self.data, self.count) }?;
        let node = v.graphs.add_node(graph, kind, &before)?;
        let handle = node_handle(v, node);
        // SAFETY: an out pointer of that call.
        unsafe { put(self.out, handle) }?;
        Ok(node)
    }
}

/// What a kernel node does, from its C struct.
pub(crate) unsafe fn kernel_work(
    v: &mut Visit<'_>,
    params: *const CUDA_KERNEL_NODE_PARAMS,
) -> Result<KernelWork, CUresult> {
    // SAFETY: an in pointer of the call that passes it on.
    let p = unsafe { get(params) }?;
    let function = if p.func.is_null() { CUfunction::from_bits(p.kern.bits()) } else { p.func };
    let request = Request {
        function,
        grid: [p.gridDimX, p.gridDimY, p.gridDimZ],
        block: [p.blockDimX, p.blockDimY, p.blockDimZ],
        shared: p.sharedMemBytes,
        params: p.kernelParams,
        extra: p.extra,
    };
    // SAFETY: the parameters are as a launch's, by the page of the call that passes them on.
    unsafe { prepare(v, &request) }
}

pub(crate) unsafe fn add_kernel(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    params: *const CUDA_KERNEL_NODE_PARAMS,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe {
        let work = kernel_work(v, params)?;
        Spot::plain(out, graph, dependencies, count).add(v, NodeKind::Kernel(Arc::new(work)))
    }
}

pub(crate) unsafe fn add_copy(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    copy: *const CUDA_MEMCPY3D,
    _context: CUcontext,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe {
        let work = super::copy::node(v, copy)?;
        Spot::plain(out, graph, dependencies, count).add(v, NodeKind::Copy(Arc::new(work)))
    }
}

pub(crate) unsafe fn add_set(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    params: *const CUDA_MEMSET_NODE_PARAMS,
    _context: CUcontext,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe {
        let work = super::set::node(v, params)?;
        Spot::plain(out, graph, dependencies, count).add(v, NodeKind::Set(Arc::new(work)))
    }
}

/// What a host node does, from its C struct.
pub(crate) unsafe fn host_work(params: *const CUDA_HOST_NODE_PARAMS) -> Result<HostWork, CUresult> {
    // SAFETY: an in pointer of the call that passes it on.
    let p = unsafe { get(params) }?;
    let function = p.r#fn.ok_or(INVALID)?;
    Ok(HostWork { function: function as usize, data: p.userData as usize })
}

pub(crate) unsafe fn add_host(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    params: *const CUDA_HOST_NODE_PARAMS,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe {
        let work = host_work(params)?;
        Spot::plain(out, graph, dependencies, count).add(v, NodeKind::Host(work))
    }
}

pub(crate) unsafe fn add_empty(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { Spot::plain(out, graph, dependencies, count).add(v, NodeKind::Empty) }
}

/// A child node holds a copy of its graph.
unsafe fn child_at(v: &mut Visit<'_>, spot: &Spot, child: CUgraph) -> Answer {
    let (graph, child) = (graph_named(v, spot.graph)?, graph_named(v, child)?);
    if graph == child {
        // NVIDIA's driver crashes here.
        return Err(INVALID);
    }
    if v.graphs.depth(child) >= DEPTH_MAX {
        return Err(v.unsupported(format!("graphs nested more than {DEPTH_MAX} deep")));
    }
    super::graph_memory::refuse_if_memory(v, child, "cannot be a child graph", "launch it by itself instead")?;
    let copy = v.graphs.clone_graph(child, true)?;
    // SAFETY: the arguments of the call that passes them on.
    unsafe { spot.add(v, NodeKind::Child(copy)) }.inspect_err(|_| v.graphs.remove_graph(copy))
}

/// A child node that takes its graph over: the handle stays, and the graph lives and dies with the node. A graph that is
/// in a node already does not move again, as observed.
unsafe fn moved_child_at(v: &mut Visit<'_>, spot: &Spot, child: CUgraph) -> Answer {
    let (graph, child) = (graph_named(v, spot.graph)?, graph_named(v, child)?);
    if graph == child {
        return Err(INVALID);
    }
    if v.graphs.graphs.get(child).is_some_and(|child| child.embedded) {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let is_inside = {
        // The graph that the node is added to may not be somewhere in the child.
        let mut stack = v.graphs.children(child);
        let mut found = false;
        while let Some(inner) = stack.pop() {
            found |= inner == graph;
            stack.extend(v.graphs.children(inner));
        }
        found
    };
    if is_inside {
        return Err(INVALID);
    }
    if v.graphs.depth(child) >= DEPTH_MAX {
        return Err(v.unsupported(format!("graphs nested more than {DEPTH_MAX} deep")));
    }
    if v.captures.iter().any(|(_, capture)| capture.graph == child) {
        return Err(v.unsupported("moving a graph that a capture is at"));
    }
    // SAFETY: the arguments of the call that passes them on.
    unsafe { spot.add(v, NodeKind::Child(child)) }?;
    if let Some(child) = v.graphs.graphs.get_mut(child) {
        child.embedded = true;
    }
    Ok(())
}

pub(crate) unsafe fn add_child(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    child: CUgraph,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { child_at(v, &Spot::plain(out, graph, dependencies, count), child) }
}

/// Event nodes refuse a null event with `INVALID_VALUE`, unlike the event calls.
fn event_for_node(v: &mut Visit<'_>, event: CUevent) -> Result<Key<crate::model::objects::Event>, CUresult> {
    if event.is_null() { Err(INVALID) } else { v.event(event) }
}

pub(crate) unsafe fn add_event_record(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    event: CUevent,
) -> Answer {
    let event = event_for_node(v, event)?;
    // SAFETY: the arguments of this call.
    unsafe { Spot::plain(out, graph, dependencies, count).add(v, NodeKind::EventRecord(event)) }
}

pub(crate) unsafe fn add_event_wait(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    event: CUevent,
) -> Answer {
    let event = event_for_node(v, event)?;
    // SAFETY: the arguments of this call.
    unsafe { Spot::plain(out, graph, dependencies, count).add(v, NodeKind::EventWait(event)) }
}

/// What a node of any type does, from the C struct that covers all of them.
pub(crate) unsafe fn any_kind(v: &mut Visit<'_>, p: &CUgraphNodeParams) -> Result<NodeKind, CUresult> {
    if p.reserved2 != 0 || p.reserved0 != [0; 3] {
        return Err(INVALID);
    }
    // SAFETY: each struct is read under the type that cuda.h gives it.
    unsafe {
        Ok(match p.r#type {
            CU_GRAPH_NODE_TYPE_KERNEL => {
                let params = p.read::<CUDA_KERNEL_NODE_PARAMS>();
                NodeKind::Kernel(Arc::new(kernel_work(v, &params)?))
            }
            CU_GRAPH_NODE_TYPE_MEMCPY => {
                let params = p.read::<CUDA_MEMCPY_NODE_PARAMS>();
                NodeKind::Copy(Arc::new(super::copy::node(v, &params.copyParams)?))
            }
            CU_GRAPH_NODE_TYPE_MEMSET => {
                let params = p.read::<CUDA_MEMSET_NODE_PARAMS>();
                NodeKind::Set(Arc::new(super::set::node(v, &params)?))
            }
            CU_GRAPH_NODE_TYPE_HOST => NodeKind::Host(host_work(&p.read::<CUDA_HOST_NODE_PARAMS>())?),
            CU_GRAPH_NODE_TYPE_EMPTY => NodeKind::Empty,
            CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
                NodeKind::EventWait(event_for_node(v, p.read::<CUDA_EVENT_NODE_PARAMS>().event)?)
            }
            CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
                NodeKind::EventRecord(event_for_node(v, p.read::<CUDA_EVENT_NODE_PARAMS>().event)?)
            }
            CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => {
                let params = p.read::<CUDA_BATCH_MEM_OP_NODE_PARAMS>();
                NodeKind::Values(Arc::new(super::stream_values::node(v, &params)?))
            }
            other @ 4..=13 => return Err(v.unsupported(format!("graph nodes of type {other}"))),
            _ => return Err(INVALID),
        })
    }
}

pub(crate) unsafe fn add_any(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
    params: *mut CUgraphNodeParams,
) -> Answer {
    let spot = Spot { out, graph, dependencies, data, count };
    // SAFETY: the arguments of this call.
    unsafe {
        let given = params;
        let params = get(params.cast_const())?;
        if params.r#type == CU_GRAPH_NODE_TYPE_CONDITIONAL {
            return super::conditional::add(v, &spot, given);
        }
        if params.reserved2 == 0 && params.reserved0 == [0; 3] {
            match params.r#type {
                CU_GRAPH_NODE_TYPE_MEM_ALLOC => {
                    let mut asked = params.read::<CUDA_MEM_ALLOC_NODE_PARAMS>();
                    asked.dptr = super::graph_memory::alloc_at(v, &spot, &asked)?;
                    return put(given, CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_MEM_ALLOC, asked));
                }
                CU_GRAPH_NODE_TYPE_MEM_FREE => {
                    let address = params.read::<CUDA_MEM_FREE_NODE_PARAMS>().dptr;
                    return super::graph_memory::free_at(v, &spot, address);
                }
                _ => {}
            }
        }
        if params.r#type == CU_GRAPH_NODE_TYPE_GRAPH && params.reserved2 == 0 {
            let child = params.read::<CUDA_CHILD_GRAPH_NODE_PARAMS>();
            return match child.ownership {
                0 => child_at(v, &spot, child.graph),
                1 => moved_child_at(v, &spot, child.graph),
                _ => Err(INVALID),
            };
        }
        let kind = any_kind(v, &params)?;
        spot.add(v, kind)
    }
}

pub(crate) unsafe fn add_any_v1(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    params: *mut CUgraphNodeParams,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { add_any(v, out, graph, dependencies, std::ptr::null(), count, params) }
}

pub(crate) unsafe fn child_get_graph(v: &mut Visit<'_>, node: CUgraphNode, out: *mut CUgraph) -> Answer {
    let key = node_named(v, node)?;
    let Some(Node { kind: NodeKind::Child(graph), .. }) = v.graphs.nodes.get(key) else { return Err(INVALID) };
    let handle = CUgraph::from_bits(v.graphs.graphs.handle(*graph));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

fn kernel_of(v: &mut Visit<'_>, node: CUgraphNode) -> Result<(Key<Node>, Arc<KernelWork>), CUresult> {
    let key = node_named(v, node)?;
    match v.graphs.nodes.get(key).map(|node| &node.kind) {
        Some(NodeKind::Kernel(work)) => Ok((key, work.clone())),
        Some(NodeKind::Collective(_)) => Err(v.unsupported("the parameters and attributes of a kernel of NCCL")),
        _ => Err(INVALID),
    }
}

pub(crate) unsafe fn kernel_get_params(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    out: *mut CUDA_KERNEL_NODE_PARAMS,
) -> Answer {
    let (key, work) = kernel_of(v, node)?;
    let info = work.function.image.program().info(work.function.kernel);
    let base = work.params.as_ptr() as usize;
    let node = v.graphs.nodes.get_mut(key).ok_or(INVALID)?;
    // The pointers go into the node's own copy of the arguments, and live until those change; asked for again, they
    // are the same ones.
    let lent = if !node.lent.pointers.is_empty() {
        std::mem::take(&mut node.lent)
    } else if work.as_buffer {
        let mut lent = Lent { pointers: Vec::new(), buffer_size: Box::new(work.params.len()) };
        lent.pointers = vec![1, base, 2, std::ptr::from_ref(&*lent.buffer_size) as usize, 0];
        lent
    } else {
        let pointers = info.params.iter().map(|param| base + param.offset).collect();
        Lent { pointers, buffer_size: Box::default() }
    };
    node.lent = lent;
    let array = node.lent.pointers.as_mut_ptr().cast::<*mut c_void>();
    let none = std::ptr::null_mut();
    let (as_pointers, as_buffer) = if work.as_buffer { (none, array) } else { (array, none) };
    let params = CUDA_KERNEL_NODE_PARAMS {
        func: CUfunction::from_bits(work.function.handle.load(Ordering::Relaxed)),
        gridDimX: work.grid[0],
        gridDimY: work.grid[1],
        gridDimZ: work.grid[2],
        blockDimX: work.block[0],
        blockDimY: work.block[1],
        blockDimZ: work.block[2],
        sharedMemBytes: work.shared,
        kernelParams: if info.params.is_empty() { none } else { as_pointers },
        extra: as_buffer,
        kern: CUkernel::NULL,
        ctx: CUcontext::NULL,
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, params) }
}

pub(crate) unsafe fn kernel_set_params(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    params: *const CUDA_KERNEL_NODE_PARAMS,
) -> Answer {
    let (key, old) = kernel_of(v, node)?;
    // SAFETY: the arguments of this call.
    let mut work = unsafe { kernel_work(v, params) }?;
    work.keep_attributes(&old);
    if let Some(node) = v.graphs.nodes.get_mut(key) {
        node.kind = NodeKind::Kernel(Arc::new(work));
        node.lent = Lent::default();
    }
    Ok(())
}

pub(crate) unsafe fn kernel_set_attribute(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    attribute: CUkernelNodeAttrID,
    value: *const CUkernelNodeAttrValue,
) -> Answer {
    let (key, work) = kernel_of(v, node)?;
    // SAFETY: an in pointer of this call.
    let value = unsafe { get(value) }?;
    let mut work = (*work).clone();
    set_attribute(v, &mut work, attribute, &value)?;
    if let Some(node) = v.graphs.nodes.get_mut(key) {
        // The arguments are shared with the old work, so what was lent of them stays good.
        node.kind = NodeKind::Kernel(Arc::new(work));
    }
    Ok(())
}

pub(crate) unsafe fn kernel_get_attribute(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    attribute: CUkernelNodeAttrID,
    out: *mut CUkernelNodeAttrValue,
) -> Answer {
    let (_, work) = kernel_of(v, node)?;
    let mut value = CUkernelNodeAttrValue::default();
    match attribute {
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE => value.words[0] = u64::from(work.cooperative),
        CU_LAUNCH_ATTRIBUTE_PRIORITY => value.words[0] = u64::from(work.priority as u32),
        other => match work.attributes.iter().find(|(known, _)| *known == other) {
            Some((_, known)) => value = *known,
            // What an H200 answers for a node that nobody has set anything on.
            None => match other {
                CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
                | CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
                | CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN
                | 13
                | 14 => {}
                CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => value.words[0] = 1,
                // Two bytes: the default domain and the remote one.
                CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => value.words[0] = 1 << 8,
                3 | 6 | 7 | 11 | 12 => return Err(INVALID),
                _ => return Err(v.unsupported(format!("kernel node attribute {other}"))),
            },
        },
    }
    // SAFETY: an out pointer of this call.
    unsafe { put(out, value) }
}

/// Changes a node of the template, if it is of the kind that `change` makes.
pub(crate) fn replace(v: &mut Visit<'_>, node: CUgraphNode, kind: NodeKind) -> Answer {
    let key = node_named(v, node)?;
    let node = v.graphs.nodes.get_mut(key).ok_or(INVALID)?;
    if node.kind.number() != kind.number() {
        return Err(INVALID);
    }
    node.kind = kind;
    Ok(())
}

pub(crate) unsafe fn copy_set_params(v: &mut Visit<'_>, node: CUgraphNode, copy: *const CUDA_MEMCPY3D) -> Answer {
    // SAFETY: the arguments of this call.
    let work = unsafe { super::copy::node(v, copy) }?;
    replace(v, node, NodeKind::Copy(Arc::new(work)))
}

pub(crate) unsafe fn set_set_params(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    params: *const CUDA_MEMSET_NODE_PARAMS,
) -> Answer {
    // SAFETY: the arguments of this call.
    let work = unsafe { super::set::node(v, params) }?;
    replace(v, node, NodeKind::Set(Arc::new(work)))
}

pub(crate) unsafe fn set_get_params(v: &mut Visit<'_>, node: CUgraphNode, out: *mut CUDA_MEMSET_NODE_PARAMS) -> Answer {
    let key = node_named(v, node)?;
    let Some(Node { kind: NodeKind::Set(work), .. }) = v.graphs.nodes.get(key) else { return Err(INVALID) };
    let params = CUDA_MEMSET_NODE_PARAMS {
        dst: work.address,
        pitch: work.pitch as usize,
        value: work.value,
        elementSize: work.element,
        width: work.width as usize,
        height: work.height as usize,
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, params) }
}

pub(crate) unsafe fn host_set_params(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    params: *const CUDA_HOST_NODE_PARAMS,
) -> Answer {
    // SAFETY: the arguments of this call.
    let work = unsafe { host_work(params) }?;
    replace(v, node, NodeKind::Host(work))
}

pub(crate) unsafe fn record_set_event(v: &mut Visit<'_>, node: CUgraphNode, event: CUevent) -> Answer {
    let event = event_for_node(v, event)?;
    replace(v, node, NodeKind::EventRecord(event))
}

pub(crate) unsafe fn wait_set_event(v: &mut Visit<'_>, node: CUgraphNode, event: CUevent) -> Answer {
    let event = event_for_node(v, event)?;
    replace(v, node, NodeKind::EventWait(event))
}
