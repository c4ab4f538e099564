//! Collectives that are captured: what is in the graph, whether it replays, and where it can stand.

use dacapo_driver::types::*;
use dacapo_nccl::types::*;

use super::collective::{ALL, Collective, Given, pattern};
use super::desk::{Asked, Desk};

const COUNT: usize = 1000;
const BYTES: usize = 4 * COUNT;

/// A collective in a graph that can be launched, with its memory.
pub(super) struct Ready {
    pub(super) graph: CUgraph,
    pub(super) exec: CUgraphExec,
    pub(super) source: CUdeviceptr,
    pub(super) target: CUdeviceptr,
}

/// How a capture begins.
#[derive(Clone, Copy)]
enum How {
    Mode(CUstreamCaptureMode),
    Into,
}

pub(super) fn relaxed(desk: &Desk) -> Asked {
    each(desk, How::Mode(CU_STREAM_CAPTURE_MODE_RELAXED), true)
}

pub(super) fn not_blocking(desk: &Desk) -> Asked {
    each(desk, How::Mode(CU_STREAM_CAPTURE_MODE_RELAXED), false)
}

pub(super) fn thread_local(desk: &Desk) -> Asked {
    each(desk, How::Mode(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), true)
}

pub(super) fn global(desk: &Desk) -> Asked {
    each(desk, How::Mode(CU_STREAM_CAPTURE_MODE_GLOBAL), true)
}

pub(super) fn into(desk: &Desk) -> Asked {
    each(desk, How::Into, true)
}

/// Each on a communicator of its own, which has done nothing before: what it does the first time, it does in the capture.
fn each(desk: &Desk, how: How, blocking: bool) -> Asked {
    for &collective in ALL {
        let (comm, stream) = (desk.comm(blocking)?, desk.stream()?);
        for place in ["out of place, the first of its communicator", "in place"] {
            desk.say(format!("{}, {place}", collective.name()));
            let source = desk.memory(&[0; BYTES])?;
            let target = if place == "in place" { source } else { desk.memory(&[0; BYTES])? };
            if let Some(ready) = capture(desk, comm, stream, collective, how, (source, target))? {
                replays(desk, ready.exec, stream, (source, target))?;
                forget(desk, ready);
            }
        }
        desk.end_of(comm);
    }
    Ok(())
}

fn forget(desk: &Desk, ready: Ready) {
    let codes = [desk.destroy_exec(ready.exec), desk.destroy_graph(ready.graph)];
    if codes.iter().any(|code| !code.is_success()) {
        desk.say(format!("  ending the graphs: {codes:?}"));
    }
}

/// A graph of this collective, captured relaxed; none where it did not come to that, which has been said.
pub(super) fn ready(desk: &Desk, comm: ncclComm, stream: CUstream, collective: Collective) -> Asked<Option<Ready>> {
    let memory = (desk.memory(&[0; BYTES])?, desk.memory(&[0; BYTES])?);
    desk.say(collective.name());
    capture(desk, comm, stream, collective, How::Mode(CU_STREAM_CAPTURE_MODE_RELAXED), memory)
}

fn given((source, target): (CUdeviceptr, CUdeviceptr)) -> Given {
    Given { source, target, count: COUNT, datatype: ncclFloat32 }
}

fn capture(
    desk: &Desk,
    comm: ncclComm,
    stream: CUstream,
    collective: Collective,
    how: How,
    memory: (CUdeviceptr, CUdeviceptr),
) -> Asked<Option<Ready>> {
    let begun = match how {
        How::Mode(mode) => desk.begin(stream, mode),
        How::Into => desk.begin_into(stream, empty(desk)?),
    };
    let code = collective.enqueue(desk.nccl, comm, stream, given(memory));
    let mut said = desk.told(code);
    if code == ncclResult::ncclInProgress {
        // The capture must not end before all of it is there.
        said.push_str(&format!(", then state {:?}", desk.settled(comm)));
    }
    let status = desk.capturing(stream);
    let (ended, graph) = desk.end(stream);
    desk.say(format!("  begin {begun}, call {said}, capture {status}, end {ended}"));
    if graph.is_null() {
        return Ok(None);
    }
    desk.say(format!("  {}", desk.shape(graph)));
    let (made, exec) = desk.instantiate(graph);
    desk.say(format!("  instantiate {made}"));
    let (source, target) = memory;
    Ok(made.is_success().then_some(Ready { graph, exec, source, target }))
}

