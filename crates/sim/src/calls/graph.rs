//! Graphs: making, asking, joining and taking them apart. What a node does stands in [`super::graph_node`].
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_char, c_uint};
use std::fmt::Write as _;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use crate::foreign::{get, list, put, text};
use crate::model::graph::{Edge, Graph, Node, NodeKind, WholeEdge, is_plain};
use crate::model::table::{Key, Lookup};
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// The graph behind a handle.
pub(crate) fn graph_named(v: &mut Visit<'_>, handle: CUgraph) -> Result<Key<Graph>, CUresult> {
    match v.graphs.graphs.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        Lookup::Stale => {
            v.find_stale("graph", "cuGraphDestroy");
            Err(INVALID)
        }
        Lookup::Foreign => Err(INVALID),
    }
}

/// The node behind a handle.
pub(crate) fn node_named(v: &mut Visit<'_>, handle: CUgraphNode) -> Result<Key<Node>, CUresult> {
    match v.graphs.nodes.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        Lookup::Stale => {
            v.find_stale("node", "its graph or by cuGraphDestroyNode");
            Err(INVALID)
        }
        Lookup::Foreign => Err(INVALID),
    }
}

/// The handle of a node.
pub(crate) fn node_handle(v: &Visit<'_>, key: Key<Node>) -> CUgraphNode {
    CUgraphNode::from_bits(v.graphs.nodes.handle(key))
}

/// The dependencies that a call was given, with their data if it was given any.
pub(crate) unsafe fn edge_list(
    v: &mut Visit<'_>,
    nodes: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
) -> Result<Vec<Edge>, CUresult> {
    // SAFETY: arrays of `count` elements, by the page of the call that passes them on; the data may be absent.
    let (nodes, data) = unsafe {
        let data =
            if data.is_null() { vec![CUgraphEdgeData::default(); count.min(1 << 24)] } else { list(data, count)? };
        (list(nodes, count)?, data)
    };
    nodes.into_iter().zip(data).map(|(node, data)| Ok((node_named(v, node)?, data))).collect()
}

