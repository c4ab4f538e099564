//! Corners of the driver that once went wrong, each as the smallest program that shows it.

mod kit;

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Machine, Options};
use kit::{Device, INVALID, OK, one_thread};

const PTX: &str = ".version 7.8
.target sm_90
.address_size 64
.visible .entry bad() { .reg .b64 %rd<2>; .reg .b32 %r<2>; mov.u64 %rd1, 16; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret; }
.visible .entry set(.param .u64 p, .param .u32 v) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
  griddepcontrol.launch_dependents; griddepcontrol.wait; st.global.u32 [%rd1], %r1; ret; }
.visible .entry wide(.param .u64 p) .maxntid 65536, 65536, 2 { ret; }
";

fn kernel(device: &Device, name: &str) -> CUfunction {
    device.function(device.module(PTX), name)
}

/// Appends a digit to the number it is given.
unsafe extern "C" fn append<const DIGIT: u64>(_: CUstream, _: CUresult, log: *mut c_void) {
    // SAFETY: the tests pass an `AtomicU64` that outlives the machine.
    let log = unsafe { &*log.cast::<AtomicU64>() };
    log.store(log.load(Ordering::SeqCst) * 10 + DIGIT, Ordering::SeqCst);
}

#[test]
fn callbacks_behind_a_fault_are_called_in_order_before_the_fault_is_answered() {
    for seed in 0..20 {
        let log = AtomicU64::new(0);
        let m = Device::new(Options { seed, ..Default::default() });
        let (function, s) = (kernel(&m, "bad"), m.stream());
        let (none, data) = (std::ptr::null_mut(), (&raw const log).cast_mut().cast());
        // SAFETY: a kernel without parameters; the log outlives the machine's calls.
        unsafe {
            assert_eq!(m.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s, none, none), OK);
            // From here on a call may answer the fault already; the callbacks that were taken must run.
            let first = m.cuStreamAddCallback(s, Some(append::<1>), data, 0);
            let second = m.cuStreamAddCallback(s, Some(append::<2>), data, 0);
            assert_eq!(m.cuStreamSynchronize(s), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
            let expected = match (first, second) {
                (OK, OK) => 12,
                (OK, _) => 1,
                _ => 0,
            };
            assert_eq!(log.load(Ordering::SeqCst), expected, "seed {seed}");
        }
    }
}

#[test]
fn a_freed_device_address_is_not_taken_for_host_memory() {
    let m = Device::new(Options::default());
    let (gone, there) = (m.buffer(64), m.buffer(64));
    // SAFETY: numbers that the driver must check itself.
    unsafe {
        assert_eq!(m.cuMemsetD32_v2(there, 0, 16), OK);
        assert_eq!(m.cuMemFree_v2(gone), OK);
        assert_eq!(m.cuMemcpy(gone, there, 4), INVALID);
        assert_eq!(m.cuMemcpy(there, gone, 4), INVALID);
        assert_eq!(m.cuMemcpy(there, there + 64, 4), INVALID);
    }
}

#[test]
fn the_legacy_stream_waits_for_a_blocking_stream_that_was_destroyed_while_busy() {
    for seed in 0..30 {
        let m = Device::new(Options { seed, ..Default::default() });
        let (p, s, mut value) = (m.buffer(4), m.stream_with(CU_STREAM_DEFAULT), 0u32);
        // SAFETY: live handles and a valid target.
        unsafe {
            assert_eq!(m.cuMemsetD32_v2(p, 1, 1), OK);
            assert_eq!(m.cuMemsetD32Async(p, 7, 1, s), OK);
            assert_eq!(m.cuStreamDestroy_v2(s), OK);
            assert_eq!(m.cuMemcpyDtoH_v2((&raw mut value).cast(), p, 4), OK);
        }
        assert_eq!(value, 7, "seed {seed}");
    }
}

