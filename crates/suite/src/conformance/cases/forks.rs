//! Fork and join under replay: branches overlap, joins wait, launches follow their streams.

use super::super::case::{Case, HostAct};
use super::super::verbs::Arg::*;
use dacapo_driver::types::*;

super::list! { "fork";
    branches_overlap, join_waits_for_the_slow_branch, replay_in_one_stream_is_in_order, one_exec_in_two_streams, two_execs_in_two_streams,
    kernel_graph_kernel, graph_after_event, event_after_graph, graph_waits_for_node_event, graph_records_node_event,
    child_branches_overlap, host_node_in_one_branch, exec_destroyed_while_held, launch_from_two_threads, blocking_stream_and_legacy,
    upload_then_launch, launched_many_times, three_levels, legacy_stream_launch, graph_between_two_streams,
}

fn branches_overlap(c: &mut Case<'_>) {
    let (s, g, host) = (c.stream(1), c.graph(), c.pinned(4, 0));
    let flag = c.flag();
    c.node(g, &[], "gate", &[P(flag)]);
    c.node(g, &[], "add", &[P(host), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    // The other branch is done although the gate is closed.
    c.word_comes(host, 1, s);
    c.query(s);
    c.open(flag);
    c.sync(s);
    c.peek(host, 1);
}

fn join_waits_for_the_slow_branch(c: &mut Case<'_>) {
    let (s, g, host, after) = (c.stream(1), c.graph(), c.pinned(16, 0), c.event(2));
    let flag = c.flag();
    let held = c.node(g, &[], "gate", &[P(flag)]);
    let slow = c.node(g, &[held], "mad1", &[P(host), N(3), N(1)]);
    let fast = c.node(g, &[], "mad1", &[P(host + 4), N(5), N(2)]);
    let join = c.node(g, &[slow, fast], "carry", &[P(host + 8), P(host + 4), N(100)]);
    c.add_record(g, &[join], after);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.word_comes(host + 4, 2, s);
    c.query(s);
    c.peek(host, 3);
    c.open(flag);
    c.sync(s);
    c.event_query(after);
    c.peek(host, 3);
}

fn replay_in_one_stream_is_in_order(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    let other = c.kernel("mad1", &[P(m), N(2), N(5)]);
    let gate = c.gate(s);
    for _ in 0..4 {
        c.run(x, s);
        c.launch(&other, s);
    }
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.read(m, 1);
}

fn one_exec_in_two_streams(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[0]));
    let flag = c.flag();
    let held = c.node(g, &[], "gate", &[P(flag)]);
    c.node(g, &[held], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.run(x, t);
    // The second launch of an exec waits for the first, in whatever stream.
    c.query(t);
    c.open(flag);
    c.sync(t);
    c.query(s);
    c.read(m, 1);
}

fn two_execs_in_two_streams(c: &mut Case<'_>) {
    let (s, t, g, h, m) = (c.stream(1), c.stream(1), c.graph(), c.graph(), c.words(&[0, 0]));
    let flag = c.flag();
    let held = c.node(g, &[], "gate", &[P(flag)]);
    c.node(g, &[held], "add", &[P(m), N(1)]);
    c.node(h, &[], "add", &[P(m + 4), N(2)]);
    let (x, y) = (c.instantiate(g, 0), c.instantiate(h, 0));
    c.run(x, s);
    c.run(y, t);
    c.sync(t);
    c.query(s);
    c.read(m + 4, 1);
    c.open(flag);
    c.sync(s);
    c.read(m, 2);
}

fn kernel_graph_kernel(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let (before, after) = (c.kernel("mad1", &[P(m), N(2), N(1)]), c.kernel("mad1", &[P(m), N(7), N(5)]));
    c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    c.launch(&before, s);
    c.run(x, s);
    c.launch(&after, s);
    c.sync(s);
    c.read(m, 1);
}

fn graph_after_event(c: &mut Case<'_>) {
    let (s, t, g, m, e) = (c.stream(1), c.stream(1), c.graph(), c.words(&[1]), c.event(2));
    let before = c.kernel("mad1", &[P(m), N(2), N(1)]);
    c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    let gate = c.gate(s);
    c.launch(&before, s);
    c.record(e, s);
    c.wait(t, e);
    c.run(x, t);
    c.query(t);
    c.open(gate);
    c.sync(t);
    c.read(m, 1);
}

fn event_after_graph(c: &mut Case<'_>) {
    let (s, g, m, e) = (c.stream(1), c.graph(), c.words(&[1]), c.event(2));
    let flag = c.flag();
    let held = c.node(g, &[], "gate", &[P(flag)]);
    c.node(g, &[held], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.record(e, s);
    c.event_query(e);
    c.open(flag);
    c.event_sync(e);
    c.query(s);
    c.read(m, 1);
}

fn graph_waits_for_node_event(c: &mut Case<'_>) {
    let (s, t, g, m, e) = (c.stream(1), c.stream(1), c.graph(), c.words(&[1]), c.event(2));
    let w = c.add_wait(g, &[], e);
    c.node(g, &[w], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    let gate = c.gate(t);
    c.record(e, t);
    c.run(x, s);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.read(m, 1);
}

fn graph_records_node_event(c: &mut Case<'_>) {
    let (s, t, g, m, e) = (c.stream(1), c.stream(1), c.graph(), c.words(&[1]), c.event(2));
    let flag = c.flag();
    let held = c.node(g, &[], "gate", &[P(flag)]);
    let k = c.node(g, &[held], "mad1", &[P(m), N(3), N(1)]);
    c.add_record(g, &[k], e);
    let x = c.instantiate(g, 0);
    c.event_query(e);
    c.run(x, s);
    c.event_query(e);
    c.wait(t, e);
    let after = c.kernel("mad1", &[P(m), N(10), N(1)]);
    c.launch(&after, t);
    c.query(t);
    c.open(flag);
    c.sync(t);
    c.read(m, 1);
}

fn child_branches_overlap(c: &mut Case<'_>) {
    let (s, child, g, host) = (c.stream(1), c.graph(), c.graph(), c.pinned(8, 0));
    let flag = c.flag();
    c.node(child, &[], "gate", &[P(flag)]);
    c.node(child, &[], "add", &[P(host), N(1)]);
    c.add_child(g, &[], child);
    c.node(g, &[], "add", &[P(host + 4), N(10)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.word_comes(host, 1, s);
    c.word_comes(host + 4, 10, s);
    c.query(s);
    c.open(flag);
    c.sync(s);
}

fn host_node_in_one_branch(c: &mut Case<'_>) {
    let (s, g, host) = (c.stream(1), c.graph(), c.pinned(16, 0));
    let a = c.add_host(g, &[], HostAct::Store(host, 5));
    let b = c.node(g, &[], "add", &[P(host + 4), N(7)]);
    let join = c.node(g, &[a, b], "carry", &[P(host + 8), P(host), N(100)]);
    c.add_host(g, &[join], HostAct::Read(host + 8));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.peek(host, 3);
    c.log("host");
}

fn exec_destroyed_while_held(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let flag = c.flag();
    let held = c.node(g, &[], "gate", &[P(flag)]);
    c.node(g, &[held], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.destroy(x);
    c.destroy(g);
    c.query(s);
    c.open(flag);
    c.sync(s);
    c.read(m, 1);
}

fn launch_from_two_threads(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.on_another_thread(|c| {
        c.run(x, s);
        c.sync(s);
    });
    c.run(x, s);
    c.sync(s);
    c.read(m, 1);
}

fn blocking_stream_and_legacy(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(0), c.graph(), c.words(&[1]));
    c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    let gate = c.gate(s);
    c.run(x, s);
    let after = c.kernel("mad1", &[P(m), N(10), N(1)]);
    c.launch(&after, CUstream::NULL);
    c.query(CUstream::NULL);
    c.open(gate);
    c.sync(CUstream::NULL);
    c.read(m, 1);
}

fn upload_then_launch(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[1]));
    c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    c.upload(x, s);
    c.upload(x, s);
    c.run(x, t);
    c.upload(x, t);
    c.run(x, t);
    c.sync(s);
    c.sync(t);
    c.read(m, 1);
    let y = c.instantiate_with(g, u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD), s);
    c.run_once(y, s);
    c.read(m, 1);
}

fn launched_many_times(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    c.node(g, &[a], "mad1", &[P(m), N(5), N(2)]);
    let x = c.instantiate(g, 0);
    for _ in 0..30 {
        c.run(x, s);
    }
    c.sync(s);
    c.read(m, 1);
}

fn three_levels(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let root = c.node(g, &[], "add", &[P(m), N(1)]);
    let left = c.node(g, &[root], "carry", &[P(m + 4), P(m), N(10)]);
    let right = c.node(g, &[root], "carry", &[P(m + 8), P(m), N(20)]);
    let mut leaves = vec![];
    for (at, parent, from) in [(3, left, m + 4), (4, left, m + 4), (5, right, m + 8), (6, right, m + 8)] {
        leaves.push(c.node(g, &[parent], "carry", &[P(m + 4 * at), P(from), N(100 * at as u32)]));
    }
    let add = c.kernel("add", &[P(m), N(1000)]).shaped(1, 8);
    c.add_kernel(g, &leaves, &add);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 8);
    c.run_once(x, s);
    c.read(m, 8);
}

fn legacy_stream_launch(c: &mut Case<'_>) {
    let (t, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, CUstream::NULL);
    c.run(x, CUstream::LEGACY);
    c.run(x, CUstream::PER_THREAD);
    c.sync(CUstream::NULL);
    c.sync(CUstream::PER_THREAD);
    c.run_once(x, t);
    c.read(m, 1);
}

fn graph_between_two_streams(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[1]));
    let (e, f) = (c.event(2), c.event(2));
    c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    for _ in 0..3 {
        c.run(x, s);
        c.record(e, s);
        c.wait(t, e);
        let k = c.kernel("mad1", &[P(m), N(2), N(7)]);
        c.launch(&k, t);
        c.record(f, t);
        c.wait(s, f);
    }
    c.sync(s);
    c.read(m, 1);
}
