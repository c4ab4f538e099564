//! Conditional nodes: which body runs, how often, and in which order with what stands around.

mod kit;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Options, Time};
use kit::{Device, INVALID, NOT_SUPPORTED, ok, one_thread};

const IF: u32 = CU_GRAPH_COND_TYPE_IF;
const WHILE: u32 = CU_GRAPH_COND_TYPE_WHILE;
const SWITCH: u32 = CU_GRAPH_COND_TYPE_SWITCH;

/// `append(p, digit)`: `*p = *p * 10 + digit`. `set(handle, value)`. `countdown(handle, p)`: `set(handle, --*p)`.
/// `follow(handle, p)`: `set(handle, *p)`.
const PTX: &str = ".version 8.3
.target sm_90
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 h, .param .b32 v);
.visible .entry append(.param .u64 p, .param .u64 digit) {
  .reg .b64 %rd<3>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [digit];
  ld.global.u32 %r2, [%rd1]; mad.lo.u32 %r3, %r2, 10, %r1; st.global.u32 [%rd1], %r3; ret; }
.visible .entry set(.param .u64 handle, .param .u64 value) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [handle]; ld.param.u32 %r1, [value];
  { .param .b64 h; .param .b32 v; st.param.b64 [h], %rd1; st.param.b32 [v], %r1; call.uni cudaGraphSetConditional, (h, v); }
  ret; }
.visible .entry countdown(.param .u64 handle, .param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [handle]; ld.param.u64 %rd2, [p];
  ld.global.u32 %r1, [%rd2]; sub.u32 %r2, %r1, 1; st.global.u32 [%rd2], %r2;
  { .param .b64 h; .param .b32 v; st.param.b64 [h], %rd1; st.param.b32 [v], %r2; call.uni cudaGraphSetConditional, (h, v); }
  ret; }
.visible .entry follow(.param .u64 handle, .param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [handle]; ld.param.u64 %rd2, [p]; ld.volatile.global.u32 %r1, [%rd2];
  { .param .b64 h; .param .b32 v; st.param.b64 [h], %rd1; st.param.b32 [v], %r1; call.uni cudaGraphSetConditional, (h, v); }
  ret; }
";

struct Kernels {
    append: CUfunction,
    set: CUfunction,
    countdown: CUfunction,
    follow: CUfunction,
}

fn start(options: Options) -> (Device, Kernels) {
    let d = Device::new(options);
    let module = d.module(PTX);
    let names = ["append", "set", "countdown", "follow"];
    let [append, set, countdown, follow] = names.map(|name| d.function(module, name));
    (d, Kernels { append, set, countdown, follow })
}

fn seeds() -> impl Iterator<Item = (Device, Kernels)> {
    (0..12).map(|seed| start(Options { seed, ..Options::default() }))
}

#[test]
fn what_comes_behind_a_conditional_node_comes_behind_its_body() {
    //   append 1 ──► IF { append 2 ──► append 3 } ──► append 4
    for (d, k) in seeds() {
        let (g, p) = (d.graph(), d.zeros(1));
        let h = d.condition(g, Some(1));
        let first = d.kernel_node(g, &[], k.append, &[p, 1]);
        let (node, bodies) = d.conditional(g, &[first], h, IF, 1);
        let inside = d.kernel_node(bodies[0], &[], k.append, &[p, 2]);
        d.kernel_node(bodies[0], &[inside], k.append, &[p, 3]);
        d.kernel_node(g, &[node], k.append, &[p, 4]);
        let exec = d.instantiate(g);
        d.run(exec, d.stream());
        assert_eq!(d.read(p), 1234);
        assert_eq!(d.found(), [""; 0]);
    }
}