pub(crate) unsafe fn create(v: &mut Visit<'_>, out: *mut CUgraph, flags: c_uint) -> Answer {
    if out.is_null() || flags != 0 {
        return Err(INVALID);
    }
    let key = v.graphs.graphs.insert(Graph::default());
    let handle = CUgraph::from_bits(v.graphs.graphs.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

/// Whether a capture is at this graph, or at one embedded in it.
fn is_being_captured(v: &Visit<'_>, key: Key<Graph>) -> bool {
    v.captures.iter().any(|(_, capture)| capture.graph == key)
        || v.graphs.children(key).into_iter().any(|child| is_being_captured(v, child))
}

pub(crate) unsafe fn destroy(v: &mut Visit<'_>, handle: CUgraph) -> Answer {
    let key = graph_named(v, handle)?;
    if is_being_captured(v, key) {
        return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE);
    }
    if v.graphs.graphs.get(key).is_some_and(|graph| graph.embedded) {
        return Err(INVALID);
    }
    v.graphs.remove_graph(key);
    super::graph_memory::forget_dead(v);
    v.retire_images();
    Ok(())
}

pub(crate) unsafe fn clone(v: &mut Visit<'_>, out: *mut CUgraph, handle: CUgraph) -> Answer {
    let key = graph_named(v, handle)?;
    if out.is_null() {
        return Err(INVALID);
    }
    super::graph_memory::refuse_if_memory(v, key, "cannot be cloned", "build the graph a second time instead")?;
    let copy = v.graphs.clone_graph(key, false)?;
    let handle = CUgraph::from_bits(v.graphs.graphs.handle(copy));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn find_in_clone(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    original: CUgraphNode,
    clone: CUgraph,
) -> Answer {
    let graph = graph_named(v, clone)?;
    // The original may be gone by now: its handle still names what the clone remembers.
    let nodes = v.graphs.graphs.get(graph).map(|graph| graph.nodes.clone()).unwrap_or_default();
    let is_twin = |key: &Key<Node>| {
        let from = v.graphs.nodes.get(*key).and_then(|node| node.cloned_from);
        from.is_some_and(|from| v.graphs.nodes.handle(from) == original.bits())
    };
    let twin = nodes.into_iter().find(is_twin).ok_or(INVALID)?;
    let handle = node_handle(v, twin);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

/// Fills a program's array by the rules of every list call: a null array asks for the count; a larger count is
/// lowered and the rest set to null; a smaller one gets that many; 0 with an array is refused.
unsafe fn give<T: Copy + Default>(items: &[T], out: *mut T, count: *mut usize) -> Answer {
    if out.is_null() {
        // SAFETY: an out pointer of the call that passes it on.
        return unsafe { put(count, items.len()) };
    }
    // SAFETY: an in pointer of that call.
    let room = unsafe { get(count) }?;
    if room == 0 {
        return Err(INVALID);
    }
    for at in 0..room {
        // SAFETY: the array has `room` elements, by that call's page.
        unsafe { out.add(at).write_unaligned(items.get(at).copied().unwrap_or_default()) };
    }
    // SAFETY: as above.
    unsafe { put(count, items.len().min(room)) }
}

pub(crate) unsafe fn get_nodes(v: &mut Visit<'_>, graph: CUgraph, out: *mut CUgraphNode, count: *mut usize) -> Answer {
    let key = graph_named(v, graph)?;
    let nodes = v.graphs.graphs.get(key).map(|graph| graph.nodes.clone()).unwrap_or_default();
    let handles: Vec<_> = nodes.into_iter().map(|node| node_handle(v, node)).collect();
    if count.is_null() {
        return Err(INVALID);
    }
    // SAFETY: the arguments of this call.
    unsafe { give(&handles, out, count) }
}

pub(crate) unsafe fn get_roots(v: &mut Visit<'_>, graph: CUgraph, out: *mut CUgraphNode, count: *mut usize) -> Answer {
    let key = graph_named(v, graph)?;
    let nodes = v.graphs.graphs.get(key).map(|graph| graph.nodes.clone()).unwrap_or_default();
    let is_root = |node: &Key<Node>| v.graphs.nodes.get(*node).is_some_and(|node| node.before.is_empty());
    let handles: Vec<_> = nodes.into_iter().filter(is_root).map(|node| node_handle(v, node)).collect();
    if count.is_null() {
        return Err(INVALID);
    }
    // SAFETY: the arguments of this call.
    unsafe { give(&handles, out, count) }
}

/// Edges with their data, for a call that may have no room for the data.
unsafe fn give_edges(
    edges: &[(CUgraphNode, CUgraphNode, CUgraphEdgeData)],
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Answer {
    if count.is_null() || from.is_null() != to.is_null() {
        return Err(INVALID);
    }
    if !from.is_null() && data.is_null() && edges.iter().any(|(_, _, data)| !is_plain(data)) {
        return Err(CUresult::CUDA_ERROR_LOSSY_QUERY);
    }
    // SAFETY: in and out pointers of the call that passes them on; each array has as many elements as `count` says.
    unsafe {
        let room = get(count)?;
        for (list, out) in
            [(edges.iter().map(|e| e.0).collect::<Vec<_>>(), from), (edges.iter().map(|e| e.1).collect(), to)]
        {
            put(count, room)?;
            give(&list, out, count)?;
        }
        if !data.is_null() && !from.is_null() {
            put(count, room)?;
            give(&edges.iter().map(|e| e.2).collect::<Vec<_>>(), data, count)?;
        }
    }
    Ok(())
}

pub(crate) unsafe fn get_edges(
    v: &mut Visit<'_>,
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Answer {
    let key = graph_named(v, graph)?;
    let nodes = v.graphs.graphs.get(key).map(|graph| graph.nodes.clone()).unwrap_or_default();
    let mut edges = Vec::new();
    for node in nodes {
        for (next, data) in v.graphs.nodes.get(node).map(|node| node.after.as_slice()).unwrap_or_default() {
            edges.push((node_handle(v, node), node_handle(v, *next), *data));
        }
    }
    // SAFETY: the arguments of this call.
    unsafe { give_edges(&edges, from, to, data, count) }
}

pub(crate) unsafe fn get_edges_v1(
    v: &mut Visit<'_>,
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    count: *mut usize,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { get_edges(v, graph, from, to, std::ptr::null_mut(), count) }
}

/// The neighbours of a node on one side.
unsafe fn neighbours(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    side: fn(&Node) -> &[Edge],
    out: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Answer {
    let key = node_named(v, node)?;
    let all = v.graphs.nodes.get(key).map(|node| side(node).to_vec()).unwrap_or_default();
    if count.is_null() {
        return Err(INVALID);
    }
    if !out.is_null() && data.is_null() && all.iter().any(|(_, data)| !is_plain(data)) {
        return Err(CUresult::CUDA_ERROR_LOSSY_QUERY);
    }
    let handles: Vec<_> = all.iter().map(|(node, _)| node_handle(v, *node)).collect();
    // SAFETY: in and out pointers of the call that passes them on.
    unsafe {
        let room = get(count)?;
        if !data.is_null() && !out.is_null() {
            give(&all.iter().map(|(_, data)| *data).collect::<Vec<_>>(), data, count)?;
            put(count, room)?;
        }
        give(&handles, out, count)
    }
}

pub(crate) unsafe fn get_dependencies(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    out: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { neighbours(v, node, |node| &node.before, out, data, count) }
}

pub(crate) unsafe fn get_dependencies_v1(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    out: *mut CUgraphNode,
    count: *mut usize,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { get_dependencies(v, node, out, std::ptr::null_mut(), count) }
}

pub(crate) unsafe fn get_dependents(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    out: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { neighbours(v, node, |node| &node.after, out, data, count) }
}

pub(crate) unsafe fn get_dependents_v1(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    out: *mut CUgraphNode,
    count: *mut usize,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { get_dependents(v, node, out, std::ptr::null_mut(), count) }
}

/// The edges that a call was given: both ends and the data.
unsafe fn pairs(
    v: &mut Visit<'_>,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
) -> Result<Vec<WholeEdge>, CUresult> {
    // SAFETY: arrays of `count` elements, by the page of the call that passes them on.
    let (from, to) = unsafe { (edge_list(v, from, data, count)?, list(to, count)?) };
    from.into_iter().zip(to).map(|((from, data), to)| Ok((from, node_named(v, to)?, data))).collect()
}

pub(crate) unsafe fn add_dependencies(
    v: &mut Visit<'_>,
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
) -> Answer {
    let graph = graph_named(v, graph)?;
    // SAFETY: the arguments of this call.
    let edges = unsafe { pairs(v, from, to, data, count) }?;
    v.graphs.add_edges(graph, &edges)
}

pub(crate) unsafe fn add_dependencies_v1(
    v: &mut Visit<'_>,
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { add_dependencies(v, graph, from, to, std::ptr::null(), count) }
}

pub(crate) unsafe fn remove_dependencies(
    v: &mut Visit<'_>,
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
) -> Answer {
    let graph = graph_named(v, graph)?;
    // SAFETY: the arguments of this call.
    let edges = unsafe { pairs(v, from, to, data, count) }?;
    super::graph_memory::refuse_if_memory(v, graph, "keeps its edges", "build the graph anew without the edge")?;
    let edges: Vec<_> = edges.into_iter().map(|(from, to, d)| (from, to, (!data.is_null()).then_some(d))).collect();
    v.graphs.remove_edges(graph, &edges)
}

pub(crate) unsafe fn remove_dependencies_v1(
    v: &mut Visit<'_>,
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { remove_dependencies(v, graph, from, to, std::ptr::null(), count) }
}

pub(crate) unsafe fn destroy_node(v: &mut Visit<'_>, node: CUgraphNode) -> Answer {
    let key = node_named(v, node)?;
    if let Some(graph) = v.graphs.nodes.get(key).map(|node| node.graph) {
        super::graph_memory::refuse_if_memory(v, graph, "keeps its nodes", "build the graph anew without the node")?;
    }
    if let Some(Node { kind: NodeKind::Child(child), .. }) = v.graphs.nodes.get(key)
        && is_being_captured(v, *child)
    {
        return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE);
    }
    v.graphs.remove_node(key);
    Ok(())
}

pub(crate) unsafe fn node_get_type(v: &mut Visit<'_>, node: CUgraphNode, out: *mut CUgraphNodeType) -> Answer {
    let key = node_named(v, node)?;
    let number = v.graphs.nodes.get(key).map_or(0, |node| node.kind.number());
    // SAFETY: an out pointer of this call.
    unsafe { put(out, number) }
}

pub(crate) unsafe fn debug_dot_print(v: &mut Visit<'_>, graph: CUgraph, path: *const c_char, _flags: c_uint) -> Answer {
    let key = graph_named(v, graph)?;
    // SAFETY: a C string, by this call's page.
    let path = unsafe { text(path) }?;
    let nodes = v.graphs.graphs.get(key).map(|graph| graph.nodes.clone()).unwrap_or_default();
    let mut dot = String::from("digraph dacapo {\n");
    for (at, node) in nodes.iter().enumerate() {
        let Some(node) = v.graphs.nodes.get(*node) else { continue };
        let name = match &node.kind {
            NodeKind::Kernel(work) => work.function.name.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        let _ = writeln!(dot, "  n{at} [label=\"{} {name}\"];", node.kind.word());
        for (next, _) in &node.after {
            if let Some(to) = nodes.iter().position(|node| node == next) {
                let _ = writeln!(dot, "  n{at} -> n{to};");
            }
        }
    }
    dot.push_str("}\n");
    std::fs::write(path, dot).map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)
}
