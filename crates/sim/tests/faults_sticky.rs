//! Faults of kernels: which code each gives, and that it stays, as an H200 was observed to answer.

mod kit;

use std::ffi::c_void;
use std::time::{Duration, Instant};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Options, Time};
use kit::{Device, ok};

/// Each takes one number: an address, an offset, an index.
const PTX: &str = ".version 8.3
.target sm_90
.address_size 64
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.visible .entry store(.param .u64 p) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret; }
.visible .entry trap_(.param .u64 p) { trap; }
.visible .entry brkpt_(.param .u64 p) { brkpt; ret; }
.visible .entry call_(.param .u64 p) {
  .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; proto: .callprototype _ (); call %rd1, (), proto; ret; }
.visible .entry shared_(.param .u64 p) {
  .reg .b32 %r<4>; .shared .align 8 .b8 s[64];
  ld.param.u32 %r1, [p]; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; mov.u32 %r3, 1; st.shared.u32 [%r1], %r3; ret; }
.visible .entry assert_(.param .u64 p) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>; mov.u64 %rd1, 0; mov.u32 %r1, 1;
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; st.param.b32 [c], %r1; st.param.b64 [d], %rd1; st.param.b64 [e], %rd1;
    call.uni __assertfail, (a, b, c, d, e); }
  ret; }
.func (.param .b32 r) rec(.param .b32 a) {
  .local .align 8 .b8 buf[4096]; .reg .b32 %r<6>; .reg .b64 %rd<3>;
  ld.param.b32 %r1, [a]; mov.u64 %rd1, buf; st.local.u32 [%rd1], %r1; add.u32 %r2, %r1, 1;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call.uni (y), rec, (x); ld.param.b32 %r3, [y]; }
  ld.local.u32 %r4, [%rd1]; add.u32 %r5, %r3, %r4; st.param.b32 [r], %r5; ret; }
.visible .entry deep(.param .u64 p) {
  .reg .b64 %rd<2>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u32 %r1, 1;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), rec, (x); ld.param.b32 %r2, [y]; }
  st.global.u32 [%rd1], %r2; ret; }
.visible .entry spin(.param .u64 p) { L: bra L; }
";

