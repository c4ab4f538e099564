//! Memory nodes: adding them, capturing them, and what a launch does with graph memory.
//!
//! The rules that were observed stand in [`crate::model::graph_memory`]; here too: a graph with memory nodes is not cloned, is no
//! child, keeps its nodes and edges, and has one executable at a time (`NOT_SUPPORTED`). A launch whose allocation still lives,
//! and one that frees what does not live, are refused (`INVALID_VALUE`).
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_void;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::graph::{edge_list, graph_named, node_named};
use super::graph_node::Spot;
use super::memory::show_on;
use crate::finding::{Ending, Finding};
use crate::foreign::{get, list, put};
use crate::memory::home::{Home, bit};
use crate::memory::ranges::RangeKind;
use crate::model::capture::{Capture, Rule};
use crate::model::executable::{Body, Executable, Refused};
use crate::model::graph::{Graph, Node, NodeKind};
use crate::model::graph_memory::{AllocWork, GRAIN, MemoryUse};
use crate::model::objects::{Owner, Stream};
use crate::model::table::Key;
use crate::model::tasks::Task;
use crate::model::work::Work;
use crate::visit::{Answer, Refusal, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const NOT_SUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;

/// An allocation before it has an address.
struct Asked {
    bytes: u64,
    home: Home,
    max_size: usize,
    usage: u16,
    access: Vec<CUmemAccessDesc>,
}

fn check(v: &mut Visit<'_>, bytes: u64) -> Answer {
    if bytes == 0 {
        return Err(INVALID);
    }
    if bytes > v.memory.capacity() {
        return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    }
    Ok(())
}

/// An address for an allocation behind `before`.
fn place(
    v: &mut Visit<'_>,
    graph: Key<Graph>,
    device: usize,
    before: &[Key<Node>],
    bytes: u64,
) -> Result<(u64, u64), CUresult> {
    let room = bytes.checked_next_multiple_of(GRAIN).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    if let Some(shared) = v.graph_memory.share(&v.graphs, (graph, device), before, room) {
        return Ok((shared, room));
    }
    let address = v.memory.reserve(room, GRAIN).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    v.memory.announce(address, room, RangeKind::Graph);
    Ok((address, room))
}

/// What the C struct asks for.
unsafe fn asked(v: &mut Visit<'_>, p: &CUDA_MEM_ALLOC_NODE_PARAMS) -> Result<Asked, CUresult> {
    check(v, p.bytesize as u64)?;
    let device = v.device(p.poolProps.location.id).map_err(|_| INVALID)?;
    if p.poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED {
        return Err(INVALID);
    }
    if p.poolProps.location.r#type != CU_MEM_LOCATION_TYPE_DEVICE || p.poolProps.handleTypes != 0 {
        return Err(v.unsupported("graph memory of the host, or shared with other processes"));
    }
    // SAFETY: an array of that many elements, by the page of the call that passes it on.
    let access = unsafe { list(p.accessDescs, p.accessDescCount) }?;
    let mut reach = bit(device);
    for desc in &access {
        let other = v.device(desc.location.id).ok().filter(|_| desc.location.r#type == CU_MEM_LOCATION_TYPE_DEVICE);
        let Some(other) = other else { return Err(v.unsupported("graph memory that others than devices may access")) };
        if other != device && desc.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE {
            return Err(v.unsupported("graph memory that another device may only read"));
        }
        reach |= bit(other);
    }
    let home = Home::of_device(device, reach);
    Ok(Asked { bytes: p.bytesize as u64, home, max_size: p.poolProps.maxSize, usage: p.poolProps.usage, access })
}

/// Adds an allocation node; the answer is its address.
pub(crate) unsafe fn alloc_at(
    v: &mut Visit<'_>,
    spot: &Spot,
    params: &CUDA_MEM_ALLOC_NODE_PARAMS,
) -> Result<u64, CUresult> {
    let graph = graph_named(v, spot.graph)?;
    // SAFETY: the arguments of the call that passes them on.
    let (asked, before) = unsafe { (asked(v, params)?, edge_list(v, spot.dependencies, spot.data, spot.count)?) };
    let before: Vec<_> = before.into_iter().map(|(node, _)| node).collect();
    let (address, room) = place(v, graph, asked.home.device, &before, asked.bytes)?;
    let Asked { bytes, home, max_size, usage, access } = asked;
    let work = AllocWork { address, bytes, home, max_size, usage, access };
    // SAFETY: as above.
    let node = unsafe { spot.add_node(v, NodeKind::Alloc(Arc::new(work))) }?;
    v.graph_memory.add_alloc(graph, (address, room), home.device, node);
    Ok(address)
}

/// Adds a free node.
pub(crate) unsafe fn free_at(v: &mut Visit<'_>, spot: &Spot, address: u64) -> Answer {
    let graph = graph_named(v, spot.graph)?;
    check_free(v, graph, address)?;
    // SAFETY: the arguments of the call that passes them on.
    let node = unsafe { spot.add_node(v, NodeKind::Free(address)) }?;
    v.graph_memory.add_free(graph, address, node);
    Ok(())
}

/// Whether a node of `graph` may free `address`.
fn check_free(v: &mut Visit<'_>, graph: Key<Graph>, address: u64) -> Answer {
    if v.graph_memory.may_free(graph, address) && is_there(v, address) {
        return Ok(());
    }
    let at = match v.graph_memory.covering(address, 1) {
        Some(base) if base == address => "graph memory that this graph frees already".to_string(),
        Some(base) => format!("byte {} of graph memory", address - base),
        None => v.memory.describe(address),
    };
    let what = format!("{} was given {address:#x}, which is {at}", v.call.name());
    let help = "a graph frees memory of allocation nodes alone, once each, by the address that the node gave out";
    Err(v.refuse(Refusal::new(INVALID, "bad-free", what, help)))
}

/// Whether the allocation at `address` can still come to life, or lives.
fn is_there(v: &Visit<'_>, address: u64) -> bool {
    let Some(graph) = v.graph_memory.graph_of(address) else { return false };
    v.graphs.graphs.get(graph).is_some()
        || v.graph_memory.executable_of(graph).is_some_and(|exec| v.executables.get(exec).is_some())
        || v.visible.contains_key(&address)
}

/// Whether a node may touch these bytes although nothing shows there yet: graph memory.
pub(crate) fn is_promised(v: &Visit<'_>, address: u64, bytes: u64) -> bool {
    v.graph_memory.covering(address, bytes).is_some_and(|base| is_there(v, base))
        && v.graph_memory.holds(&v.graphs, address, bytes)
}

/// Captures an allocation: the address is known at once.
pub(crate) fn capture_alloc(
    v: &mut Visit<'_>,
    capture: Key<Capture>,
    stream: Key<Stream>,
    bytes: usize,
    (max_size, home): (usize, Home),
) -> Result<u64, CUresult> {
    if bytes == 0 {
        let code = v.unsupported("an allocation of 0 bytes in a captured stream");
        v.invalidate(capture, code, Rule::Unsupported);
        return Err(code);
    }
    check(v, bytes as u64)?;
    let Some(at) = v.captures.get(capture) else { return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE) };
    let graph = at.graph;
    let before: Vec<_> =
        at.branches.get(&stream).map(|b| b.after.iter().map(|(node, _)| *node).collect()).unwrap_or_default();
    let (address, room) = place(v, graph, home.device, &before, bytes as u64)?;
    let work = AllocWork { address, bytes: bytes as u64, home, max_size, usage: 0, access: Vec::new() };
    let node = super::capture::record(v, capture, stream, NodeKind::Alloc(Arc::new(work)))?;
    v.graph_memory.add_alloc(graph, (address, room), home.device, node);
    Ok(address)
}