/// Three launches, each with other numbers.
pub(super) fn replays(
    desk: &Desk,
    exec: CUgraphExec,
    stream: CUstream,
    (source, target): (CUdeviceptr, CUdeviceptr),
) -> Asked {
    let mut seen = Vec::new();
    for replay in 0..3 {
        let bytes = pattern(ncclFloat32, COUNT, replay);
        desk.write(target, &[0; BYTES])?;
        desk.write(source, &bytes)?;
        let (launched, done) = (desk.launch(exec, stream), desk.synchronize(stream));
        if !launched.is_success() || !done.is_success() {
            seen.push(format!("launch {launched}, stream {done}"));
            break;
        }
        seen.push(if desk.read(target, BYTES)? == bytes { "right" } else { "WRONG" }.to_string());
    }
    desk.say(format!("  replays: {}", seen.join(", ")));
    Ok(())
}

fn empty(desk: &Desk) -> Asked<CUgraph> {
    let mut graph = CUgraph::NULL;
    // SAFETY: `graph` is valid for the write.
    let code = unsafe { desk.driver.cuGraphCreate(&mut graph, 0) };
    if code.is_success() { Ok(graph) } else { Err(format!("cuGraphCreate: {code}")) }
}

/// Adds a child graph that depends on nothing.
fn add_child(desk: &Desk, graph: CUgraph, child: CUgraph) -> dacapo_driver::CUresult {
    let mut node = CUgraphNode::NULL;
    // SAFETY: both graphs are live; there are no dependencies to read.
    unsafe { desk.driver.cuGraphAddChildGraphNode(&mut node, graph, std::ptr::null(), 0, child) }
}

/// An IF that is always taken: the graph and the body.
fn conditional(desk: &Desk) -> Asked<(CUgraph, CUgraph)> {
    const ASSIGN_DEFAULT: u32 = 1;
    let (graph, mut handle) = (empty(desk)?, 0);
    // SAFETY: the graph and the context are live; `handle` is valid for the write.
    let code =
        unsafe { desk.driver.cuGraphConditionalHandleCreate(&mut handle, graph, desk.context, 1, ASSIGN_DEFAULT) };
    if !code.is_success() {
        return Err(format!("cuGraphConditionalHandleCreate: {code}"));
    }
    let asked = CUDA_CONDITIONAL_NODE_PARAMS {
        handle,
        r#type: CU_GRAPH_COND_TYPE_IF,
        size: 1,
        phGraph_out: std::ptr::null_mut(),
        ctx: desk.context,
    };
    // SAFETY: the struct of this type of node.
    let mut params = unsafe { CUgraphNodeParams::write(CU_GRAPH_NODE_TYPE_CONDITIONAL, asked) };
    let (mut node, none, no_ports) = (CUgraphNode::NULL, std::ptr::null(), std::ptr::null());
    // SAFETY: the graph is live; there are no dependencies to read.
    let code = unsafe { desk.driver.cuGraphAddNode_v2(&mut node, graph, none, no_ports, 0, &mut params) };
    if !code.is_success() {
        return Err(format!("cuGraphAddNode: {code}"));
    }
    // SAFETY: the driver has answered with parameters of a conditional node, whose array holds one body.
    let body = unsafe { params.read::<CUDA_CONDITIONAL_NODE_PARAMS>().phGraph_out.read() };
    Ok((graph, body))
}

/// Those that a rank alone does by a copy, by a kernel of NCCL, and by a launch of its own plans.
pub(super) const KINDS: [Collective; 3] =
    [Collective::AllReduce(ncclSum), Collective::AllReduce(ncclAvg), Collective::SendRecv];

/// The whole graph, instantiated and launched.
fn whole(desk: &Desk, graph: CUgraph, stream: CUstream, memory: (CUdeviceptr, CUdeviceptr)) -> Asked {
    let (made, exec) = desk.instantiate(graph);
    desk.say(format!("  the graph around it: {}, instantiate {made}", desk.shape(graph)));
    if made.is_success() {
        replays(desk, exec, stream, memory)?;
        desk.destroy_exec(exec);
    }
    desk.destroy_graph(graph);
    Ok(())
}

pub(super) fn child(desk: &Desk) -> Asked {
    for collective in KINDS {
        let (comm, stream) = (desk.comm(true)?, desk.stream()?);
        if let Some(ready) = ready(desk, comm, stream, collective)? {
            let graph = empty(desk)?;
            desk.say(format!("  cuGraphAddChildGraphNode {}", add_child(desk, graph, ready.graph)));
            let memory = (ready.source, ready.target);
            // The copy inside is all that is left of it.
            forget(desk, ready);
            whole(desk, graph, stream, memory)?;
        }
        desk.end_of(comm);
    }
    Ok(())
}

