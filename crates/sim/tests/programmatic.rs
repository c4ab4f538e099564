//! Kernels that begin before the one they come after is over: when they may begin, and what their wait promises.

mod kit;

use std::collections::BTreeSet;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::Options;
use kit::{Device, ok};

/// `first(p, n)`: each block says that dependents may begin, then works for long and adds 1 to `p[0]`.
/// `silent(p, n)`: the same without saying so. `peek(p, n)`: `p[1] = p[0] + 1` at once, then it waits and `p[2] = p[0]`.
/// `careless(p, n)`: `p[1] = p[0] + 1`, and never waits. `after(p, n)`: `p[3] = p[0]`.
const PTX: &str = ".version 8.3
.target sm_90
.address_size 64
.visible .entry first(.param .u64 p, .param .u64 n) {
  .reg .b64 %rd<2>; .reg .b32 %r<4>; .reg .pred %q;
  griddepcontrol.launch_dependents;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, 0;
  L: add.u32 %r1, %r1, 1; setp.lt.u32 %q, %r1, 20000; @%q bra L;
  atom.global.add.u32 %r2, [%rd1], 1; ret; }
.visible .entry silent(.param .u64 p, .param .u64 n) {
  .reg .b64 %rd<2>; .reg .b32 %r<4>; .reg .pred %q;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, 0;
  L: add.u32 %r1, %r1, 1; setp.lt.u32 %q, %r1, 20000; @%q bra L;
  atom.global.add.u32 %r2, [%rd1], 1; ret; }
.visible .entry peek(.param .u64 p, .param .u64 n) {
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1+4], %r1;
  griddepcontrol.wait;
  ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1+8], %r2; ret; }
.visible .entry careless(.param .u64 p, .param .u64 n) {
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1+4], %r1; ret; }
.visible .entry after(.param .u64 p, .param .u64 n) {
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+12], %r1; ret; }
";

const BLOCKS: u32 = 4;

fn launch(
    d: &Device,
    function: CUfunction,
    stream: CUstream,
    p: u64,
    blocks: u32,
    attributes: &mut [CUlaunchAttribute],
) -> CUresult {
    let args = [p, 0];
    let mut pointers = args.each_ref().map(|arg| std::ptr::from_ref(arg).cast_mut().cast());
    let config = CUlaunchConfig {
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    };
    // SAFETY: two 8-byte arguments, and as many attributes as said.
    unsafe { d.cuLaunchKernelEx(&config, function, pointers.as_mut_ptr(), std::ptr::null_mut()) }
}

fn early() -> CUlaunchAttribute {
    let mut attribute =
        CUlaunchAttribute { id: CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, ..Default::default() };
    attribute.value.words[0] = 1;
    attribute
}

fn event(d: &Device) -> CUevent {
    let mut event = CUevent::NULL;
    // SAFETY: the out pointer is valid.
    ok(unsafe { d.cuEventCreate(&mut event, CU_EVENT_DISABLE_TIMING) });
    event
}

/// What `p[0..4]` hold after a primary, a second kernel with programmatic serialization, and a third one without.
fn in_a_stream(seed: u64, primary: &str, second: &str) -> [u32; 4] {
    let d = Device::seeded(seed);
    let module = d.module(PTX);
    let (p, s) = (d.zeros(4), d.stream());
    ok(launch(&d, d.function(module, primary), s, p, BLOCKS, &mut []));
    ok(launch(&d, d.function(module, second), s, p, 1, &mut [early()]));
    ok(launch(&d, d.function(module, "after"), s, p, 1, &mut []));
    // SAFETY: no pointers.
    ok(unsafe { d.cuStreamSynchronize(s) });
    assert_eq!(d.found(), [""; 0]);
    [0, 4, 8, 12].map(|at| d.read(p + at))
}