/// Captures a free: only memory of allocation nodes can be freed by a graph.
pub(crate) fn capture_free(v: &mut Visit<'_>, capture: Key<Capture>, stream: Key<Stream>, address: u64) -> Answer {
    let Some(at) = v.captures.get(capture) else { return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE) };
    let graph = at.graph;
    check_free(v, graph, address)?;
    let node = super::capture::record(v, capture, stream, NodeKind::Free(address))?;
    v.graph_memory.add_free(graph, address, node);
    Ok(())
}

pub(crate) unsafe fn add_alloc(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    params: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> Answer {
    let spot = Spot { out, graph, dependencies, data: std::ptr::null(), count };
    // SAFETY: the arguments of this call.
    unsafe {
        let mut given = get(params.cast_const())?;
        given.dptr = alloc_at(v, &spot, &given)?;
        put(params, given)
    }
}

pub(crate) unsafe fn add_free(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    address: CUdeviceptr,
) -> Answer {
    let spot = Spot { out, graph, dependencies, data: std::ptr::null(), count };
    // SAFETY: the arguments of this call.
    unsafe { free_at(v, &spot, address) }
}

pub(crate) unsafe fn alloc_get_params(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    out: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> Answer {
    let key = node_named(v, node)?;
    let Some(Node { kind: NodeKind::Alloc(work), .. }) = v.graphs.nodes.get(key) else { return Err(INVALID) };
    let location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: work.home.device as i32 };
    let pool = CUmemPoolProps {
        allocType: CU_MEM_ALLOCATION_TYPE_PINNED,
        location,
        maxSize: work.max_size,
        usage: work.usage,
        ..Default::default()
    };
    // The array stays as long as the node: its work is never replaced.
    let access = if work.access.is_empty() { std::ptr::null() } else { work.access.as_ptr() };
    let params = CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: pool,
        accessDescs: access,
        accessDescCount: work.access.len(),
        bytesize: work.bytes as usize,
        dptr: work.address,
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, params) }
}

