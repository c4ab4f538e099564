//! The questions to NCCL, asked of a stand-in on the software driver: every path of theirs is walked before a GPU sees it.
//!
//! The stand-in is one rank that copies. What it answers says nothing of NCCL.

use std::sync::{Arc, Mutex};

use dacapo_driver::types::CUdeviceptr;
use dacapo_driver::{CUresult, Driver};
use dacapo_nccl::Nccl;
use dacapo_nccl::types::*;
use dacapo_sim::{Machine, Options, Time};
use dacapo_suite::nccl::by_hand::by_hand;
use dacapo_suite::nccl::{Desk, QUESTIONS};

/// One rank.
struct Alone {
    driver: &'static dyn Driver,
    /// What was sent and not received, and how many groups are open.
    open: Mutex<(Option<CUdeviceptr>, usize)>,
}

const LIVE: ncclComm = ncclComm(0x1000 as *mut c_void);
const SUCCESS: ncclResult = ncclResult::ncclSuccess;
const BAD: ncclResult = ncclResult::ncclInvalidArgument;

impl Alone {
    fn copy(
        &self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        // Of the types 0 to 9, in the order of their numbers.
        const SIZES: [usize; 10] = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2];
        let Some(size) = usize::try_from(datatype).ok().and_then(|at| SIZES.get(at)) else { return BAD };
        if comm != LIVE || (count > 0 && (from.is_null() || to.is_null())) {
            return BAD;
        }
        if from == to || count == 0 {
            return SUCCESS;
        }
        // SAFETY: the caller's promise, which is that of NCCL.
        let code = unsafe { self.driver.cuMemcpyDtoDAsync_v2(to as u64, from as u64, count * size, stream) };
        if code == CUresult::CUDA_SUCCESS { SUCCESS } else { ncclResult::ncclUnhandledCudaError }
    }
}

/// Writes a number where it is asked for.
fn put<T>(at: *mut T, value: T, comm: ncclComm) -> ncclResult {
    if comm != LIVE {
        return BAD;
    }
    // SAFETY: the caller's promise.
    unsafe { at.write(value) };
    SUCCESS
}

fn known(comm: ncclComm) -> ncclResult {
    if comm == LIVE || comm.is_null() { SUCCESS } else { BAD }
}

#[allow(non_snake_case, reason = "C's names")]
impl Nccl for Alone {
    unsafe fn ncclGetVersion(&self, version: *mut c_int) -> ncclResult {
        put(version, 21_400, LIVE)
    }

    unsafe fn ncclGetUniqueId(&self, id: *mut ncclUniqueId) -> ncclResult {
        put(id, ncclUniqueId { internal: [7; 128] }, LIVE)
    }

    unsafe fn ncclCommInitRankConfig(
        &self,
        comm: *mut ncclComm,
        nranks: c_int,
        id: ncclUniqueId,
        rank: c_int,
        config: *mut ncclConfig,
    ) -> ncclResult {
        // SAFETY: the caller's promise.
        let config = unsafe { *config };
        if nranks != 1 || rank != 0 || id.internal != [7; 128] || config.magic != 0xcafe_beef {
            return BAD;
        }
        put(comm, LIVE, LIVE);
        if config.blocking == 0 { ncclResult::ncclInProgress } else { SUCCESS }
    }

    unsafe fn ncclCommFinalize(&self, comm: ncclComm) -> ncclResult {
        known(comm)
    }

    unsafe fn ncclCommDestroy(&self, comm: ncclComm) -> ncclResult {
        known(comm)
    }

    unsafe fn ncclCommAbort(&self, comm: ncclComm) -> ncclResult {
        known(comm)
    }

    unsafe fn ncclCommGetAsyncError(&self, comm: ncclComm, error: *mut ncclResult) -> ncclResult {
        put(error, SUCCESS, comm)
    }

    unsafe fn ncclCommCount(&self, comm: ncclComm, count: *mut c_int) -> ncclResult {
        put(count, 1, comm)
    }

    unsafe fn ncclCommCuDevice(&self, comm: ncclComm, device: *mut c_int) -> ncclResult {
        put(device, 0, comm)
    }

    unsafe fn ncclCommUserRank(&self, comm: ncclComm, rank: *mut c_int) -> ncclResult {
        put(rank, 0, comm)
    }

    unsafe fn ncclReduce(
        &self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        _: ncclRedOp,
        root: c_int,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        if root == 0 { self.copy(from, to, count, datatype, comm, stream) } else { BAD }
    }

    unsafe fn ncclBroadcast(
        &self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        root: c_int,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        if root == 0 { self.copy(from, to, count, datatype, comm, stream) } else { BAD }
    }

    unsafe fn ncclAllReduce(
        &self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        _: ncclRedOp,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        self.copy(from, to, count, datatype, comm, stream)
    }

    unsafe fn ncclReduceScatter(
        &self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        _: ncclRedOp,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        self.copy(from, to, count, datatype, comm, stream)
    }

    unsafe fn ncclAllGather(
        &self,
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        self.copy(from, to, count, datatype, comm, stream)
    }

    unsafe fn ncclSend(
        &self,
        from: *const c_void,
        _: usize,
        _: ncclDataType,
        peer: c_int,
        comm: ncclComm,
        _: CUstream,
    ) -> ncclResult {
        let mut open = self.open.lock().unwrap();
        if peer != 0 || comm != LIVE || open.1 == 0 {
            return BAD;
        }
        open.0 = Some(from as u64);
        SUCCESS
    }