#[test]
fn a_kernel_decides_and_the_default_comes_back_with_each_launch() {
    for (d, k) in seeds() {
        let (g, p, s) = (d.graph(), d.zeros(1), d.stream());
        let h = d.condition(g, Some(1));
        let (node, bodies) = d.conditional(g, &[], h, IF, 2);
        d.kernel_node(bodies[0], &[], k.append, &[p, 1]);
        d.kernel_node(bodies[1], &[], k.append, &[p, 2]);
        // After the node: too late for this launch, and forgotten by the next.
        d.kernel_node(g, &[node], k.set, &[h, 0]);
        let exec = d.instantiate(g);
        d.run(exec, s);
        d.run(exec, s);
        assert_eq!(d.read(p), 11);
    }
}

#[test]
fn a_condition_without_a_default_keeps_what_was_set() {
    for (d, k) in seeds() {
        let (g, p, s) = (d.graph(), d.zeros(1), d.stream());
        let h = d.condition(g, None);
        let (_, bodies) = d.conditional(g, &[], h, IF, 1);
        d.kernel_node(bodies[0], &[], k.append, &[p, 1]);
        let exec = d.instantiate(g);
        d.run(exec, s);
        assert_eq!(d.read(p), 0, "nobody has set it");
        assert_eq!(d.found(), ["unset-condition"]);
    }
}

#[test]
fn a_while_runs_until_its_body_says_0_and_rounds_do_not_overlap() {
    for (d, k) in seeds() {
        let (g, p, counter, s) = (d.graph(), d.zeros(1), d.zeros(1), d.stream());
        let h = d.condition(g, Some(1));
        let (node, bodies) = d.conditional(g, &[], h, WHILE, 1);
        // Two leaves: the next round begins behind both.
        let first = d.kernel_node(bodies[0], &[], k.append, &[p, 1]);
        d.kernel_node(bodies[0], &[first], k.append, &[p, 2]);
        d.kernel_node(bodies[0], &[], k.countdown, &[h, counter]);
        d.kernel_node(g, &[node], k.append, &[p, 9]);
        let exec = d.instantiate(g);
        d.write(counter, 3);
        d.run(exec, s);
        assert_eq!((d.read(p), d.read(counter)), (1_212_129, 0));
        // The condition was left at 0; the default begins anew.
        d.write(counter, 1);
        d.write(p, 0);
        d.run(exec, s);
        assert_eq!(d.read(p), 129);
    }
}

#[test]
fn bodies_nest() {
    //   SWITCH by 2 { _, _, WHILE 2 times { IF { append 7 } } }
    for (d, k) in seeds() {
        let (g, p, counter) = (d.graph(), d.zeros(1), d.zeros(1));
        let [outer, middle, inner] = [2, 1, 1].map(|default| d.condition(g, Some(default)));
        let (_, arms) = d.conditional(g, &[], outer, SWITCH, 3);
        let (_, round) = d.conditional(arms[2], &[], middle, WHILE, 1);
        let (choice, yes) = d.conditional(round[0], &[], inner, IF, 1);
        d.kernel_node(yes[0], &[], k.append, &[p, 7]);
        d.kernel_node(round[0], &[choice], k.countdown, &[middle, counter]);
        let exec = d.instantiate(g);
        d.write(counter, 2);
        d.run(exec, d.stream());
        assert_eq!(d.read(p), 77);
    }
}

#[test]
fn launches_of_one_executable_see_their_own_defaults() {
    for (d, k) in seeds() {
        let (g, p, s) = (d.graph(), d.zeros(1), d.stream());
        let h = d.condition(g, Some(1));
        let (node, bodies) = d.conditional(g, &[], h, IF, 1);
        d.kernel_node(bodies[0], &[], k.append, &[p, 1]);
        d.kernel_node(g, &[node], k.set, &[h, 0]);
        let exec = d.instantiate(g);
        // Both are on their way before the first has begun: the default is set when a launch begins, not when it is asked for.
        // SAFETY: no pointers.
        unsafe {
            ok(d.cuGraphLaunch(exec, s));
            ok(d.cuGraphLaunch(exec, s));
            ok(d.cuGraphLaunch(exec, d.stream()));
            ok(d.cuCtxSynchronize());
        }
        assert_eq!(d.read(p), 111);
    }
}