#[test]
fn memory_that_a_pool_hands_out_again_counts_from_the_call_on() {
    for seed in 0..20 {
        let m = Device::new(Options { seed, capacity: 4 << 20, ..Default::default() });
        let (s, mut a, mut b) = (m.stream(), 0, 0);
        // SAFETY: valid out pointers and live handles.
        unsafe {
            assert_eq!(m.cuMemAllocAsync(&mut a, 3 << 20, s), OK);
            assert_eq!(m.cuMemFreeAsync(a, s), OK);
            assert_eq!(m.cuStreamSynchronize(s), OK);
            assert_eq!(m.cuMemAllocAsync(&mut a, 3 << 20, s), OK);
            assert_eq!(m.cuMemAlloc_v2(&mut b, 3 << 20), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
            assert_eq!(m.cuMemsetD32Async(a, 1, 16, s), OK);
            assert_eq!(m.cuStreamSynchronize(s), OK);
        }
        assert_eq!(m.findings(), [], "seed {seed}");
    }
}

#[test]
fn arguments_lent_by_a_node_survive_another_question_and_a_new_attribute() {
    let m = Device::new(Options::default());
    let (function, mut p, mut value) = (kernel(&m, "set"), m.buffer(4), 5u32);
    let mut pointers = [(&raw mut p).cast::<c_void>(), (&raw mut value).cast()];
    let (mut graph, mut node) = (CUgraph::NULL, CUgraphNode::NULL);
    let params = one_thread(function, &mut pointers);
    let (mut first, mut second) = (params, params);
    // SAFETY: valid pointers; what is read back was lent by the node, which is alive.
    unsafe {
        assert_eq!(m.cuGraphCreate(&mut graph, 0), OK);
        assert_eq!(m.cuGraphAddKernelNode_v2(&mut node, graph, std::ptr::null(), 0, &params), OK);
        assert_eq!(m.cuGraphKernelNodeGetParams_v2(node, &mut first), OK);
        assert_eq!(m.cuGraphKernelNodeGetParams_v2(node, &mut second), OK);
        assert_eq!(first.kernelParams, second.kernelParams);
        let priority = CUkernelNodeAttrValue { words: [u64::from(-1i32 as u32), 0, 0, 0, 0, 0, 0, 0] };
        assert_eq!(m.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority), OK);
        assert_eq!(first.kernelParams.add(1).read().cast::<u32>().read(), 5);
        assert_eq!(m.cuGraphKernelNodeSetParams_v2(node, &first), OK);
        assert_eq!(m.cuGraphKernelNodeGetParams_v2(node, &mut second), OK);
        assert_eq!(second.kernelParams.add(1).read().cast::<u32>().read(), 5);
    }
}

#[test]
fn whoever_is_told_of_a_finding_may_ask_the_machine() {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    static TOLD: AtomicU64 = AtomicU64::new(0);
    let on_finding = Arc::new(|_: &dacapo_sim::Finding| {
        let known = MACHINE.get().map_or(0, |machine| machine.findings().len());
        TOLD.fetch_add(known as u64, Ordering::SeqCst);
    });
    let m = MACHINE.get_or_init(|| Device::new(Options { on_finding: Some(on_finding), ..Default::default() }).machine);
    let mut table = std::ptr::null();
    let id = CUuuid { bytes: [7; 16] };
    // SAFETY: both pointers are to locals.
    let code = unsafe { m.cuGetExportTable(&mut table, &raw const id) };
    assert_eq!(code, CUresult::CUDA_ERROR_NOT_SUPPORTED);
    assert_eq!(TOLD.load(Ordering::SeqCst), 1);
}

/// Nothing of a kernel begins before what it depends on is done, so there is nothing for it to wait for.
#[test]
fn a_kernel_that_waits_for_its_grid_dependencies_runs() {
    let m = Device::new(Options::default());
    let (function, mut p, mut value, mut got) = (kernel(&m, "set"), m.buffer(4), 5u32, 0u32);
    let mut pointers = [(&raw mut p).cast::<c_void>(), (&raw mut value).cast()];
    // SAFETY: the parameters are as the kernel declares them; the target is valid.
    unsafe {
        let none = std::ptr::null_mut();
        assert_eq!(m.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::NULL, pointers.as_mut_ptr(), none), OK);
        assert_eq!(m.cuMemcpyDtoH_v2((&raw mut got).cast(), p, 4), OK);
    }
    assert_eq!(got, 5);
}