    unsafe fn ncclRecv(
        &self,
        to: *mut c_void,
        count: usize,
        datatype: ncclDataType,
        peer: c_int,
        comm: ncclComm,
        stream: CUstream,
    ) -> ncclResult {
        let sent = self.open.lock().unwrap().0.take();
        match sent {
            Some(from) if peer == 0 => self.copy(from as *const c_void, to, count, datatype, comm, stream),
            _ => BAD,
        }
    }

    unsafe fn ncclGroupStart(&self) -> ncclResult {
        self.open.lock().unwrap().1 += 1;
        SUCCESS
    }

    unsafe fn ncclGroupEnd(&self) -> ncclResult {
        let mut open = self.open.lock().unwrap();
        match open.1 {
            0 => ncclResult::ncclInvalidUsage,
            _ => {
                open.1 -= 1;
                SUCCESS
            }
        }
    }
}

fn stand_in() -> (&'static Machine, &'static Alone) {
    let machine: &Machine = Box::leak(Box::new(Machine::new(Options { time: Time::Live, ..Default::default() })));
    (machine, Box::leak(Box::new(Alone { driver: machine, open: Mutex::new((None, 0)) })))
}

/// What a question says.
fn said(name: &str) -> Vec<String> {
    let question = QUESTIONS.iter().find(|question| question.name == name).expect("a question of this name");
    let (machine, nccl) = stand_in();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let told = lines.clone();
    let desk = Desk::new(machine, nccl, move |line| told.lock().unwrap().push(line.to_string())).unwrap();
    let asked = (question.ask)(&desk);
    let lines = lines.lock().unwrap().clone();
    assert_eq!(asked, Ok(()), "{name}: {lines:#?}");
    assert!(!lines.is_empty(), "{name} says nothing");
    lines
}

fn has(lines: &[String], wanted: &str, times: usize) {
    let found = lines.iter().filter(|line| line.contains(wanted)).count();
    assert_eq!(found, times, "`{wanted}` in {lines:#?}");
}

#[test]
fn names_of_questions_stand_once() {
    for (at, question) in QUESTIONS.iter().enumerate() {
        assert!(QUESTIONS[..at].iter().all(|other| other.name != question.name), "{}", question.name);
    }
}

#[test]
fn eager_collectives_are_right() {
    has(&said("eager"), "right", 18);
    let types = said("types");
    has(&types, "right", 10);
    has(&types, "WRONG", 0);
}

#[test]
fn captured_collectives_replay() {
    for name in
        ["captured-relaxed", "captured-thread-local", "captured-global", "captured-into", "captured-not-blocking"]
    {
        let lines = said(name);
        has(&lines, "replays: right, right, right", 18);
        has(&lines, "1 nodes [memcpy]", 9);
        has(&lines, "0 nodes []", 9);
    }
    has(&said("captured-chain"), "replays: right, right, right", 9);
}

#[test]
fn graphs_stand_in_other_graphs() {
    has(&said("child"), "replays: right, right, right", 3);
    has(&said("body"), "replays: right, right, right", 3);
    has(&said("body-child"), "replays: right, right, right", 3);
}

#[test]
fn calls_beside_captures_are_made() {
    for name in ["beside-global", "beside-thread-local", "beside-relaxed"] {
        has(&said(name), "capture begun CUDA_SUCCESS", 12);
    }
    has(&said("disturbed"), "begin CUDA_SUCCESS", 42);
}

#[test]
fn communicators_end() {
    for name in [
        "destroy-copy",
        "finalize-avg",
        "abort-send",
        "destroy-not-blocking",
        "finalize-not-blocking",
        "abort-not-blocking",
    ] {
        has(&said(name), "replays: right, right, right", 3);
    }
    for name in ["init", "init-in-progress"] {
        has(&said(name), "WRONG", 0);
    }
}

#[test]
fn waiting_streams_go_on() {
    for name in ["hanging-copy", "hanging-send", "hanging-graph", "hanging-destroy"] {
        let lines = said(name);
        has(&lines, "the stream goes on: CUDA_SUCCESS", 1);
        has(&lines, "the stream then: CUDA_ERROR_NOT_READY", 1);
        has(&lines, "the result is there", 1);
    }
}

#[test]
fn mistakes_are_told() {
    has(&said("errors"), "rank 1 of 1: ncclInvalidArgument", 1);
    for name in ["errors-null", "garbage-id", "two-ranks", "absent-rank"] {
        said(name);
    }
}

#[test]
fn cost_is_measured() {
    has(&said("cost"), "until it returns", 6);
}

#[test]
fn a_chain_by_hand_ends_its_capture_when_a_call_is_refused() {
    let (machine, nccl) = stand_in();
    Desk::new(machine, nccl, |_| ()).unwrap();
    let mut stream = CUstream::NULL;
    // SAFETY: the context is current; `stream` is valid for the write.
    assert!(unsafe { machine.cuStreamCreate(&mut stream, 1) }.is_success());
    let make = |comm, links: &[(u64, u64)]| {
        // SAFETY: the stand-in refuses what is no communicator; there is no memory to touch.
        unsafe { by_hand(machine, nccl, comm, stream, links, 4, ncclSum) }.map(|_| ())
    };
    let refused = make(ncclComm::NULL, &[(8, 16)]).unwrap_err();
    assert!(refused.starts_with("ncclAllReduce: ncclInvalidArgument"), "{refused}");
    assert_eq!(make(LIVE, &[]), Ok(()));
}