#[test]
fn what_an_earlier_launch_has_set_does_not_count() {
    for (d, k) in seeds() {
        let (g, p, s) = (d.graph(), d.zeros(1), d.stream());
        let h = d.condition(g, None);
        let set = d.kernel_node(g, &[], k.set, &[h, 1]);
        let (_, bodies) = d.conditional(g, &[set], h, IF, 1);
        d.kernel_node(bodies[0], &[], k.append, &[p, 1]);
        let exec = d.instantiate(g);
        d.run(exec, s);
        d.run(exec, s);
        assert_eq!(d.found(), [""; 0], "each launch sets it");
        // SAFETY: handles of this device.
        ok(unsafe { d.cuGraphNodeSetEnabled(exec, set, 0) });
        d.run(exec, s);
        assert_eq!(d.found(), ["unset-condition"]);
        assert_eq!(d.read(p), 111, "the value is what it was");
    }
}

#[test]
fn an_executable_keeps_its_condition_when_the_graph_is_gone() {
    let (d, k) = start(Options::default());
    let (g, p) = (d.graph(), d.zeros(1));
    let h = d.condition(g, None);
    let set = d.kernel_node(g, &[], k.set, &[h, 5]);
    let (_, bodies) = d.conditional(g, &[set], h, IF, 1);
    d.kernel_node(bodies[0], &[], k.append, &[p, 1]);
    let exec = d.instantiate(g);
    // SAFETY: no pointers.
    ok(unsafe { d.cuGraphDestroy(g) });
    d.run(exec, d.stream());
    assert_eq!(d.read(p), 1);
    // With the executable it goes: who sets it then is told.
    // SAFETY: no pointers.
    ok(unsafe { d.cuGraphExecDestroy(exec) });
    ok(d.launch(k.set, CUstream::NULL, &[h, 1]));
    // SAFETY: no pointers.
    ok(unsafe { d.cuCtxSynchronize() });
    assert_eq!(d.found(), ["stale-condition"]);
}

/// A graph with a WHILE that begins with 1 and counts down from what is at `counter`; its executable.
fn counted_down(d: &Device, k: &Kernels, counter: u64) -> CUgraphExec {
    let g = d.graph();
    let h = d.condition(g, Some(1));
    let (_, bodies) = d.conditional(g, &[], h, WHILE, 1);
    d.kernel_node(bodies[0], &[], k.countdown, &[h, counter]);
    d.instantiate(g)
}

