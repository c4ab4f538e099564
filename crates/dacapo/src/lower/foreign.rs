//! Foreign work, captured into the graph being built.
//!
//! The capture is relaxed and on a stream of its own that no safe code can name, so only what breaks every capture in
//! the process can break it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dacapo_driver::types::*;
use dacapo_driver::{Call, leaves_undone};
use smallvec::SmallVec;

use crate::device::{Device, Garbage, RawHandle, RawStream, twice};
use crate::error::{Error, ErrorKind, Result};
use crate::lower::building::Unfinished;
use crate::lower::declared::named;
use crate::memory::raw_places;
use crate::nesting::InForeign;
use crate::record::{Node, Work};

/// Why foreign work could not be captured.
pub(crate) struct Broken {
    pub(crate) error: Error,
    /// What the closure panicked with, to go on once the graph is taken care of.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
    /// Whether the driver has destroyed the graph that was being built.
    pub(crate) graph_is_gone: bool,
}

impl From<Error> for Broken {
    fn from(error: Error) -> Broken {
        Broken { error, panic: None, graph_is_gone: false }
    }
}

/// A private stream, destroyed at the end; a capture on it is ended first.
struct Private<'d> {
    device: &'d Device,
    raw: CUstream,
    capturing: bool,
}

impl Private<'_> {
    fn end(&mut self) -> (Result<()>, CUgraph) {
        self.capturing = false;
        let mut graph = CUgraph::NULL;
        // Refused twice, the capture and its graph go with the stream, which is destroyed next.
        // SAFETY: `graph` is valid for the write; the stream is ours.
        let code = twice(Call::cuStreamEndCapture, || unsafe {
            self.device.driver().cuStreamEndCapture(self.raw, &mut graph)
        });
        (self.device.check(code, Call::cuStreamEndCapture), graph)
    }
}

impl Drop for Private<'_> {
    fn drop(&mut self) {
        if self.capturing {
            // The closure failed or panicked: a stream is never left capturing.
            let _ = self.end();
        }
        // SAFETY: the stream is ours.
        let code = unsafe { self.device.driver().cuStreamDestroy_v2(self.raw) };
        if leaves_undone(Call::cuStreamDestroy_v2, code) {
            self.device.put(Garbage::RawStream(RawHandle(self.raw)), Vec::new());
        }
    }
}

/// Captures one op's foreign work behind `after`, and gives the nodes it ends in.
pub(crate) fn capture(
    device: &Device,
    graph: CUgraph,
    after: &[CUgraphNode],
    node: &Node,
) -> Result<SmallVec<[CUgraphNode; 1]>, Broken> {
    let Work::Foreign(work) = &node.work else { unreachable!("only foreign work is captured") };
    let driver = device.driver();
    let mut raw = CUstream::NULL;
    // SAFETY: `raw` is valid for the write.
    device.check(unsafe { driver.cuStreamCreate(&mut raw, CU_STREAM_NON_BLOCKING) }, Call::cuStreamCreate)?;
    let mut stream = Private { device, raw, capturing: false };
    // SAFETY: the graph is being built by us; the dependencies are nodes of it.
    let code = unsafe {
        driver.cuStreamBeginCaptureToGraph(
            raw,
            graph,
            after.as_ptr(),
            std::ptr::null(),
            after.len(),
            CU_STREAM_CAPTURE_MODE_RELAXED,
        )
    };
    device.check(code, Call::cuStreamBeginCaptureToGraph)?;
    stream.capturing = true;
    let places = raw_places(node.access.iter().map(|access| &access.place));
    let called = {
        let _inside = InForeign::enter();
        // The capture is ended before a panic goes on: only its end says whether the graph is still there.
        let call = || (work.call)(RawStream(raw), &mut places.into_iter());
        catch_unwind(AssertUnwindSafe(|| named(device, node, call)))
    };
    let (called, panic) = match called {
        Ok(called) => (called, None),
        Err(panic) => (Err(Error::msg("foreign work panicked")), Some(panic)),
    };
    let ends = last_nodes(device, raw);
    let (ended, _) = stream.end();
    let broken =
        ended.as_ref().err().is_some_and(is_capture_error) || ends.as_ref().err().is_some_and(is_capture_error);
    // A capture that did not end well has taken the graph with it, or takes it when its stream goes.
    let graph_is_gone = ended.is_err();
    let first = match (called, ends, ended) {
        (Ok(()), Ok(ends), Ok(())) => return Ok(ends),
        (Err(error), ..) | (_, Err(error), _) | (_, _, Err(error)) => error,
    };
    // What another library's types cannot do breaks the capture each time.
    if !broken || panic.is_some() || matches!(first.kind(), ErrorKind::Interop { .. }) {
        return Err(Broken { error: first, panic, graph_is_gone });
    }
    let culprit =
        "that of this op's work, by the call that was refused or by another library's synchronisation of the context"
            .into();
    let error = Error::new(ErrorKind::CaptureBroken { culprit }).with_source(first);
    Err(Broken { error, panic: None, graph_is_gone })
}