pub(crate) unsafe fn free_get_params(v: &mut Visit<'_>, node: CUgraphNode, out: *mut CUdeviceptr) -> Answer {
    let key = node_named(v, node)?;
    let Some(Node { kind: NodeKind::Free(address), .. }) = v.graphs.nodes.get(key) else { return Err(INVALID) };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, *address) }
}

fn has_memory(v: &Visit<'_>, graph: Key<Graph>) -> bool {
    if v.graph_memory.is_empty() {
        return false;
    }
    v.graph_memory.has_nodes(graph) || v.graphs.children(graph).into_iter().any(|child| has_memory(v, child))
}

/// A graph and all graphs inside it.
fn with_children(v: &Visit<'_>, graph: Key<Graph>) -> Vec<Key<Graph>> {
    let mut all = vec![graph];
    let mut at = 0;
    while let Some(graph) = all.get(at).copied() {
        all.extend(v.graphs.children(graph));
        at += 1;
    }
    all
}

/// An executable was made of the graph, or updated from it: it has its memory nodes, and those of its children.
pub(crate) fn hold(v: &mut Visit<'_>, graph: Key<Graph>, exec: Key<Executable>) {
    if v.graph_memory.is_empty() {
        return;
    }
    for graph in with_children(v, graph) {
        v.graph_memory.hold(graph, exec);
    }
}

/// Refuses what a graph with memory nodes cannot do.
pub(crate) fn refuse_if_memory(v: &mut Visit<'_>, graph: Key<Graph>, cannot: &str, help: &'static str) -> Answer {
    if !has_memory(v, graph) {
        return Ok(());
    }
    let what = format!("a graph with memory nodes {cannot}");
    Err(v.refuse(Refusal::new(NOT_SUPPORTED, "graph-memory", what, help)))
}

