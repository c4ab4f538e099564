//! A chain of all-reduces in a graph, captured in the most natural way and with nothing around it: what Dacapo's graph of the
//! same work is compared with.

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, Check, Driver};
use dacapo_nccl::Nccl;
use dacapo_nccl::types::{c_void, ncclComm, ncclFloat32, ncclRedOp};

/// A graph that can be launched; ends when it is dropped.
pub struct ByHand<'d> {
    driver: &'d dyn Driver,
    exec: CUgraphExec,
}

impl ByHand<'_> {
    /// `cuGraphLaunch`, and nothing else.
    ///
    /// # Safety
    ///
    /// - The communicator and the memory of the chain live until the stream has passed this launch.
    #[inline]
    pub unsafe fn launch(&self, stream: CUstream) -> CUresult {
        // SAFETY: the graph lives as long as this; the rest is the caller's promise.
        unsafe { self.driver.cuGraphLaunch(self.exec, stream) }
    }

    /// The handle, for questions about it.
    pub fn exec(&self) -> CUgraphExec {
        self.exec
    }
}

impl Drop for ByHand<'_> {
    fn drop(&mut self) {
        // SAFETY: made in `by_hand` and destroyed only here. What it answers helps nobody.
        let _ = unsafe { self.driver.cuGraphExecDestroy(self.exec) };
    }
}

/// Captures an all-reduce (of `count` numbers of f32) for each of `links`, a source and a target, one after another.
///
/// # Errors
///
/// - The first call that was refused, by its name and code. The capture has ended then too.
///
/// # Safety
///
/// - `comm` and `stream` are live, of the context that is current, and nobody else uses them meanwhile.
/// - Sources and targets are memory of the device, `count` numbers long.
pub unsafe fn by_hand<'d>(
    driver: &'d dyn Driver,
    nccl: &dyn Nccl,
    comm: ncclComm,
    stream: CUstream,
    links: &[(CUdeviceptr, CUdeviceptr)],
    count: usize,
    op: ncclRedOp,
) -> Result<ByHand<'d>, String> {
    let checked = |code: CUresult, call| code.check(call).map_err(|error| error.to_string());
    // SAFETY: the stream is live.
    let begun = unsafe { driver.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) };
    checked(begun, Call::cuStreamBeginCapture_v2)?;
    let mut failed = None;
    for &(source, target) in links {
        let (from, to) = (source as *const c_void, target as *mut c_void);
        // SAFETY: the caller's promise.
        let code = unsafe { nccl.ncclAllReduce(from, to, count, ncclFloat32, op, comm, stream) };
        if !code.is_success() {
            failed = Some(format!("ncclAllReduce: {code}"));
            break;
        }
    }
    let mut graph = CUgraph::NULL;
    // Ended even when a call failed: a stream left capturing refuses the calls that follow.
    // SAFETY: `graph` is valid for the write.
    let ended = unsafe { driver.cuStreamEndCapture(stream, &mut graph) };
    if let Some(failed) = failed {
        if !graph.is_null() {
            // SAFETY: the capture gave it, and it is not used again.
            let _ = unsafe { driver.cuGraphDestroy(graph) };
        }
        return Err(failed);
    }
    checked(ended, Call::cuStreamEndCapture)?;
    let mut exec = CUgraphExec::NULL;
    // SAFETY: the capture gave the graph; `exec` is valid for the write.
    let made = unsafe { driver.cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
    // SAFETY: what was made of it does not need it.
    let _ = unsafe { driver.cuGraphDestroy(graph) };
    checked(made, Call::cuGraphInstantiateWithFlags)?;
    Ok(ByHand { driver, exec })
}