#[test]
fn wild_sizes_are_refused() {
    let m = Device::new(Options::default());
    let (wide, p, mut count, mut memory) = (kernel(&m, "wide"), m.buffer(64), 0, [0u8; 16]);
    let host = memory.as_mut_ptr().cast::<c_void>();
    let copy = CUDA_MEMCPY2D {
        srcMemoryType: CU_MEMORYTYPE_DEVICE,
        srcDevice: p,
        srcXInBytes: 1,
        dstMemoryType: CU_MEMORYTYPE_DEVICE,
        dstDevice: p,
        WidthInBytes: usize::MAX,
        Height: 2,
        ..Default::default()
    };
    let mut parameter = p;
    let mut pointers = [(&raw mut parameter).cast::<c_void>()];
    // SAFETY: every pointer is valid; every size is the driver's to check.
    unsafe {
        assert_eq!(m.cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut count, wide, 128, 0xffff_ffff), OK);
        assert_eq!(count, 0);
        assert_eq!(m.cuMemcpy2D_v2(&copy), INVALID);
        assert_eq!(m.cuMemHostRegister_v2(host, usize::MAX, 0), INVALID);
        assert_eq!(m.cuMemcpyHtoD_v2(p, host, usize::MAX), INVALID);
        assert_eq!(m.cuMemsetD32_v2(p, 0, usize::MAX / 2), INVALID);
        let none = std::ptr::null_mut();
        assert_eq!(m.cuLaunchKernel(wide, 1, 1, 1, 32, 1, 1, 0, CUstream::NULL, pointers.as_mut_ptr(), none), OK);
        assert_eq!(m.cuCtxSynchronize(), OK);
    }
}

#[test]
fn a_graph_inside_a_child_node_cannot_be_destroyed_while_it_is_captured() {
    let m = Device::new(Options::default());
    let (mut outer, mut inner, mut child, mut node) = (CUgraph::NULL, CUgraph::NULL, CUgraph::NULL, CUgraphNode::NULL);
    let (s, none) = (m.stream(), std::ptr::null());
    // SAFETY: valid out pointers and live handles.
    unsafe {
        assert_eq!(m.cuGraphCreate(&mut outer, 0), OK);
        assert_eq!(m.cuGraphCreate(&mut inner, 0), OK);
        assert_eq!(m.cuGraphAddChildGraphNode(&mut node, outer, none, 0, inner), OK);
        assert_eq!(m.cuGraphChildGraphNodeGetGraph(node, &mut child), OK);
        assert_eq!(m.cuStreamBeginCaptureToGraph(s, child, none, std::ptr::null(), 0, 0), OK);
        assert_eq!(m.cuGraphDestroyNode(node), CUresult::CUDA_ERROR_ILLEGAL_STATE);
        assert_eq!(m.cuGraphDestroy(outer), CUresult::CUDA_ERROR_ILLEGAL_STATE);
        let mut ended = CUgraph::NULL;
        assert_eq!(m.cuStreamEndCapture(s, &mut ended), OK);
        assert_eq!(ended, child);
        assert_eq!(m.cuGraphDestroy(outer), OK);
    }
}

/// The first signature has no mode: everything that a capture forbids is forbidden to every thread.
#[test]
fn a_capture_by_its_first_signature_is_global() {
    let m = Device::seeded(1);
    let (stream, mut memory) = (m.stream(), 0);
    // SAFETY: a live stream, and a valid out pointer.
    unsafe {
        assert_eq!(m.cuStreamBeginCapture(stream), OK);
        assert_eq!(m.cuMemAlloc_v2(&mut memory, 64), CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
}

#[test]
fn calls_with_addresses_of_32_bits_zero_what_they_would_give() {
    let m = Device::seeded(1);
    let (mut address, mut pitch, mut free, mut total) = (7, 7, 7, 7);
    // SAFETY: valid out pointers.
    let codes = unsafe {
        [
            m.cuMemAlloc(&mut address, 64),
            m.cuMemAllocPitch(&mut address, &mut pitch, 64, 2, 4),
            m.cuMemGetInfo(&mut free, &mut total),
        ]
    };
    assert_eq!(codes, [CUresult::CUDA_ERROR_INVALID_CONTEXT; 3]);
    assert_eq!((address, pitch, free, total), (0, 0, 0, 0));
    assert_eq!(m.found(), ["narrow-call"; 3]);
}

#[test]
fn graphs_are_instantiated_by_their_first_signatures() {
    let m = Device::seeded(1);
    let graph = m.graph();
    // SAFETY: a live graph, valid out pointers, and a buffer as large as said.
    unsafe {
        for instantiate in [Machine::cuGraphInstantiate, Machine::cuGraphInstantiate_v2] {
            let (mut exec, mut node, mut log) = (CUgraphExec::NULL, CUgraphNode::from_bits(7), [7; 8]);
            assert_eq!(instantiate(&m, &mut exec, graph, &mut node, log.as_mut_ptr(), log.len()), OK);
            assert!(!exec.is_null() && node.is_null() && log[0] == 0);
        }
    }
}