/// Whether an executable may be made: one at a time. A free that need not run behind its allocation is a finding.
pub(crate) fn check_instantiate(v: &mut Visit<'_>, graph: Key<Graph>) -> Result<(), Refused> {
    if !has_memory(v, graph) {
        return Ok(());
    }
    let is_held =
        |graph: &Key<Graph>| v.graph_memory.executable_of(*graph).is_some_and(|exec| v.executables.get(exec).is_some());
    let all = with_children(v, graph);
    if all.iter().any(is_held) {
        let what = "a graph with memory nodes has one executable at a time, and this one has one";
        let help = "destroy the first executable before the second is made, or build the graph twice";
        let code = v.refuse(Refusal::new(NOT_SUPPORTED, "graph-memory", what, help));
        return Err(Refused { code, result: CUDA_GRAPH_INSTANTIATE_ERROR, node: None });
    }
    let unordered: Vec<u64> = all.iter().flat_map(|graph| v.graph_memory.unordered_frees(&v.graphs, *graph)).collect();
    for address in unordered {
        let what = format!("graph memory at {address:#x} may be freed before its node allocates it");
        let call = v.call.symbol();
        v.find(
            Finding::new("graph-free-unordered", Ending::YourProgram, what)
                .at(call, "instantiated, as a GPU's driver does")
                .note("no path leads from the allocation node to the free node")
                .help("make the free node depend on the last node that uses the memory"),
        );
    }
    Ok(())
}

/// Whether an update with memory nodes is one whose outcome is known.
pub(crate) fn check_update(v: &mut Visit<'_>, exec: Key<Executable>, graph: Key<Graph>, new: &Body) -> Answer {
    let wanted = MemoryUse::of(new);
    let Some(old) = v.executables.get(exec).map(|exec| &exec.memory) else { return Ok(()) };
    if old.is_empty() && wanted.is_empty() {
        return Ok(());
    }
    let sizes = |all: &MemoryUse| all.allocs.iter().map(|work| work.bytes).collect::<Vec<_>>();
    let same_sizes = sizes(old) == sizes(&wanted) || old.allocs.len() != wanted.allocs.len();
    let other = v.graph_memory.executable_of(graph).filter(|other| *other != exec);
    if other.is_some_and(|other| v.executables.get(other).is_some()) {
        return Err(v.unsupported("an update from a graph with memory nodes that another executable was made of"));
    }
    if !same_sizes {
        return Err(v.unsupported("an update that changes the size of graph memory"));
    }
    Ok(())
}

/// A graph, an executable or an allocation is gone: what nothing can bring to life any more is forgotten.
pub(crate) fn forget_dead(v: &mut Visit<'_>) {
    let state: &mut crate::machine::State = v;
    if state.graph_memory.is_empty() {
        return;
    }
    let (graphs, executables, visible) = (&state.graphs.graphs, &state.executables, &state.visible);
    let gone = state.graph_memory.forget(
        |graph| graphs.get(graph).is_some(),
        |executable| executables.get(executable).is_some(),
        |address| visible.contains_key(&address),
    );
    for (address, room) in gone {
        state.memory.withdraw(address, room);
    }
}