/// Captures one op's foreign work into a graph of its own, and adds that to the graph of a body, behind `after`.
///
/// Apart, because a capture that is broken takes its graph with it, and a body belongs to its conditional node; and because
/// what was captured can be looked at first: a body may not hold everything.
pub(crate) fn capture_apart(
    device: &Device,
    body: CUgraph,
    after: &[CUgraphNode],
    node: &Node,
) -> Result<SmallVec<[CUgraphNode; 1]>, Broken> {
    let driver = device.driver();
    let mut raw = CUgraph::NULL;
    // SAFETY: `raw` is valid for the write.
    device.check(unsafe { driver.cuGraphCreate(&mut raw, 0) }, Call::cuGraphCreate)?;
    let mut apart = Unfinished { device, raw };
    capture(device, raw, &[], node).map_err(|broken| {
        if broken.graph_is_gone {
            apart.raw = CUgraph::NULL;
        }
        Broken { graph_is_gone: false, ..broken }
    })?;
    expect_allowed_in_body(device, raw)?;
    let mut child = CUgraphNode::NULL;
    // SAFETY: `child` is valid for the write; the dependencies are nodes of the body; the graph is ours, and is copied.
    let code = unsafe { driver.cuGraphAddChildGraphNode(&mut child, body, after.as_ptr(), after.len(), apart.raw) };
    device.check(code, Call::cuGraphAddChildGraphNode)?;
    Ok(SmallVec::from_slice(&[child]))
}

/// Refuses what a body may not hold, also in child graphs. The driver would say so when all is instantiated, and not say
/// what.
fn expect_allowed_in_body(device: &Device, graph: CUgraph) -> Result<()> {
    let driver = device.driver();
    let mut graphs = vec![graph];
    while let Some(graph) = graphs.pop() {
        for node in nodes_of(device, graph)? {
            let mut kind = CU_GRAPH_NODE_TYPE_EMPTY;
            // SAFETY: `kind` is valid for the write, and the node is one of the graph's.
            let code = unsafe { driver.cuGraphNodeGetType(node, &mut kind) };
            device.check(code, Call::cuGraphNodeGetType)?;
            let what = match kind {
                CU_GRAPH_NODE_TYPE_HOST => "a host function",
                CU_GRAPH_NODE_TYPE_WAIT_EVENT => "a wait for an event",
                CU_GRAPH_NODE_TYPE_EVENT_RECORD => "a record of an event",
                CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL | CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT => "an external semaphore",
                CU_GRAPH_NODE_TYPE_MEM_ALLOC => "an allocation in stream order",
                CU_GRAPH_NODE_TYPE_MEM_FREE => "a free in stream order",
                CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => "a batch of memory operations",
                CU_GRAPH_NODE_TYPE_MEMCPY if is_pageable(device, node)? => "a copy from or to pageable host memory",
                CU_GRAPH_NODE_TYPE_GRAPH => {
                    let mut child = CUgraph::NULL;
                    // SAFETY: `child` is valid for the write, and the node is a child graph's, which owns that graph.
                    let code = unsafe { driver.cuGraphChildGraphNodeGetGraph(node, &mut child) };
                    device.check(code, Call::cuGraphChildGraphNodeGetGraph)?;
                    graphs.push(child);
                    continue;
                }
                _ => continue,
            };
            return Err(Error::new(ErrorKind::NotInBody { what: what.to_string() }));
        }
    }
    Ok(())
}