pub(super) fn body(desk: &Desk) -> Asked {
    for collective in KINDS {
        let (comm, stream) = (desk.comm(true)?, desk.stream()?);
        let memory = (desk.memory(&[0; BYTES])?, desk.memory(&[0; BYTES])?);
        let (graph, body) = conditional(desk)?;
        desk.say(collective.name());
        let begun = desk.begin_into(stream, body);
        let code = collective.enqueue(desk.nccl, comm, stream, given(memory));
        let said = desk.told(code);
        let status = desk.capturing(stream);
        let (ended, _) = desk.end(stream);
        desk.say(format!("  begin {begun}, call {said}, capture {status}, end {ended}"));
        desk.say(format!("  body: {}", desk.shape(body)));
        whole(desk, graph, stream, memory)?;
        desk.end_of(comm);
    }
    Ok(())
}

pub(super) fn body_child(desk: &Desk) -> Asked {
    for collective in KINDS {
        let (comm, stream) = (desk.comm(true)?, desk.stream()?);
        if let Some(ready) = ready(desk, comm, stream, collective)? {
            let (graph, body) = conditional(desk)?;
            desk.say(format!("  cuGraphAddChildGraphNode in the body {}", add_child(desk, body, ready.graph)));
            let memory = (ready.source, ready.target);
            forget(desk, ready);
            whole(desk, graph, stream, memory)?;
        }
        desk.end_of(comm);
    }
    Ok(())
}

/// Captures what `work` puts on the stream, and says what became of it.
fn captured(
    desk: &Desk,
    what: &str,
    stream: CUstream,
    memory: (CUdeviceptr, CUdeviceptr),
    work: impl FnOnce() -> String,
) -> Asked {
    let begun = desk.begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    let said = work();
    let (ended, graph) = desk.end(stream);
    desk.say(format!("{what}: begin {begun}, calls {said}, end {ended}"));
    if graph.is_null() {
        return Ok(());
    }
    desk.say(format!("  {}", desk.shape(graph)));
    let (made, exec) = desk.instantiate(graph);
    desk.say(format!("  instantiate {made}"));
    if made.is_success() {
        replays(desk, exec, stream, memory)?;
        desk.destroy_exec(exec);
    }
    desk.destroy_graph(graph);
    Ok(())
}

/// Chains, groups, and two streams of one capture.
pub(super) fn chain(desk: &Desk) -> Asked {
    let (comm, stream, other) = (desk.comm(true)?, desk.stream()?, desk.stream()?);
    let (a, b, c) = (desk.memory(&[0; BYTES])?, desk.memory(&[0; BYTES])?, desk.memory(&[0; BYTES])?);
    let call = |collective: Collective, from, to, stream| {
        format!("{:?}", collective.enqueue(desk.nccl, comm, stream, given((from, to))))
    };
    for collective in KINDS {
        captured(desk, &format!("two of {} one after another", collective.name()), stream, (a, c), || {
            [call(collective, a, b, stream), call(collective, b, c, stream)].join(" ")
        })?;
        captured(desk, &format!("two of {} in a group, of one source", collective.name()), stream, (a, c), || {
            // SAFETY: both take nothing.
            let opened = unsafe { desk.nccl.ncclGroupStart() };
            let calls = [call(collective, a, b, stream), call(collective, a, c, stream)].join(" ");
            // SAFETY: as above.
            let closed = unsafe { desk.nccl.ncclGroupEnd() };
            format!("{opened:?} {calls} {closed:?}")
        })?;
        let mut events = [CUevent::NULL; 2];
        for event in &mut events {
            // SAFETY: `event` is valid for the write.
            let code = unsafe { desk.driver.cuEventCreate(event, 2) };
            if !code.is_success() {
                return Err(format!("cuEventCreate: {code}"));
            }
        }
        captured(desk, &format!("two of {} on two streams", collective.name()), stream, (a, c), || {
            // SAFETY: the events and the streams are live.
            let forked = unsafe {
                [desk.driver.cuEventRecord(events[0], stream), desk.driver.cuStreamWaitEvent(other, events[0], 0)]
            };
            let calls = [call(collective, a, b, other), call(collective, a, c, stream)].join(" ");
            // SAFETY: as above.
            let joined = unsafe {
                [desk.driver.cuEventRecord(events[1], other), desk.driver.cuStreamWaitEvent(stream, events[1], 0)]
            };
            format!("{forked:?} {calls} {joined:?}")
        })?;
    }
    desk.end_of(comm);
    Ok(())
}