#[test]
fn a_wait_sees_all_of_the_primary_and_what_is_read_before_it_varies() {
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let [done, peeked, waited, after] = in_a_stream(seed, "first", "peek");
        assert_eq!([done, waited, after], [BLOCKS; 3], "seed {seed}");
        seen.insert(peeked - 1);
    }
    assert!(seen.len() > 1, "before the wait a kernel may see any part of the primary, and here always saw {seen:?}");
    assert!(seen.contains(&0), "a kernel may begin before its primary has stored anything, and never did: {seen:?}");
}

#[test]
fn a_primary_that_says_nothing_is_over_before_its_dependent_begins() {
    for seed in 0..20 {
        assert_eq!(in_a_stream(seed, "silent", "peek"), [BLOCKS, BLOCKS + 1, BLOCKS, BLOCKS], "seed {seed}");
    }
}

#[test]
fn what_comes_behind_a_kernel_that_never_waits_comes_behind_its_primary_too() {
    for seed in 0..40 {
        let [done, _, _, after] = in_a_stream(seed, "first", "careless");
        assert_eq!([done, after], [BLOCKS; 2], "seed {seed}");
    }
}

#[test]
fn without_the_attribute_nothing_overlaps() {
    for seed in 0..20 {
        let d = Device::seeded(seed);
        let module = d.module(PTX);
        let (p, s) = (d.zeros(4), d.stream());
        ok(launch(&d, d.function(module, "first"), s, p, BLOCKS, &mut []));
        ok(launch(&d, d.function(module, "peek"), s, p, 1, &mut []));
        // SAFETY: no pointers.
        ok(unsafe { d.cuStreamSynchronize(s) });
        assert_eq!([d.read(p + 4), d.read(p + 8)], [BLOCKS + 1, BLOCKS], "seed {seed}");
    }
}