/// The nodes of a graph. It may have none: foreign work that had nothing to do.
fn nodes_of(device: &Device, graph: CUgraph) -> Result<Vec<CUgraphNode>> {
    let driver = device.driver();
    let mut count = 0;
    // SAFETY: without a buffer the call only counts.
    let code = unsafe { driver.cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count) };
    device.check(code, Call::cuGraphGetNodes)?;
    let mut nodes = vec![CUgraphNode::NULL; count];
    // The driver refuses room for none.
    if count > 0 {
        // SAFETY: there is room for `count` nodes.
        let code = unsafe { driver.cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count) };
        device.check(code, Call::cuGraphGetNodes)?;
    }
    Ok(nodes)
}

/// Whether a copy's node names memory of the host that is not page-locked.
fn is_pageable(device: &Device, node: CUgraphNode) -> Result<bool> {
    // SAFETY: a struct of numbers and addresses, for which zeros are values.
    let mut params: CUDA_MEMCPY3D = unsafe { std::mem::zeroed() };
    // SAFETY: `params` is valid for the write, and the node is a copy's.
    let code = unsafe { device.driver().cuGraphMemcpyNodeGetParams(node, &mut params) };
    device.check(code, Call::cuGraphMemcpyNodeGetParams)?;
    let sides = [
        (params.srcMemoryType, params.srcHost.addr() as u64, params.srcDevice),
        (params.dstMemoryType, params.dstHost.addr() as u64, params.dstDevice),
    ];
    Ok(sides.into_iter().any(|(kind, host, unified)| match kind {
        CU_MEMORYTYPE_HOST => is_unknown(device, host),
        CU_MEMORYTYPE_UNIFIED => is_unknown(device, unified),
        _ => false,
    }))
}

/// Whether the driver knows nothing of an address: then it is ordinary memory of the host.
fn is_unknown(device: &Device, address: u64) -> bool {
    let mut kind = 0u32;
    // SAFETY: `kind` is valid for the write of a number of this size; an address is a token to the call.
    let code = unsafe {
        device.driver().cuPointerGetAttribute((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)
    };
    code != dacapo_driver::CUresult::CUDA_SUCCESS
}

fn is_capture_error(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Driver(refused) if (900..=909).contains(&refused.code.0))
}

/// The nodes that the next work on a capturing stream would come after.
fn last_nodes(device: &Device, stream: CUstream) -> Result<SmallVec<[CUgraphNode; 1]>> {
    let (mut status, mut id, mut graph) = (CU_STREAM_CAPTURE_STATUS_NONE, 0, CUgraph::NULL);
    let (mut nodes, mut edges, mut count) = (std::ptr::null(), std::ptr::null(), 0usize);
    // SAFETY: all are valid for the write.
    let code = unsafe {
        device.driver().cuStreamGetCaptureInfo_v3(
            stream,
            &mut status,
            &mut id,
            &mut graph,
            &mut nodes,
            &mut edges,
            &mut count,
        )
    };
    device.check(code, Call::cuStreamGetCaptureInfo_v3)?;
    if status != CU_STREAM_CAPTURE_STATUS_ACTIVE {
        let code = dacapo_driver::CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        return Err(dacapo_driver::DriverError { code, call: Call::cuStreamGetCaptureInfo_v3 }.into());
    }
    if count == 0 {
        return Ok(SmallVec::new());
    }
    // SAFETY: the driver gives an array of `count` nodes that stays until the next call on this stream.
    Ok(unsafe { std::slice::from_raw_parts(nodes, count) }.iter().copied().collect())
}