#[test]
fn an_endless_while_is_reported_and_ends() {
    let (d, k) = start(Options { rounds_max: 300, ..Options::default() });
    let (g, p, s) = (d.graph(), d.zeros(1), d.stream());
    let h = d.condition(g, Some(1));
    let (_, bodies) = d.conditional(g, &[], h, WHILE, 1);
    d.kernel_node(bodies[0], &[], k.append, &[p, 1]);
    let exec = d.instantiate(g);
    // SAFETY: no pointers.
    unsafe {
        ok(d.cuGraphLaunch(exec, s));
        assert_eq!(d.cuStreamSynchronize(s), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
        assert_eq!(d.cuGraphLaunch(exec, s), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT, "the context is broken");
    }
    let report = d.findings()[0].to_string();
    assert!(report.contains("error[endless-while]") && report.contains("after 300 rounds"), "{report}");
    assert!(report.contains("no kernel of its body is given condition 1"), "{report}");
    assert_eq!(d.found(), ["endless-while"]);
}

#[test]
fn a_while_may_run_as_many_rounds_as_it_is_given() {
    for (rounds, code) in [(300, CUresult::CUDA_SUCCESS), (301, CUresult::CUDA_ERROR_LAUNCH_TIMEOUT)] {
        let (d, k) = start(Options { rounds_max: 300, ..Options::default() });
        let (counter, s) = (d.zeros(1), d.stream());
        d.write(counter, rounds);
        let exec = counted_down(&d, &k, counter);
        // SAFETY: no pointers.
        unsafe {
            ok(d.cuGraphLaunch(exec, s));
            assert_eq!(d.cuStreamSynchronize(s), code, "{rounds} rounds");
        }
    }
}

#[test]
fn an_endless_while_names_who_sets_its_condition_and_what_that_reads() {
    let (d, k) = start(Options { rounds_max: 300, ..Options::default() });
    let (counter, s) = (d.zeros(1), d.stream());
    d.label(counter, "left");
    let exec = counted_down(&d, &k, counter);
    // SAFETY: no pointers.
    unsafe {
        ok(d.cuGraphLaunch(exec, s));
        assert_eq!(d.cuStreamSynchronize(s), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
    }
    let report = d.findings()[0].to_string();
    for part in [
        "WHILE node 0",
        "condition 1 (handle 0x",
        "default 1",
        "`countdown` sets the condition",
        "`countdown` reads",
        "`left`",
        "can be written by `countdown` of node 0",
    ] {
        assert!(report.contains(part), "no {part} in {report}");
    }
}

#[test]
fn an_endless_while_says_what_could_change_its_mind() {
    for is_filled in [false, true] {
        let (d, k) = start(Options { rounds_max: 300, ..Options::default() });
        let (g, flag, s) = (d.graph(), d.zeros(1), d.stream());
        d.write(flag, 1);
        d.label(flag, "flag");
        let h = d.condition(g, Some(1));
        let (_, bodies) = d.conditional(g, &[], h, WHILE, 1);
        if is_filled {
            let fill = CUDA_MEMSET_NODE_PARAMS {
                dst: flag,
                value: 1,
                elementSize: 4,
                width: 1,
                height: 1,
                ..Default::default()
            };
            let mut node = CUgraphNode::NULL;
            // SAFETY: valid pointers, no dependencies, and memory of four bytes.
            unsafe { ok(d.cuGraphAddMemsetNode(&mut node, bodies[0], std::ptr::null(), 0, &fill, d.context)) };
        }
        d.kernel_node(bodies[0], &[], k.follow, &[h, flag]);
        let exec = d.instantiate(g);
        // SAFETY: no pointers.
        unsafe {
            ok(d.cuGraphLaunch(exec, s));
            assert_eq!(d.cuStreamSynchronize(s), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
        }
        let report = d.findings()[0].to_string();
        let expected = match is_filled {
            true => "; in the body that can be written by the memset of node 0",
            false => ", which nothing in the body writes",
        };
        assert!(report.contains("`follow` reads byte 0 of `flag`") && report.contains(expected), "{report}");
    }
}

#[test]
fn pageable_memory_does_not_get_into_a_body_by_a_change() {
    let (d, _) = start(Options::default());
    let (device, context) = (d.zeros(1), d.context);
    let mut pinned = std::ptr::null_mut();
    // SAFETY: a valid out pointer.
    unsafe { ok(d.cuMemHostAlloc(&mut pinned, 4, 0)) };
    let mut pageable = 0u32;
    let to_host = |host: *mut std::ffi::c_void| CUDA_MEMCPY3D {
        srcMemoryType: CU_MEMORYTYPE_DEVICE,
        srcDevice: device,
        dstMemoryType: CU_MEMORYTYPE_HOST,
        dstHost: host,
        WidthInBytes: 4,
        Height: 1,
        Depth: 1,
        ..Default::default()
    };
    let taken = |copy: &CUDA_MEMCPY3D| {
        let (g, mut node) = (d.graph(), CUgraphNode::NULL);
        let (_, bodies) = d.conditional(g, &[], d.condition(g, Some(1)), IF, 1);
        // SAFETY: valid pointers, no dependencies.
        unsafe { ok(d.cuGraphAddMemcpyNode(&mut node, bodies[0], std::ptr::null(), 0, copy, context)) };
        (g, node)
    };
    let (allowed, refused) = (to_host(pinned), to_host(std::ptr::from_mut(&mut pageable).cast()));
    let (g, node) = taken(&allowed);
    let (other, other_node) = taken(&refused);
    let exec = d.instantiate(g);
    let mut info = CUgraphExecUpdateResultInfo::default();
    // SAFETY: valid pointers; the host's memory outlives the machine's use of it.
    unsafe {
        ok(d.cuGraphExecMemcpyNodeSetParams(exec, node, &allowed, context));
        assert_eq!(d.cuGraphExecMemcpyNodeSetParams(exec, node, &refused, context), INVALID);
        assert_eq!(d.cuGraphExecUpdate_v2(exec, other, &mut info), CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    }
    assert_eq!((info.result, info.errorNode), (CU_GRAPH_EXEC_UPDATE_ERROR, other_node));
    assert_eq!(d.found(), ["pageable-in-body"; 2]);
    // In a child in a body it is the same.
    let [child, replacement] = [&allowed, &refused].map(|copy| {
        let (child, mut node) = (d.graph(), CUgraphNode::NULL);
        // SAFETY: valid pointers, no dependencies.
        unsafe { ok(d.cuGraphAddMemcpyNode(&mut node, child, std::ptr::null(), 0, copy, context)) };
        child
    });
    let (g, mut node) = (d.graph(), CUgraphNode::NULL);
    let (_, bodies) = d.conditional(g, &[], d.condition(g, Some(1)), IF, 1);
    // SAFETY: valid pointers, no dependencies.
    unsafe {
        ok(d.cuGraphAddChildGraphNode(&mut node, bodies[0], std::ptr::null(), 0, child));
        let exec = d.instantiate(g);
        ok(d.cuGraphExecChildGraphNodeSetParams(exec, node, child));
        assert_eq!(d.cuGraphExecChildGraphNodeSetParams(exec, node, replacement), INVALID);
    }
    assert_eq!(d.found(), ["pageable-in-body"; 3]);
}

#[test]
fn in_live_time_a_while_may_wait_for_the_host() {
    for (time, code) in [(Time::Live, CUresult::CUDA_SUCCESS), (Time::Counted, CUresult::CUDA_ERROR_LAUNCH_TIMEOUT)] {
        let (d, k) = start(Options { rounds_max: 20, time, ..Options::default() });
        let (g, s, mut flag) = (d.graph(), d.stream(), std::ptr::null_mut());
        // SAFETY: a valid out pointer; the memory is four aligned bytes that live as long as the machine.
        let flag = unsafe {
            ok(d.cuMemHostAlloc(&mut flag, 4, 0));
            std::sync::atomic::AtomicU32::from_ptr(flag.cast())
        };
        flag.store(1, std::sync::atomic::Ordering::SeqCst);
        let h = d.condition(g, Some(1));
        let (_, bodies) = d.conditional(g, &[], h, WHILE, 1);
        d.kernel_node(bodies[0], &[], k.follow, &[h, flag.as_ptr().addr() as u64]);
        let exec = d.instantiate(g);
        // SAFETY: no pointers.
        unsafe {
            ok(d.cuGraphLaunch(exec, s));
            if time == Time::Live {
                // Long enough for far more rounds than the limit.
                std::thread::sleep(std::time::Duration::from_millis(50));
                flag.store(0, std::sync::atomic::Ordering::SeqCst);
            }
            assert_eq!(d.cuStreamSynchronize(s), code, "{time:?}");
        }
        assert_eq!(d.found().is_empty(), time == Time::Live);
    }
}

#[test]
fn rounds_are_counted_for_each_run_of_the_node() {
    //   WHILE 20 times { set inner ──► WHILE 20 times }: 400 rounds of the inner node, and never more than 20 in a row
    let (d, k) = start(Options { rounds_max: 30, ..Options::default() });
    let (g, outer, inner, s) = (d.graph(), d.zeros(1), d.zeros(1), d.stream());
    let [h, i] = [Some(1), None].map(|default| d.condition(g, default));
    let (_, bodies) = d.conditional(g, &[], h, WHILE, 1);
    let count = d.kernel_node(bodies[0], &[], k.countdown, &[h, outer]);
    let begin = d.kernel_node(bodies[0], &[count], k.append, &[inner, 20]);
    let set = d.kernel_node(bodies[0], &[begin], k.set, &[i, 1]);
    let (_, rounds) = d.conditional(bodies[0], &[set], i, WHILE, 1);
    d.kernel_node(rounds[0], &[], k.countdown, &[i, inner]);
    let exec = d.instantiate(g);
    d.write(outer, 20);
    d.run(exec, s);
    assert_eq!((d.read(outer), d.read(inner)), (0, 0));
    assert_eq!(d.found(), [""; 0]);
}

#[test]
fn what_is_refused() {
    let (d, k) = start(Options::default());
    let (g, other) = (d.graph(), d.graph());
    let h = d.condition(g, Some(1));
    for (kind, size) in [(IF, 0), (IF, 3), (WHILE, 0), (WHILE, 2), (SWITCH, 0), (3, 1)] {
        assert_eq!(d.try_conditional(g, &[], h, kind, size).err(), Some(INVALID), "{kind} of {size}");
    }
    assert_eq!(d.try_conditional(other, &[], h, IF, 1).err(), Some(INVALID), "a handle of another graph");
    assert_eq!(d.try_conditional(g, &[], h + 1, IF, 1).err(), Some(INVALID), "no handle");
    let mut exec = CUgraphExec::NULL;
    let mut params = CUDA_GRAPH_INSTANTIATE_PARAMS::default();
    // SAFETY: valid pointers.
    assert_eq!(unsafe { d.cuGraphInstantiateWithParams(&mut exec, g, &mut params) }, INVALID);
    assert_eq!(params.result_out, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
    let (_, bodies) = d.conditional(g, &[], h, IF, 1);
    assert_eq!(d.try_conditional(g, &[], h, IF, 1).err(), Some(INVALID), "a handle serves one node");
    d.kernel_node(bodies[0], &[], k.set, &[h, 1]);
    let (mut copy, mut node) = (CUgraph::NULL, CUgraphNode::NULL);
    // SAFETY: valid out pointers, no dependencies.
    unsafe {
        assert_eq!(d.cuGraphClone(&mut copy, g), NOT_SUPPORTED);
        assert_eq!(d.cuGraphAddChildGraphNode(&mut node, other, std::ptr::null(), 0, g), NOT_SUPPORTED);
        assert_eq!(d.cuGraphDestroy(bodies[0]), INVALID, "a body lives and dies with its node");
        let first = d.instantiate(g);
        assert_eq!(d.cuGraphInstantiateWithFlags(&mut exec, g, 0), NOT_SUPPORTED, "one executable at a time");
        ok(d.cuGraphExecDestroy(first));
        d.instantiate(g);
    }
}

#[test]
fn a_capture_can_fill_a_body_and_a_change_reaches_it() {
    for (d, k) in seeds() {
        let (g, p, q, s) = (d.graph(), d.zeros(1), d.zeros(1), d.stream());
        let h = d.condition(g, Some(1));
        let (_, bodies) = d.conditional(g, &[], h, IF, 1);
        let mut same = CUgraph::NULL;
        // SAFETY: no dependencies; the out pointer is valid.
        unsafe {
            ok(d.cuStreamBeginCaptureToGraph(s, bodies[0], std::ptr::null(), std::ptr::null(), 0, 0));
            ok(d.launch(k.append, s, &[p, 1]));
            ok(d.launch(k.append, s, &[p, 2]));
            ok(d.cuStreamEndCapture(s, &mut same));
        }
        assert_eq!(same, bodies[0]);
        let exec = d.instantiate(g);
        d.run(exec, s);
        assert_eq!(d.read(p), 12);
        let mut nodes = [CUgraphNode::NULL; 2];
        let mut count = 2;
        let args = [q, 8];
        let mut pointers = args.each_ref().map(|arg| std::ptr::from_ref(arg).cast_mut().cast());
        let params = one_thread(k.append, &mut pointers);
        // SAFETY: valid arrays; a kernel of two 8-byte parameters.
        unsafe {
            ok(d.cuGraphGetNodes(bodies[0], nodes.as_mut_ptr(), &mut count));
            ok(d.cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &params));
        }
        d.run(exec, s);
        assert_eq!((d.read(p), d.read(q)), (121, 8));
    }
}
