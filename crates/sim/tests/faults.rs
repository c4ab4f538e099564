//! A fault that a hook produces is true of the machine below it: each effect leaves the state that it says.

mod kit;

use std::sync::Arc;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, Driver, Effect, Fault, Hooked, leaves_undone};
use dacapo_sim::{Census, Machine, Options};
use kit::{Device, OK, word};

const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;
const INVALIDATED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;

type Faulty = Hooked<Machine, Fault>;

/// A machine with its primary context current, one stream, and 64 bytes; rules strike from then on.
fn prepared(rules: impl FnOnce(Fault) -> Fault) -> (Machine, Faulty, CUstream, CUdeviceptr) {
    let device = Device::new(Options::default());
    let (stream, memory, machine) = (device.stream(), device.buffer(64), device.machine);
    let fault = rules(Fault::new().over(Arc::new(machine.clone())));
    (machine.clone(), Hooked::new(machine, fault), stream, memory)
}

#[test]
fn not_done_leaves_everything_as_it_was_and_done_does_it() {
    let set = Call::cuMemsetD32Async;
    let (machine, driver, stream, memory) =
        prepared(|fault| fault.fail(set, 2, UNKNOWN).strike(set, 3, UNKNOWN, Effect::Done));
    for (value, code, word_after) in [(1, OK, 1), (2, UNKNOWN, 1), (3, UNKNOWN, 3)] {
        // SAFETY: 64 bytes of the machine's memory.
        let answer = unsafe { driver.cuMemsetD32Async(memory, value, 16, stream) };
        // SAFETY: a stream of the machine's.
        assert_eq!(unsafe { machine.cuStreamSynchronize(stream) }, OK);
        assert_eq!((answer, word(&machine, memory)), (code, word_after), "value {value}");
    }
    assert!(driver.hook().all_fired());
}

#[test]
fn done_answers_for_itself_where_the_call_is_refused() {
    let (_, driver, stream, _) = prepared(|fault| fault.strike(Call::cuMemsetD32Async, 1, UNKNOWN, Effect::Done));
    // SAFETY: an address that is none is refused.
    let answer = unsafe { driver.cuMemsetD32Async(0x10, 1, 16, stream) };
    assert_eq!(answer, CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn an_invalidated_capture_is_invalidated_to_everyone() {
    // The second: refused for memory, and the capture broken by it.
    for (code, effect) in [(INVALIDATED, Effect::CaptureInvalidated), (UNKNOWN, Effect::CaptureInvalidated)] {
        let (machine, driver, stream, memory) = prepared(|fault| fault.strike(Call::cuMemsetD32Async, 1, code, effect));
        let (mut status, mut graph) = (CU_STREAM_CAPTURE_STATUS_NONE, CUgraph::NULL);
        // SAFETY: a stream and memory of the machine's; all pointers are valid for the write.
        unsafe {
            assert_eq!(driver.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), OK);
            assert_eq!(driver.cuMemsetD32Async(memory, 1, 16, stream), code);
            assert_eq!(machine.cuStreamIsCapturing(stream, &mut status), OK);
            assert_eq!(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
            assert_eq!(driver.cuMemsetD32Async(memory, 1, 16, stream), INVALIDATED);
            assert_eq!(driver.cuStreamEndCapture(stream, &mut graph), INVALIDATED);
        }
        assert!(graph.is_null());
        let census = machine.census();
        assert_eq!((census.captures, census.graphs), (0, 0));
        assert!(machine.findings().is_empty(), "nobody broke a rule");
    }
}

#[test]
fn a_capture_whose_end_fails_is_over_and_its_graph_gone() {
    let end = Call::cuStreamEndCapture;
    let (machine, driver, stream, memory) = prepared(|fault| fault.strike(end, 1, UNKNOWN, Effect::CaptureInvalidated));
    let (mut status, mut graph) = (CU_STREAM_CAPTURE_STATUS_ACTIVE, CUgraph::NULL);
    // SAFETY: as above.
    unsafe {
        assert_eq!(driver.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), OK);
        assert_eq!(driver.cuMemsetD32Async(memory, 1, 16, stream), OK);
        assert_eq!(driver.cuStreamEndCapture(stream, &mut graph), UNKNOWN);
        assert_eq!(machine.cuStreamIsCapturing(stream, &mut status), OK);
    }
    assert_eq!((graph.is_null(), status), (true, CU_STREAM_CAPTURE_STATUS_NONE));
    assert_eq!(machine.census().graphs, 0);
}

#[test]
fn without_a_capture_there_is_none_to_invalidate() {
    let (machine, driver, stream, memory) =
        prepared(|fault| fault.strike(Call::cuMemsetD32Async, 1, INVALIDATED, Effect::CaptureInvalidated));
    // SAFETY: as above.
    assert_eq!(unsafe { driver.cuMemsetD32Async(memory, 7, 16, stream) }, OK);
    // SAFETY: as above.
    assert_eq!(unsafe { machine.cuStreamSynchronize(stream) }, OK);
    assert_eq!(word(&machine, memory), 7);
}

#[test]
fn a_lost_context_answers_as_after_a_real_fault() {
    let code = CUresult::CUDA_ERROR_ECC_UNCORRECTABLE;
    let (machine, driver, stream, memory) =
        prepared(|fault| fault.strike(Call::cuStreamSynchronize, 1, code, Effect::ContextLost));
    let (mut context, mut graph, mut more) = (CUcontext::NULL, CUgraph::NULL, 0);
    // SAFETY: as above.
    unsafe {
        assert_eq!(driver.cuMemsetD32Async(memory, 1, 16, stream), OK);
        assert_eq!(driver.cuStreamSynchronize(stream), code);
        assert_eq!(machine.cuMemAlloc_v2(&mut more, 64), code);
        assert_eq!(machine.cuMemsetD32Async(memory, 1, 16, stream), code);
        assert_eq!(machine.cuStreamDestroy_v2(stream), code);
        // What an H200 was seen to answer all the same.
        assert_eq!(machine.cuCtxGetCurrent(&mut context), OK);
        assert_eq!(machine.cuGraphCreate(&mut graph, 0), OK);
        assert_eq!(machine.cuGraphDestroy(graph), OK);
        assert_eq!(machine.cuDevicePrimaryCtxRelease_v2(0), OK);
    }
    assert_eq!(machine.census(), Census::default(), "everything goes with the context");
    assert!(machine.findings().is_empty());
}

#[test]
fn a_refused_release_may_be_made_again_and_no_other() {
    let release = [Call::cuStreamDestroy_v2, Call::cuMemFreeAsync, Call::cuGraphExecDestroy, Call::cuModuleUnload];
    for call in release {
        assert!(leaves_undone(call, CUresult::CUDA_ERROR_NOT_PERMITTED), "{call:?}");
        assert!(leaves_undone(call, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED), "{call:?}");
        assert!(!leaves_undone(call, UNKNOWN), "{call:?}");
        assert!(!leaves_undone(call, CUresult::CUDA_ERROR_LAUNCH_FAILED), "{call:?}");
    }
    assert!(leaves_undone(Call::cuMemFreeAsync, CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    assert!(leaves_undone(Call::cuStreamEndCapture, CUresult::CUDA_ERROR_NOT_PERMITTED));
    assert!(!leaves_undone(Call::cuStreamEndCapture, INVALIDATED), "that is the end of the capture");
}
