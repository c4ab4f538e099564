//! Captures beside calls of another thread: what NCCL breaks, and what breaks NCCL's.

use dacapo_driver::types::*;
use dacapo_nccl::types::*;

use super::captured::KINDS;
use super::collective::{Collective, Given};
use super::desk::{Asked, Desk};

/// What another thread does with NCCL, given a communicator where it wants one.
type Call = fn(&Desk, ncclComm, CUstream, CUdeviceptr) -> String;

fn collective(desk: &Desk, collective: Collective, comm: ncclComm, stream: CUstream, memory: CUdeviceptr) -> String {
    let given = Given { source: memory, target: memory + 4096, count: 1024, datatype: ncclFloat32 };
    let code = collective.enqueue(desk.nccl, comm, stream, given);
    let said = desk.told(code);
    // Not synchronised here: that would be a call of its own beside the capture.
    said
}

const CALLS: &[(&str, Call)] = &[
    ("ncclGetUniqueId", |desk, _, _, _| desk.told(desk.unique_id().0)),
    ("ncclCommInitRankConfig", |desk, _, _, _| match desk.comm(true) {
        Ok(_) => "ncclSuccess".to_string(),
        Err(why) => why,
    }),
    ("eager all_reduce sum", |desk, comm, stream, memory| collective(desk, KINDS[0], comm, stream, memory)),
    ("eager all_reduce avg", |desk, comm, stream, memory| collective(desk, KINDS[1], comm, stream, memory)),
    ("eager send+recv", |desk, comm, stream, memory| collective(desk, KINDS[2], comm, stream, memory)),
    ("ncclCommGetAsyncError", |desk, comm, _, _| format!("{:?}", desk.state(comm))),
    ("ncclCommFinalize", |desk, comm, _, _| desk.told(desk.finalize(comm))),
    ("ncclCommDestroy", |desk, comm, _, _| desk.told(desk.destroy(comm))),
    ("ncclCommAbort", |desk, comm, _, _| desk.told(desk.abort(comm))),
];

pub(super) fn global(desk: &Desk) -> Asked {
    beside(desk, CU_STREAM_CAPTURE_MODE_GLOBAL)
}

pub(super) fn thread_local(desk: &Desk) -> Asked {
    beside(desk, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
}

pub(super) fn relaxed(desk: &Desk) -> Asked {
    beside(desk, CU_STREAM_CAPTURE_MODE_RELAXED)
}

/// Each call on another thread while this thread captures a stream of its own, first with a communicator that has done nothing,
/// then with one that has done the same before.
fn beside(desk: &Desk, mode: CUstreamCaptureMode) -> Asked {
    for &(name, call) in CALLS {
        for warm in [false, true] {
            if warm && !name.starts_with("eager") {
                continue;
            }
            let (capturing, theirs) = (desk.stream()?, desk.stream()?);
            let (comm, memory) = (desk.comm(true)?, desk.memory(&[1; 8192])?);
            if warm {
                call(desk, comm, theirs, memory);
                desk.synchronize(theirs);
            }
            let begun = desk.begin(capturing, mode);
            set(desk, capturing, memory);
            let doing = desk.beside(move |desk| call(desk, comm, theirs, memory));
            let done = doing.wait(5.0);
            let status = desk.capturing(capturing);
            let (ended, graph) = desk.end(capturing);
            let said = match &done {
                Some((said, ms)) => format!("{said} after {ms:.1} ms"),
                None => "has not returned after 5 s".to_string(),
            };
            let warm = if warm { ", done before" } else { "" };
            desk.say(format!("{name}{warm}: {said}; capture begun {begun}, then {status}, ended {ended}"));
            if !graph.is_null() {
                desk.destroy_graph(graph);
            }
            match done {
                Some(_) => desk.say(format!("  their stream: {}", desk.synchronize(theirs))),
                None => match doing.wait(5.0) {
                    Some((said, _)) => desk.say(format!("  when the capture had ended: {said}")),
                    None => return Err("it has not returned after the capture either".to_string()),
                },
            }
            if name.starts_with("eager") || name == "ncclCommGetAsyncError" {
                desk.end_of(comm);
            }
        }
    }
    Ok(())
}

fn set(desk: &Desk, stream: CUstream, memory: CUdeviceptr) {
    // SAFETY: the memory is longer than that.
    let code = unsafe { desk.driver.cuMemsetD8Async(memory, 0, 16, stream) };
    if !code.is_success() {
        desk.say(format!("  cuMemsetD8Async {code}"));
    }
}

/// What another thread does with the driver, given a stream that does not capture.
type Disturbance = fn(&Desk, CUstream) -> String;

const DISTURBANCES: &[(&str, Disturbance)] = &[
    ("nothing", |_, _| "nothing".to_string()),
    ("cuMemAlloc", |desk, _| {
        let mut at = 0;
        // SAFETY: `at` is valid for the write.
        unsafe { desk.driver.cuMemAlloc_v2(&mut at, 1 << 20) }.to_string()
    }),
    ("cuCtxSynchronize", |desk, _| {
        // SAFETY: it takes nothing.
        unsafe { desk.driver.cuCtxSynchronize() }.to_string()
    }),
    ("cuStreamQuery of another stream", |desk, stream| desk.query(stream).to_string()),
    ("cuStreamSynchronize of another stream", |desk, stream| desk.synchronize(stream).to_string()),
    ("cuMemcpyDtoH", |desk, _| match desk.memory(&[0; 64]).and_then(|at| desk.read(at, 64)) {
        Ok(_) => "CUDA_SUCCESS".to_string(),
        Err(why) => why,
    }),
    ("ncclCommInitRankConfig of another communicator", |desk, _| match desk.comm(true) {
        Ok(_) => "ncclSuccess".to_string(),
        Err(why) => why,
    }),
];

/// Each on another thread between two collectives of a capture; then the same on the capturing thread.
pub(super) fn disturbed(desk: &Desk) -> Asked {
    for kind in KINDS {
        desk.say(kind.name());
        for &(name, disturb) in DISTURBANCES {
            for on in ["another thread", "the capturing thread"] {
                let (stream, other, comm) = (desk.stream()?, desk.stream()?, desk.comm(true)?);
                let memory = desk.memory(&[1; 8192])?;
                let begun = desk.begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
                let first = collective(desk, kind, comm, stream, memory);
                let said = match on {
                    "another thread" => match desk.beside(move |desk| disturb(desk, other)).wait(5.0) {
                        Some((said, _)) => said,
                        None => "has not returned after 5 s".to_string(),
                    },
                    _ => disturb(desk, other),
                };
                let status = desk.capturing(stream);
                let second = collective(desk, kind, comm, stream, memory);
                let (ended, graph) = desk.end(stream);
                desk.say(format!(
                    "  {name} on {on}: {said}; begin {begun}, first {first}, then {status}, second {second}, end {ended}"
                ));
                if !graph.is_null() {
                    desk.destroy_graph(graph);
                }
                desk.end_of(comm);
            }
        }
    }
    Ok(())
}