/// The edges of a graph as `(from, to, from_port, type)`, by the nodes' places.
fn edges(d: &Device, g: CUgraph) -> Vec<(usize, usize, u8, u8)> {
    let (mut nodes, mut count) = ([CUgraphNode::NULL; 8], 8);
    let (mut from, mut to, mut data, mut edges) =
        ([CUgraphNode::NULL; 8], [CUgraphNode::NULL; 8], [CUgraphEdgeData::default(); 8], 8);
    // SAFETY: arrays of eight.
    unsafe {
        ok(d.cuGraphGetNodes(g, nodes.as_mut_ptr(), &mut count));
        ok(d.cuGraphGetEdges_v2(g, from.as_mut_ptr(), to.as_mut_ptr(), data.as_mut_ptr(), &mut edges));
    }
    let place = |node| nodes.iter().position(|known| *known == node).expect("an edge is between nodes");
    (0..edges).map(|at| (place(from[at]), place(to[at]), data[at].from_port, data[at].r#type)).collect()
}

#[test]
fn a_capture_has_programmatic_edges_and_its_replay_overlaps() {
    let mut seen = BTreeSet::new();
    for seed in 0..40 {
        let d = Device::seeded(seed);
        let module = d.module(PTX);
        let (p, s) = (d.zeros(4), d.stream());
        let mut g = CUgraph::NULL;
        // SAFETY: the out pointer is valid.
        unsafe {
            ok(d.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
            ok(launch(&d, d.function(module, "first"), s, p, BLOCKS, &mut [early()]));
            ok(launch(&d, d.function(module, "peek"), s, p, 1, &mut [early()]));
            ok(launch(&d, d.function(module, "after"), s, p, 1, &mut []));
            ok(d.cuStreamEndCapture(s, &mut g));
            // Asked without room for the data, a graph with such an edge does not pretend.
            let (mut from, mut to, mut count) = ([CUgraphNode::NULL; 8], [CUgraphNode::NULL; 8], 8);
            assert_eq!(
                d.cuGraphGetEdges(g, from.as_mut_ptr(), to.as_mut_ptr(), &mut count),
                CUresult::CUDA_ERROR_LOSSY_QUERY
            );
        }
        assert_eq!(edges(&d, g), [(0, 1, 1, 1), (1, 2, 0, 0)]);
        let exec = d.instantiate(g);
        d.run(exec, s);
        assert_eq!([d.read(p + 8), d.read(p + 12)], [BLOCKS; 2], "seed {seed}");
        seen.insert(d.read(p + 4) - 1);
    }
    assert!(seen.len() > 1, "{seen:?}");
}

#[test]
fn behind_a_kernel_that_is_switched_off_another_begins_as_early_and_waits_for_as_much() {
    let mut seen = BTreeSet::new();
    for seed in 0..40 {
        let d = Device::seeded(seed);
        let module = d.module(PTX);
        let (p, s) = (d.zeros(4), d.stream());
        let (mut g, mut nodes, mut count) = (CUgraph::NULL, [CUgraphNode::NULL; 3], 3);
        // SAFETY: the out pointers are valid, and the array is of three.
        unsafe {
            ok(d.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
            ok(launch(&d, d.function(module, "first"), s, p, BLOCKS, &mut []));
            ok(launch(&d, d.function(module, "careless"), s, p, 1, &mut [early()]));
            ok(launch(&d, d.function(module, "peek"), s, p, 1, &mut [early()]));
            ok(d.cuStreamEndCapture(s, &mut g));
            ok(d.cuGraphGetNodes(g, nodes.as_mut_ptr(), &mut count));
        }
        let exec = d.instantiate(g);
        // SAFETY: a node of the graph that was instantiated.
        ok(unsafe { d.cuGraphNodeSetEnabled(exec, nodes[1], 0) });
        d.run(exec, s);
        assert_eq!(d.read(p + 8), BLOCKS, "seed {seed}");
        seen.insert(d.read(p + 4) - 1);
    }
    assert!(seen.contains(&0), "it may begin before the first has stored anything, and never did: {seen:?}");
}

#[test]
fn an_event_of_a_launch_is_recorded_when_dependents_may_begin() {
    for (id, words, edge) in [
        (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, 0, (0, 1, 1, 1)),
        (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, 1 << 32, (0, 1, 2, 1)),
        // CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
        (12, 0, (0, 1, 2, 0)),
    ] {
        for seed in 0..10 {
            let d = Device::new(Options { seed, ..Options::default() });
            let module = d.module(PTX);
            let (first, peek) = (d.function(module, "first"), d.function(module, "peek"));
            let (p, s, t) = (d.zeros(4), d.stream(), d.stream());
            let (signal, join) = (event(&d), event(&d));
            let mut attribute = CUlaunchAttribute { id, ..Default::default() };
            attribute.value.words[0] = signal.bits();
            attribute.value.words[1] = words;
            // Run: whoever waits for the event comes behind the signal, and the event comes to pass.
            ok(launch(&d, first, s, p, BLOCKS, &mut [attribute]));
            // SAFETY: the out pointer below is valid.
            unsafe {
                ok(d.cuStreamWaitEvent(t, signal, 0));
                ok(launch(&d, peek, t, p, 1, &mut []));
                ok(d.cuEventSynchronize(signal));
                ok(d.cuCtxSynchronize());
                assert_eq!(d.read(p), BLOCKS);
                // Captured: an edge from that port.
                let mut g = CUgraph::NULL;
                ok(d.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
                ok(launch(&d, first, s, p, BLOCKS, &mut [attribute]));
                ok(d.cuStreamWaitEvent(t, signal, 0));
                ok(launch(&d, peek, t, p, 1, &mut []));
                ok(d.cuEventRecord(join, t));
                ok(d.cuStreamWaitEvent(s, join, 0));
                ok(d.cuStreamEndCapture(s, &mut g));
                assert_eq!(edges(&d, g), [edge]);
                let exec = d.instantiate(g);
                d.run(exec, s);
            }
            assert_eq!((d.read(p), d.read(p + 8)), (2 * BLOCKS, 2 * BLOCKS), "seed {seed}");
        }
    }
}
