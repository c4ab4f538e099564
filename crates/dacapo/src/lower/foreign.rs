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
        catch_unwind(AssertUnwindSafe(|| (work.call)(RawStream(raw), &mut places.into_iter())))
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