/// Every fault that PTX can cause here, by kernel and argument; none: an address of real memory, misaligned.
const FAULTS: &[(&str, Option<u64>, CUresult)] = &[
    ("store", Some(16), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
    ("store", None, CUresult::CUDA_ERROR_MISALIGNED_ADDRESS),
    ("trap_", Some(0), CUresult::CUDA_ERROR_LAUNCH_FAILED),
    ("brkpt_", Some(0), CUresult::CUDA_ERROR_LAUNCH_FAILED),
    ("assert_", Some(0), CUresult::CUDA_ERROR_ASSERT),
    ("call_", Some(0x1234_5600), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
    ("call_", Some(0x1234_5601), CUresult::CUDA_ERROR_INVALID_PC),
    ("shared_", Some(2), CUresult::CUDA_ERROR_MISALIGNED_ADDRESS),
    ("shared_", Some(0x4_0000), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
    ("deep", Some(0), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
    ("spin", Some(0), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT),
];

fn device(seed: u64) -> Device {
    Device::new(Options { seed, budget: 1 << 20, ..Options::default() })
}

#[test]
fn each_fault_has_its_code_and_leaves_one_finding() {
    for seed in 0..3 {
        for (name, argument, code) in FAULTS {
            let d = device(seed);
            let function = d.function(d.module(PTX), name);
            let argument = argument.unwrap_or_else(|| d.zeros(4) + 2);
            ok(d.launch(function, CUstream::NULL, &[argument]));
            // SAFETY: no pointers.
            assert_eq!(unsafe { d.cuCtxSynchronize() }, *code, "{name}({argument:#x})");
            assert_eq!(d.found().len(), 1, "{name}: {:?}", d.found());
        }
    }
}

#[test]
fn a_fault_stays_and_only_some_calls_still_answer() {
    for (name, argument, code) in FAULTS {
        let d = device(1);
        let function = d.function(d.module(PTX), name);
        let (p, s, g) = (d.zeros(4), d.stream(), d.graph());
        let mut exec = CUgraphExec::NULL;
        let (mut address, mut stream, mut event, mut graph, mut context) =
            (0, CUstream::NULL, CUevent::NULL, CUgraph::NULL, CUcontext::NULL);
        ok(d.launch(function, s, &[argument.unwrap_or(p + 2)]));
        // SAFETY: valid out pointers; the host word outlives the calls.
        unsafe {
            assert_eq!(d.cuStreamSynchronize(s), *code, "{name}");
            let mut word = 0u32;
            let host: *mut c_void = (&raw mut word).cast();
            for (call, answer) in [
                ("cuMemAlloc", d.cuMemAlloc_v2(&mut address, 4)),
                ("cuMemFree", d.cuMemFree_v2(p)),
                ("cuMemcpyDtoH", d.cuMemcpyDtoH_v2(host, p, 4)),
                ("cuLaunchKernel", d.launch(function, s, &[0])),
                ("cuStreamCreate", d.cuStreamCreate(&mut stream, 0)),
                ("cuEventCreate", d.cuEventCreate(&mut event, 0)),
                ("cuGraphInstantiate", d.cuGraphInstantiateWithFlags(&mut exec, g, 0)),
                ("cuStreamQuery", d.cuStreamQuery(s)),
                ("cuStreamWriteValue32", d.cuStreamWriteValue32_v2(s, p, 1, 0)),
                ("cuCtxSynchronize", d.cuCtxSynchronize()),
                ("cuCtxCreate", d.cuCtxCreate_v2(&mut context, 0, 0)),
            ] {
                assert_eq!(answer, *code, "{call} after {name}");
            }
            for (call, answer) in [
                ("cuCtxGetCurrent", d.cuCtxGetCurrent(&mut context)),
                ("cuGraphCreate", d.cuGraphCreate(&mut graph, 0)),
                ("cuGraphDestroy", d.cuGraphDestroy(g)),
                ("cuDevicePrimaryCtxReset", d.cuDevicePrimaryCtxReset_v2(0)),
            ] {
                assert_eq!(answer, CUresult::CUDA_SUCCESS, "{call} after {name}");
            }
            assert_eq!(d.cuDevicePrimaryCtxRetain(&mut context, 0), *code, "a reset does not mend it");
        }
    }
}

/// As on a GPU, which needs a while to tell: libraries record an event behind each launch and wait later.
#[test]
fn in_live_time_a_fault_shows_where_the_program_waits() {
    let (mut quick, mut turn) = (0, 0);
    while quick < 5 {
        turn += 1;
        assert!(turn < 200, "this machine never comes to the second call in time");
        let d = Device::new(Options { time: Time::Live, ..Options::default() });
        let (trap, store) = (d.function(d.module(PTX), "trap_"), d.function(d.module(PTX), "store"));
        let (p, s) = (d.zeros(4), d.stream());
        let mut event = CUevent::NULL;
        // SAFETY: valid out pointers; the handles are live.
        unsafe {
            ok(d.cuEventCreate(&mut event, 0));
            let begun = Instant::now();
            ok(d.launch(trap, s, &[0]));
            while d.found().is_empty() {
                std::thread::yield_now();
            }
            let answers = [d.launch(store, s, &[p]), d.cuEventRecord(event, s)];
            // The promise is about 20 milliseconds; who was put to sleep meanwhile tries again.
            if begun.elapsed() < Duration::from_millis(20) {
                assert_eq!(answers, [CUresult::CUDA_SUCCESS; 2], "the fault is not known yet");
                quick += 1;
            }
            assert_eq!(d.cuStreamQuery(s), CUresult::CUDA_ERROR_LAUNCH_FAILED);
            assert_eq!(d.cuEventRecord(event, s), CUresult::CUDA_ERROR_LAUNCH_FAILED, "now it is known");
            assert_eq!(d.found(), ["trap"], "what was launched behind it has not run");
        }
    }
}

#[test]
fn a_fault_inside_a_conditional_body_ends_the_launch() {
    for seed in 0..8 {
        let d = device(seed);
        let trap = d.function(d.module(PTX), "trap_");
        let (g, s) = (d.graph(), d.stream());
        let h = d.condition(g, Some(1));
        let (_, bodies) = d.conditional(g, &[], h, CU_GRAPH_COND_TYPE_WHILE, 1);
        d.kernel_node(bodies[0], &[], trap, &[0]);
        let exec = d.instantiate(g);
        // SAFETY: no pointers.
        unsafe {
            ok(d.cuGraphLaunch(exec, s));
            assert_eq!(d.cuStreamSynchronize(s), CUresult::CUDA_ERROR_LAUNCH_FAILED);
        }
    }
}

#[test]
fn a_graph_is_launched_without_a_current_context() {
    let d = device(1);
    let function = d.function(d.module(PTX), "store");
    let (g, p, s) = (d.graph(), d.zeros(1), d.stream());
    d.kernel_node(g, &[], function, &[p]);
    let exec = d.instantiate(g);
    // SAFETY: no pointers.
    unsafe {
        ok(d.cuCtxSetCurrent(CUcontext::NULL));
        ok(d.cuGraphLaunch(exec, s));
        ok(d.cuGraphUpload(exec, s));
        assert_eq!(
            d.cuGraphLaunch(exec, CUstream::NULL),
            CUresult::CUDA_ERROR_INVALID_CONTEXT,
            "the null stream needs one"
        );
        ok(d.cuCtxSetCurrent(d.context));
        ok(d.cuStreamSynchronize(s));
    }
    assert_eq!(d.read(p), 1);
}