/// What a launch with memory nodes waits for, or why it is refused.
pub(crate) fn before_launch(
    v: &mut Visit<'_>,
    exec: Key<Executable>,
    stream: Key<Stream>,
) -> Result<Vec<Key<Task>>, CUresult> {
    let Some(found) = v.executables.get(exec) else { return Err(INVALID) };
    if found.memory.is_empty() {
        return Ok(Vec::new());
    }
    let frees_itself = found.flags & u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    let addresses: Vec<u64> = found.memory.addresses().collect();
    let (allocs, outside) = (found.memory.allocs.clone(), found.memory.freed_from_outside());
    for address in &outside {
        if !v.visible.get(address).is_some_and(|seen| seen.owner == Owner::Graph) {
            let what = format!("the graph frees memory at {address:#x} that is not allocated");
            let help = "launch the graph that allocates it before each launch of the one that frees it";
            return Err(v.refuse(Refusal::new(INVALID, "graph-memory-not-allocated", what, help)));
        }
    }
    let mut living: Vec<u64> = allocs.iter().map(|work| work.address).collect();
    living.retain(|address| v.visible.contains_key(address));
    living.sort_unstable();
    living.dedup();
    if let Some(address) = living.first().filter(|_| !frees_itself) {
        let what = format!("the graph allocates memory at {address:#x} that still lives since an earlier launch");
        let help =
            "free it before the next launch, by a free node or cuMemFreeAsync, or instantiate with AUTO_FREE_ON_LAUNCH";
        return Err(v.refuse(Refusal::new(INVALID, "graph-memory-lives", what, help)));
    }
    let has_room = |device| super::memory::has_room(v, device, v.graph_memory.lacking(&allocs, device));
    if !(0..v.devices.len()).all(has_room) {
        return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    }
    let mut waits = v.graph_memory.last_at(addresses.into_iter());
    for address in living {
        v.visible.remove(&address);
        let last = v.executables.get(exec).and_then(|exec| exec.last);
        let after = waits.clone().into_iter().chain(last);
        waits.push(v.submit_after(stream, Work::GraphFree { address }, after));
    }
    for address in outside {
        v.visible.remove(&address);
    }
    Ok(waits)
}

/// Notes what a launch that ends with `end` has done with graph memory.
pub(crate) fn after_launch(v: &mut Visit<'_>, exec: Key<Executable>, end: Key<Task>) -> Answer {
    let Some(found) = v.executables.get(exec).filter(|exec| !exec.memory.is_empty()) else { return Ok(()) };
    let (allocs, open) = (found.memory.allocs.clone(), found.memory.left_open());
    let outside = found.memory.freed_from_outside();
    v.graph_memory.back(&allocs, end);
    outside.into_iter().for_each(|address| v.graph_memory.freed(address, end));
    open.into_iter().try_for_each(|work| show_on(v, work.address, work.bytes, Owner::Graph, work.home.device))
}

/// Frees graph memory behind the work of a stream.
pub(crate) fn free_on(v: &mut Visit<'_>, stream: Key<Stream>, address: u64) {
    v.visible.remove(&address);
    let last = v.graph_memory.last_at(std::iter::once(address));
    let freed = v.submit_after(stream, Work::GraphFree { address }, last);
    v.graph_memory.freed(address, freed);
    forget_dead(v);
}

pub(crate) unsafe fn trim(v: &mut Visit<'_>, device: CUdevice) -> Answer {
    let device = v.device(device)?;
    let state: &mut crate::machine::State = v;
    let (tasks, visible) = (&state.tasks, &state.visible);
    state.graph_memory.trim(device, |address, last| !tasks.is_done(last) || visible.contains_key(&address));
    Ok(())
}

pub(crate) unsafe fn get_attribute(
    v: &mut Visit<'_>,
    device: CUdevice,
    attribute: CUgraphMem_attribute,
    out: *mut c_void,
) -> Answer {
    let device = v.device(device)?;
    let value = match attribute {
        CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT | CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT => v.graph_memory.used(device),
        CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => v.graph_memory.high(device)[0],
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => v.graph_memory.high(device)[1],
        _ => return Err(INVALID),
    };
    // SAFETY: these attributes are 64-bit numbers, by this call's page.
    unsafe { put(out.cast::<u64>(), value) }
}

pub(crate) unsafe fn set_attribute(
    v: &mut Visit<'_>,
    device: CUdevice,
    attribute: CUgraphMem_attribute,
    value: *mut c_void,
) -> Answer {
    let device = v.device(device)?;
    let which = match attribute {
        CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => 0,
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => 1,
        _ => return Err(INVALID),
    };
    // SAFETY: these attributes are 64-bit numbers, by this call's page; a high mark may only be set to 0.
    if unsafe { get(value.cast::<u64>().cast_const()) }? != 0 {
        return Err(INVALID);
    }
    v.graph_memory.reset_high(device, which);
    Ok(())
}
