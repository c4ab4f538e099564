//! Beginning, asking about, steering and ending a capture. The rules stand in [`crate::model::capture`].
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::collections::HashMap;
use std::ffi::c_uint;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::graph::{edge_list, graph_named};
use super::launch::programmatic;
use crate::foreign::{get, put, put_optional};
use crate::model::capture::{Branch, Capture, Rule};
use crate::model::graph::{Edge, Graph, Node, NodeKind, is_plain};
use crate::model::objects::{Event, EventState, Stream, StreamKind};
use crate::model::table::Key;
use crate::model::tasks::Signal;
use crate::model::work::KernelWork;
use crate::visit::{Answer, Refusal, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const ILLEGAL_STATE: CUresult = CUresult::CUDA_ERROR_ILLEGAL_STATE;

fn begin_on(
    v: &mut Visit<'_>,
    handle: CUstream,
    mode: CUstreamCaptureMode,
    into: Option<(Key<Graph>, Vec<Edge>)>,
) -> Answer {
    let stream = v.stream(handle)?;
    v.check_fault(v.device_of_stream(stream))?;
    if mode > CU_STREAM_CAPTURE_MODE_RELAXED {
        return Err(INVALID);
    }
    let this = v.streams.get(stream).ok_or(INVALID)?;
    if this.kind == StreamKind::Legacy {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    if this.capture.is_some() {
        return Err(ILLEGAL_STATE);
    }
    let (graph, after) = match into {
        Some((graph, _)) if v.captures.iter().any(|(_, capture)| capture.graph == graph) => return Err(ILLEGAL_STATE),
        Some(given) => given,
        None => (v.graphs.graphs.insert(Graph::default()), Vec::new()),
    };
    let (id, thread) = (v.number(), v.thread);
    let capture = v.captures.insert(Capture {
        id,
        mode,
        thread,
        origin: stream,
        graph,
        branches: HashMap::from([(stream, Branch { after, last: None })]),
        orphans: Vec::new(),
        broken: None,
    });
    if let Some(stream) = v.streams.get_mut(stream) {
        stream.capture = Some(capture);
    }
    Ok(())
}

pub(crate) unsafe fn begin(v: &mut Visit<'_>, stream: CUstream, mode: CUstreamCaptureMode) -> Answer {
    begin_on(v, stream, mode, None)
}

pub(crate) unsafe fn begin_to_graph(
    v: &mut Visit<'_>,
    stream: CUstream,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
    mode: CUstreamCaptureMode,
) -> Answer {
    let graph = graph_named(v, graph)?;
    // SAFETY: arrays of `count` elements, by this call's page.
    let after = unsafe { edge_list(v, dependencies, data, count) }?;
    if after.iter().any(|(node, _)| v.graphs.nodes.get(*node).is_none_or(|node| node.graph != graph)) {
        return Err(INVALID);
    }
    begin_on(v, stream, mode, Some((graph, after)))
}

pub(crate) unsafe fn end(v: &mut Visit<'_>, handle: CUstream, out: *mut CUgraph) -> Answer {
    // Whatever the answer, no old handle is left in the program's hands.
    // SAFETY: an out pointer of this call, which may be null: the graph is then lost, as observed.
    unsafe { put_optional(out, CUgraph::NULL) };
    let stream = v.stream(handle)?;
    // A fault that is known comes before everything else, also on a stream that does not capture.
    let device = v.device_of_stream(stream);
    if v.fault_of(device).is_some_and(|fault| fault.reported) {
        v.check_fault(device)?;
    }
    let key = v.streams.get(stream).and_then(|stream| stream.capture).ok_or(ILLEGAL_STATE)?;
    let thread = v.thread;
    let Some(capture) = v.captures.get(key) else { return Err(ILLEGAL_STATE) };
    if capture.origin != stream {
        let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
        v.invalidate(key, code, Rule::Unmatched);
        return Err(code);
    }
    if !capture.may_end(thread) {
        let owner = capture.thread;
        let numbers = [owner, thread].map(|thread| v.threads.get(&thread).map_or(0, |thread| thread.number));
        dissolve(v, key, true);
        let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
        let what =
            format!("thread {} ended a capture that thread {} had begun; the capture is lost", numbers[1], numbers[0]);
        let help = "end it on the thread that began it, or begin it in relaxed mode";
        return Err(v.refuse(Refusal::new(code, "capture-wrong-thread", what, help)));
    }
    if capture.broken.is_some() {
        dissolve(v, key, true);
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    let goals: Vec<_> =
        capture.branches.get(&stream).map(|b| b.after.iter().map(|(node, _)| *node).collect()).unwrap_or_default();
    let loose: Vec<_> =
        capture.loose_ends().into_iter().filter(|end| !v.graphs.all_come_before(&[*end], &goals)).collect();
    if let Some(node) = loose.first().and_then(|end| v.graphs.nodes.get(*end)) {
        let kernel = match &node.kind {
            NodeKind::Kernel(work) => format!(" `{}`", work.function.name.to_string_lossy()),
            _ => String::new(),
        };
        let what = format!(
            "a stream that joined the capture was not joined back: nothing on the first stream comes after its last node, a {} node{kernel}",
            node.kind.word()
        );
        dissolve(v, key, true);
        let help =
            "record an event on that stream after its last work, and wait for it on the stream the capture began on";
        return Err(v.refuse(Refusal::new(
            CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
            "capture-unjoined",
            what,
            help,
        )));
    }
    let graph = capture.graph;
    dissolve(v, key, false);
    let handle = CUgraph::from_bits(v.graphs.graphs.handle(graph));
    // SAFETY: as above.
    unsafe { put_optional(out, handle) };
    Ok(())
}

/// Ends a capture: all its streams are free again. Its graph goes with it if `and_graph`, even one that the program gave.
pub(crate) fn dissolve(v: &mut Visit<'_>, key: Key<Capture>, and_graph: bool) {
    let Some(capture) = v.captures.remove(key) else { return };
    for stream in capture.branches.keys() {
        if let Some(stream) = v.streams.get_mut(*stream) {
            stream.capture = None;
        }
    }
    // A graph inside a child node lives and dies with that node.
    if and_graph && v.graphs.graphs.get(capture.graph).is_some_and(|graph| !graph.embedded) {
        v.graphs.remove_graph(capture.graph);
    }
}

/// Adds a node after what the stream's work comes after.
pub(crate) fn record(
    v: &mut Visit<'_>,
    capture: Key<Capture>,
    stream: Key<Stream>,
    kind: NodeKind,
) -> Result<Key<Node>, CUresult> {
    let Some(at) = v.captures.get(capture) else { return Err(ILLEGAL_STATE) };
    let graph = at.graph;
    let after = at.branches.get(&stream).map(|branch| branch.after.clone()).unwrap_or_default();
    // A node that the program has destroyed meanwhile is nothing to wait for.
    let after: Vec<_> = after.into_iter().filter(|(node, _)| v.graphs.nodes.get(*node).is_some()).collect();
    let node = v.graphs.add_node(graph, kind, &after)?;
    if let Some(branch) = v.captures.get_mut(capture).and_then(|capture| capture.branches.get_mut(&stream)) {
        *branch = Branch { after: vec![(node, CUgraphEdgeData::default())], last: Some(node) };
    }
    Ok(node)
}

/// Adds a kernel. One that may begin early has programmatic edges from the kernels that it comes after; `events` stand for
/// the kernel's signals from then on.
pub(crate) fn record_kernel(
    v: &mut Visit<'_>,
    capture: Key<Capture>,
    stream: Key<Stream>,
    work: KernelWork,
    events: &[(Key<Event>, CUgraphEdgeData)],
) -> Answer {
    if work.programmatic {
        let mut after = v.captures.get(capture).and_then(|c| c.branches.get(&stream)).map(|b| b.after.clone());
        for (node, data) in after.iter_mut().flatten() {
            if is_plain(data) && matches!(v.graphs.nodes.get(*node), Some(Node { kind: NodeKind::Kernel(_), .. })) {
                *data = programmatic(Signal::Triggered);
            }
        }
        if let Some(branch) = v.captures.get_mut(capture).and_then(|c| c.branches.get_mut(&stream)) {
            branch.after = after.unwrap_or_default();
        }
    }
    let node = record(v, capture, stream, NodeKind::Kernel(Arc::new(work)))?;
    for (event, data) in events {
        if let Some(event) = v.events.get_mut(*event) {
            event.recorded = EventState::Capture { capture, nodes: vec![(node, *data)] };
        }
    }
    Ok(())
}

fn status(v: &Visit<'_>, stream: Key<Stream>) -> (CUstreamCaptureStatus, Option<Key<Capture>>) {
    let capture = v.streams.get(stream).and_then(|stream| stream.capture);
    match capture.and_then(|key| v.captures.get(key)) {
        None => (CU_STREAM_CAPTURE_STATUS_NONE, None),
        Some(Capture { broken: None, .. }) => (CU_STREAM_CAPTURE_STATUS_ACTIVE, capture),
        Some(_) => (CU_STREAM_CAPTURE_STATUS_INVALIDATED, capture),
    }
}

/// Asking is refused for the legacy stream while a blocking stream captures, and on a broken device once that is known.
fn ask(v: &mut Visit<'_>, handle: CUstream) -> Result<Key<Stream>, CUresult> {
    let stream = v.stream(handle)?;
    let this = v.streams.get(stream).map(|stream| (stream.kind, stream.capture.is_some()));
    let device = v.device_of_stream(stream);
    if v.fault_of(device).is_some_and(|fault| fault.reported) || this.is_some_and(|(_, capturing)| !capturing) {
        v.check_fault(device)?;
    }
    if this.is_some_and(|(kind, _)| kind == StreamKind::Legacy) {
        v.ask_legacy(device)?;
    }
    Ok(stream)
}

pub(crate) unsafe fn is_capturing(v: &mut Visit<'_>, handle: CUstream, out: *mut CUstreamCaptureStatus) -> Answer {
    if out.is_null() {
        return Err(INVALID);
    }
    let stream = ask(v, handle)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, status(v, stream).0) }
}

#[allow(clippy::too_many_arguments, reason = "C's signature")]
pub(crate) unsafe fn get_info(
    v: &mut Visit<'_>,
    handle: CUstream,
    status_out: *mut CUstreamCaptureStatus,
    id_out: *mut u64,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    data_out: *mut *const CUgraphEdgeData,
    count_out: *mut usize,
) -> Answer {
    if status_out.is_null() {
        return Err(INVALID);
    }
    let stream = ask(v, handle)?;
    let (status, capture) = status(v, stream);
    // SAFETY: an out pointer of this call.
    unsafe { put(status_out, status) }?;
    // Of a capture that is broken only the status is told, as observed.
    let active = capture.and_then(|key| v.captures.get(key)).filter(|capture| capture.broken.is_none());
    let Some(capture) = active else { return Ok(()) };
    let (id, graph) = (capture.id, CUgraph::from_bits(v.graphs.graphs.handle(capture.graph)));
    let after = capture.branches.get(&stream).map(|branch| branch.after.clone()).unwrap_or_default();
    if data_out.is_null() && !dependencies_out.is_null() && after.iter().any(|(_, data)| !is_plain(data)) {
        return Err(CUresult::CUDA_ERROR_LOSSY_QUERY);
    }
    // What is lent to the program stays until the stream's next question about it: at least as long as promised.
    let nodes: Vec<CUgraphNode> =
        after.iter().map(|(node, _)| CUgraphNode::from_bits(v.graphs.nodes.handle(*node))).collect();
    let data: Vec<CUgraphEdgeData> = after.iter().map(|(_, data)| *data).collect();
    let lent = v.lent_to_stream.entry(stream).or_default();
    *lent = (nodes, data);
    // SAFETY: out pointers of this call, which may be null.
    unsafe {
        put_optional(id_out, id);
        put_optional(graph_out, graph);
        put_optional(dependencies_out, lent.0.as_ptr());
        put_optional(data_out, lent.1.as_ptr());
        put_optional(count_out, lent.0.len());
    }
    Ok(())
}

/// The signature without edge data.
pub(crate) unsafe fn get_info_v2(
    v: &mut Visit<'_>,
    handle: CUstream,
    status_out: *mut CUstreamCaptureStatus,
    id_out: *mut u64,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    count_out: *mut usize,
) -> Answer {
    let no_data = std::ptr::null_mut();
    // SAFETY: the arguments of this call.
    unsafe { get_info(v, handle, status_out, id_out, graph_out, dependencies_out, no_data, count_out) }
}

pub(crate) unsafe fn update_dependencies(
    v: &mut Visit<'_>,
    handle: CUstream,
    dependencies: *mut CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
    flags: c_uint,
) -> Answer {
    let stream = v.stream(handle)?;
    let capture = v.streams.get(stream).and_then(|stream| stream.capture).ok_or(ILLEGAL_STATE)?;
    if v.captures.get(capture).is_none_or(|capture| capture.broken.is_some()) {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    if flags > 1 {
        return Err(INVALID);
    }
    // SAFETY: arrays of `count` elements, by this call's page.
    let edges = unsafe { edge_list(v, dependencies, data, count) }?;
    let graph = v.captures.get(capture).map(|capture| capture.graph);
    if edges.iter().any(|(node, _)| v.graphs.nodes.get(*node).map(|node| node.graph) != graph) {
        return Err(INVALID);
    }
    if let Some(branch) = v.captures.get_mut(capture).and_then(|capture| capture.branches.get_mut(&stream)) {
        if flags == 1 {
            branch.after.clear();
        }
        for edge in edges {
            if !branch.after.iter().any(|(node, _)| *node == edge.0) {
                branch.after.push(edge);
            }
        }
    }
    Ok(())
}

/// The signature without edge data.
pub(crate) unsafe fn update_dependencies_v1(
    v: &mut Visit<'_>,
    handle: CUstream,
    dependencies: *mut CUgraphNode,
    count: usize,
    flags: c_uint,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { update_dependencies(v, handle, dependencies, std::ptr::null(), count, flags) }
}

pub(crate) unsafe fn exchange_mode(v: &mut Visit<'_>, mode: *mut CUstreamCaptureMode) -> Answer {
    // SAFETY: an in and out pointer of this call.
    let new = unsafe { get(mode) }?;
    let old = std::mem::replace(&mut v.this().capture_mode, new);
    // SAFETY: as above.
    unsafe { put(mode, old) }
}
