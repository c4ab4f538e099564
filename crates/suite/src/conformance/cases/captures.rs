//! Captures: several streams, events, modes, into a graph, with dependencies set by hand; and what the graphs then do.

use super::super::case::{Case, HostAct};
use super::super::verbs::{Arg::*, Copy3, CopyEnd};
use dacapo_driver::types::*;

super::list! { "capture";
    one_stream_and_replay, two_streams_fork_and_join, three_streams_and_two_joins, nested_forks, event_used_twice, fork_of_a_fork_joins_at_root,
    sets_of_every_width, copies_of_every_kind, host_functions, event_records_leave_no_nodes, external_record_and_wait, into_a_graph,
    into_a_graph_twice, into_a_graph_after_nodes, into_a_graph_of_a_child, dependencies_replaced, dependencies_added, dependencies_to_nothing,
    dependency_of_a_fork, info_as_it_grows, info_of_a_fork, relaxed_allows_allocation, thread_local_beside_another_thread, thread_exchange_restores,
    begin_on_another_thread_end_here, graph_launch_is_refused, query_is_refused_and_ends_it, captured_twice_on_one_stream,
    cooperative_and_attributes, zero_bytes_leave_no_node, legacy_work_beside, work_on_another_stream_runs, invalid_launch_breaks_it,
    same_event_for_fork_and_join, per_thread_stream, empty_fork_joined, destroyed_event_of_a_fork, memory_operations, updated_from_a_capture,
    update_from_a_second_capture, captured_order_of_nodes, two_captures_at_once,
}

fn one_stream_and_replay(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    c.begin(s, 0);
    for (a, b) in [(3, 1), (5, 2), (7, 3)] {
        let mad = c.kernel("mad1", &[P(m), N(a), N(b)]);
        c.launch(&mad, s);
    }
    let g = c.end_capture(s);
    c.shape(g);
    c.read(m, 1);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.read(m, 1);
}

fn two_streams_fork_and_join(c: &mut Case<'_>) {
    let (s, t, m, e, f) = (c.stream(1), c.stream(1), c.words(&[1, 0, 0]), c.event(2), c.event(2));
    let top = c.kernel("mad1", &[P(m), N(3), N(1)]);
    let left = c.kernel("carry", &[P(m + 4), P(m), N(10)]);
    let right = c.kernel("carry", &[P(m + 8), P(m), N(20)]);
    let low = c.kernel("add", &[P(m), N(100)]).shaped(1, 3);
    c.begin(s, 0);
    c.launch(&top, s);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&left, s);
    c.launch(&right, t);
    c.record(f, t);
    c.wait(s, f);
    c.launch(&low, s);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    for _ in 0..2 {
        c.run_once(x, s);
        c.read(m, 3);
    }
}

fn three_streams_and_two_joins(c: &mut Case<'_>) {
    let (s, t, u, m) = (c.stream(1), c.stream(1), c.stream(0), c.words(&[1; 4]));
    let (e, f, h) = (c.event(2), c.event(2), c.event(2));
    c.kernel("mad1", &[]);
    c.begin(s, 0);
    c.record(e, s);
    c.wait(t, e);
    c.wait(u, e);
    for (at, stream) in [(0, s), (1, t), (2, u)] {
        let mad = c.kernel("mad1", &[P(m + 4 * at), N(3), N(at as u32)]);
        c.launch(&mad, stream);
    }
    c.record(f, t);
    c.record(h, u);
    c.wait(s, f);
    c.wait(s, h);
    let add = c.kernel("add", &[P(m), N(100)]).shaped(1, 4);
    c.launch(&add, s);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}

fn nested_forks(c: &mut Case<'_>) {
    let (s, t, u, m) = (c.stream(1), c.stream(1), c.stream(1), c.words(&[1; 4]));
    let (e, f, h, i) = (c.event(2), c.event(2), c.event(2), c.event(2));
    let k = c.kernel("add", &[P(m), N(1)]);
    let l = c.kernel("add", &[P(m + 4), N(2)]);
    let n = c.kernel("add", &[P(m + 8), N(3)]);
    c.begin(s, 0);
    c.launch(&k, s);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&l, t);
    c.record(f, t);
    c.wait(u, f);
    c.launch(&n, u);
    c.record(h, u);
    c.wait(t, h);
    c.launch(&l, t);
    c.record(i, t);
    c.wait(s, i);
    c.launch(&k, s);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}

fn event_used_twice(c: &mut Case<'_>) {
    let (s, t, m, e, f) = (c.stream(1), c.stream(1), c.words(&[1, 1]), c.event(2), c.event(2));
    let (a, b) = (c.kernel("add", &[P(m), N(1)]), c.kernel("add", &[P(m + 4), N(1)]));
    c.begin(s, 0);
    for _ in 0..2 {
        c.launch(&a, s);
        c.record(e, s);
        c.wait(t, e);
        c.launch(&b, t);
        c.record(f, t);
        c.wait(s, f);
    }
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn fork_of_a_fork_joins_at_root(c: &mut Case<'_>) {
    let (s, t, u, m) = (c.stream(1), c.stream(1), c.stream(1), c.words(&[1; 3]));
    let (e, f, h) = (c.event(2), c.event(2), c.event(2));
    let ks = [0, 1, 2].map(|at| c.kernel("add", &[P(m + 4 * at), N(at as u32 + 1)]));
    c.begin(s, 0);
    c.launch(&ks[0], s);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&ks[1], t);
    c.record(f, t);
    c.wait(u, f);
    c.launch(&ks[2], u);
    // The last stream's event joins both: what it waited for is behind it.
    c.record(h, u);
    c.wait(s, h);
    c.capture_info(s);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn sets_of_every_width(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 16]));
    c.begin(s, 0);
    c.set8(m, 1, 4, s);
    c.set16(m + 8, 2, 4, s);
    c.set32(m + 16, 3, 2, s);
    c.set2d8(m + 32, 8, 4, 2, 2, s);
    c.set2d16(m + 48, 8, 5, 2, 1, s);
    c.set2d32(m + 56, 4, 6, 1, 2, s);
    let g = c.end_capture(s);
    for node in c.shape(g) {
        c.fill_params(node);
    }
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 16);
}

fn copies_of_every_kind(c: &mut Case<'_>) {
    let (s, m, n, host) = (c.stream(1), c.words(&[1, 2, 3, 4]), c.words(&[0; 8]), c.pinned(32, 0));
    c.poke(host, &[9, 8, 7, 6]);
    c.begin(s, 0);
    c.d_to_d(n, m, 16, s);
    c.h_to_d(n + 16, host, 8, s);
    c.d_to_h(host + 16, n + 8, 16, s);
    c.copy(n + 24, m + 4, 4, s);
    c.copy(host + 8, m, 4, s);
    c.copy_2d(&Copy3::rows(CopyEnd::Dev(n), 8, CopyEnd::Dev(m), 8, 4, 2), s);
    c.copy_3d(&Copy3::rows(CopyEnd::Dev(n + 28), 4, CopyEnd::Dev(m + 12), 4, 4, 1), s);
    let g = c.end_capture(s);
    for node in c.shape(g) {
        c.copy_params(node);
    }
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(n, 8);
    c.peek(host, 8);
}

fn host_functions(c: &mut Case<'_>) {
    let (s, host) = (c.stream(1), c.pinned(8, 0));
    c.begin(s, 0);
    c.host(s, HostAct::Store(host, 20));
    let add = c.kernel("add", &[P(host), N(1)]);
    c.launch(&add, s);
    c.host(s, HostAct::Read(host));
    let g = c.end_capture(s);
    c.shape(g);
    c.log("before");
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.log("after");
}

fn event_records_leave_no_nodes(c: &mut Case<'_>) {
    let (s, m, e, f) = (c.stream(1), c.words(&[1]), c.event(0), c.event(0));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.begin(s, 0);
    c.record(e, s);
    c.launch(&add, s);
    c.record(f, s);
    c.record_with(e, s, 0);
    let g = c.end_capture(s);
    c.shape(g);
    c.elapsed(e, f);
    c.event_query(e);
    c.record(e, s);
    c.event_sync(e);
    c.event_query(e);
}

fn external_record_and_wait(c: &mut Case<'_>) {
    let (s, t, m, e, f) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(0), c.event(0));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.begin(s, 0);
    c.record_with(e, s, CU_EVENT_RECORD_EXTERNAL);
    c.wait_with(s, f, CU_EVENT_WAIT_EXTERNAL);
    c.launch(&add, s);
    let g = c.end_capture(s);
    let nodes = c.shape(g);
    c.record_node_event(nodes[0]);
    c.wait_node_event(nodes[1]);
    let x = c.instantiate(g, 0);
    let gate = c.gate(t);
    c.record(f, t);
    c.run(x, s);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.event_query(e);
    c.read(m, 1);
}

fn into_a_graph(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1]), c.graph());
    let add = c.kernel("mad1", &[P(m), N(3), N(1)]);
    c.begin_to(s, g, &[], 0);
    c.launch(&add, s);
    c.launch(&add, s);
    c.capture_info(s);
    let same = c.end_capture_into(s);
    c.say(format!("the same graph: {}", same == g));
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn into_a_graph_twice(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1]), c.graph());
    let (a, b) = (c.kernel("mad1", &[P(m), N(3), N(1)]), c.kernel("mad1", &[P(m), N(5), N(2)]));
    c.begin_to(s, g, &[], 0);
    c.launch(&a, s);
    c.end_capture_into(s);
    let nodes = c.shape(g);
    c.begin_to(s, g, &nodes, 0);
    c.launch(&b, s);
    c.end_capture_into(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn into_a_graph_after_nodes(c: &mut Case<'_>) {
    let (s, t, m, g) = (c.stream(1), c.stream(1), c.words(&[1, 1]), c.graph());
    let (e, f) = (c.event(2), c.event(2));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let b = c.node(g, &[], "mad1", &[P(m + 4), N(5), N(1)]);
    let (k, l) = (c.kernel("add", &[P(m), N(10)]), c.kernel("add", &[P(m + 4), N(20)]));
    c.begin_to(s, g, &[a, b], 0);
    c.capture_info(s);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&k, s);
    c.launch(&l, t);
    c.record(f, t);
    c.wait(s, f);
    c.end_capture_into(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn into_a_graph_of_a_child(c: &mut Case<'_>) {
    let (s, m, child, g) = (c.stream(1), c.words(&[1]), c.graph(), c.graph());
    c.node(child, &[], "mad1", &[P(m), N(3), N(1)]);
    let node = c.add_child(g, &[], child);
    let inside = c.child_graph(node);
    let nodes = c.shape(inside);
    let add = c.kernel("add", &[P(m), N(10)]);
    c.begin_to(s, inside, &nodes, 0);
    c.launch(&add, s);
    c.end_capture_into(s);
    c.shape(inside);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn dependencies_replaced(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let add = c.kernel("count", &[P(m), N(1)]);
    c.begin(s, 0);
    c.launch(&add, s);
    let (g, first) = c.capture_info(s);
    c.launch(&add, s);
    c.update_dependencies(s, &first, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    c.launch(&add, s);
    c.capture_info(s);
    c.shape(g);
    let g = c.end_capture(s);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn dependencies_added(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1, 1]));
    let add = c.kernel("count", &[P(m), N(1)]);
    c.begin(s, 0);
    c.launch(&add, s);
    let (g, _) = c.capture_info(s);
    let by_hand = c.node(g, &[], "count", &[P(m + 4), N(5)]);
    c.update_dependencies(s, &[by_hand], CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    c.update_dependencies(s, &[by_hand], CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    c.capture_info(s);
    c.launch(&add, s);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn dependencies_to_nothing(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let add = c.kernel("count", &[P(m), N(1)]);
    c.begin(s, 0);
    c.launch(&add, s);
    c.update_dependencies(s, &[], CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    c.launch(&add, s);
    c.update_dependencies(s, &[], CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    c.capture_info(s);
    let g = c.end_capture(s);
    c.shape(g);
}

fn dependency_of_a_fork(c: &mut Case<'_>) {
    let (s, t, m, e) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(2));
    let add = c.kernel("count", &[P(m), N(1)]);
    c.begin(s, 0);
    c.launch(&add, s);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&add, t);
    let (_, of_fork) = c.capture_info(t);
    // No event joins the fork; the dependency set by hand does.
    c.update_dependencies(s, &of_fork, CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    c.launch(&add, s);
    let g = c.end_capture(s);
    c.shape(g);
}

fn info_as_it_grows(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.capture_info(s);
    c.begin(s, 1);
    c.capture_info(s);
    c.launch(&add, s);
    c.capture_info(s);
    c.set32(m, 1, 1, s);
    c.capture_info(s);
    c.end_capture(s);
    c.capture_info(s);
}

fn info_of_a_fork(c: &mut Case<'_>) {
    let (s, t, m, e, f) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(2), c.event(2));
    let add = c.kernel("count", &[P(m), N(1)]);
    c.begin(s, 0);
    c.status(t);
    c.launch(&add, s);
    c.record(e, s);
    c.wait(t, e);
    c.status(t);
    c.capture_info(t);
    c.launch(&add, t);
    c.record(f, t);
    c.wait(s, f);
    c.capture_info(s);
    c.status(t);
    c.end_capture(s);
    c.status(t);
    c.status(s);
}

fn relaxed_allows_allocation(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(1), c.stream(1), c.words(&[1]));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    c.launch(&add, s);
    let n = c.alloc(64);
    c.sync(t);
    c.free(n);
    c.pinned(64, 0);
    c.launch(&add, s);
    let g = c.end_capture(s);
    c.shape(g);
}

fn thread_local_beside_another_thread(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.begin(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    c.launch(&add, s);
    c.on_another_thread(|c| {
        let n = c.alloc(64);
        c.free(n);
        c.launch(&add, s);
    });
    c.status(s);
    let g = c.end_capture(s);
    c.shape(g);
}

fn thread_exchange_restores(c: &mut Case<'_>) {
    let s = c.stream(1);
    c.begin(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    let old = c.exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    let n = c.alloc(64);
    c.free(n);
    c.exchange_mode(old);
    c.status(s);
    c.end_capture(s);
    c.exchange_mode(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    c.exchange_mode(CU_STREAM_CAPTURE_MODE_GLOBAL);
}

fn begin_on_another_thread_end_here(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let add = c.kernel("add", &[P(m), N(1)]);
    for mode in [CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL] {
        c.on_another_thread(|c| {
            c.begin(s, mode);
            c.launch(&add, s);
        });
        c.launch(&add, s);
        let g = c.end_capture(s);
        if !g.is_null() {
            c.shape(g);
        }
        c.status(s);
    }
}

fn graph_launch_is_refused(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[1]));
    c.node(g, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    c.run(x, t);
    c.status(s);
    c.run(x, s);
    c.status(s);
    c.end_capture(s);
    c.sync(t);
    c.run_once(x, s);
    c.read(m, 1);
}

fn query_is_refused_and_ends_it(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    c.launch(&add, s);
    c.query(s);
    c.launch(&add, s);
    c.capture_info(s);
    c.end_capture(s);
    c.launch(&add, s);
    c.sync(s);
    c.read(m, 1);
}

fn captured_twice_on_one_stream(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let (a, b) = (c.kernel("mad1", &[P(m), N(3), N(1)]), c.kernel("mad1", &[P(m), N(5), N(2)]));
    c.begin(s, 0);
    c.launch(&a, s);
    let g = c.end_capture(s);
    c.begin(s, 0);
    c.launch(&b, s);
    let h = c.end_capture(s);
    let (x, y) = (c.instantiate(g, 0), c.instantiate(h, 0));
    c.run(x, s);
    c.run(y, s);
    c.run(x, s);
    c.sync(s);
    c.read(m, 1);
}

fn cooperative_and_attributes(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1; 64]));
    let add = c.kernel("add", &[P(m), N(1)]).shaped(2, 32);
    c.begin(s, 0);
    c.launch_cooperative(&add, s);
    c.launch_ex(&add, s, &[(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1)]);
    c.launch_ex(&add, s, &[(CU_LAUNCH_ATTRIBUTE_PRIORITY, u64::from(-1i32 as u32))]);
    let g = c.end_capture(s);
    for node in c.shape(g) {
        c.node_attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
        c.node_attribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    }
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 64);
}

fn zero_bytes_leave_no_node(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    c.begin(s, 0);
    c.d_to_d(m, m, 0, s);
    c.set32(m, 1, 0, s);
    c.set2d32(m, 4, 1, 1, 0, s);
    c.copy_2d(&Copy3::rows(CopyEnd::Dev(m), 4, CopyEnd::Dev(m), 4, 0, 1), s);
    let g = c.end_capture(s);
    c.shape(g);
}

fn legacy_work_beside(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1, 1]));
    let (a, b) = (c.kernel("add", &[P(m), N(1)]), c.kernel("add", &[P(m + 4), N(1)]));
    c.begin(s, 0);
    c.launch(&a, s);
    c.launch(&b, CUstream::NULL);
    c.status(s);
    let g = c.end_capture(s);
    c.shape(g);
    c.sync(CUstream::NULL);
    c.read(m, 2);
}

fn work_on_another_stream_runs(c: &mut Case<'_>) {
    let (s, t, m, e) = (c.stream(1), c.stream(1), c.words(&[1, 1]), c.event(2));
    let (a, b) = (c.kernel("add", &[P(m), N(1)]), c.kernel("add", &[P(m + 4), N(1)]));
    c.begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    c.launch(&a, s);
    c.launch(&b, t);
    c.record(e, t);
    c.sync(t);
    c.event_query(e);
    c.status(s);
    c.end_capture(s);
    c.read(m, 2);
}

fn invalid_launch_breaks_it(c: &mut Case<'_>) {
    let (s, t, m, e) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(2));
    let good = c.kernel("add", &[P(m), N(1)]);
    let bad = good.clone().shaped(0, 1);
    c.begin(s, 0);
    c.launch(&good, s);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&bad, t);
    c.status(s);
    c.status(t);
    c.launch(&good, t);
    c.end_capture(s);
    c.status(s);
    c.status(t);
}

fn same_event_for_fork_and_join(c: &mut Case<'_>) {
    let (s, t, m, e) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(2));
    let add = c.kernel("count", &[P(m), N(1)]);
    c.begin(s, 0);
    c.launch(&add, s);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&add, t);
    c.record(e, t);
    c.wait(s, e);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn per_thread_stream(c: &mut Case<'_>) {
    let m = c.words(&[1]);
    let add = c.kernel("add", &[P(m), N(1)]);
    c.begin(CUstream::PER_THREAD, 0);
    c.launch(&add, CUstream::PER_THREAD);
    c.status(CUstream::PER_THREAD);
    c.on_another_thread(|c| {
        c.status(CUstream::PER_THREAD);
    });
    let g = c.end_capture(CUstream::PER_THREAD);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run(x, CUstream::PER_THREAD);
    c.sync(CUstream::PER_THREAD);
    c.read(m, 1);
}

fn empty_fork_joined(c: &mut Case<'_>) {
    let (s, t, m, e, f) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(2), c.event(2));
    let add = c.kernel("count", &[P(m), N(1)]);
    c.begin(s, 0);
    c.launch(&add, s);
    c.record(e, s);
    c.wait(t, e);
    c.record(f, t);
    c.launch(&add, s);
    c.wait(s, f);
    c.launch(&add, s);
    let g = c.end_capture(s);
    c.shape(g);
}

fn destroyed_event_of_a_fork(c: &mut Case<'_>) {
    let (s, t, m, e, f) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(2), c.event(2));
    let add = c.kernel("count", &[P(m), N(1)]);
    c.begin(s, 0);
    c.launch(&add, s);
    c.record(e, s);
    c.wait(t, e);
    c.destroy(e);
    c.launch(&add, t);
    c.record(f, t);
    c.wait(s, f);
    c.destroy(f);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn memory_operations(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0, 0]));
    c.begin(s, 0);
    c.write32(s, m, 5, 0);
    c.wait32(s, m, 5, 0);
    c.write32(s, m + 4, 6, 0);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn updated_from_a_capture(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    c.kernel("add", &[]);
    let mut graphs = vec![];
    for value in [1, 10] {
        let add = c.kernel("add", &[P(m), N(value)]);
        c.begin(s, 0);
        c.launch(&add, s);
        graphs.push(c.end_capture(s));
    }
    let x = c.instantiate(graphs[0], 0);
    c.run_once(x, s);
    c.update(x, graphs[1]);
    c.run_once(x, s);
    c.read(m, 1);
}

fn update_from_a_second_capture(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(1), c.stream(1), c.words(&[1, 1]));
    let (e, f) = (c.event(2), c.event(2));
    c.kernel("add", &[]);
    let mut graphs = vec![];
    for round in 0..3u32 {
        let (a, b) = (c.kernel("add", &[P(m), N(round + 1)]), c.kernel("add", &[P(m + 4), N(10 * round)]));
        c.begin(s, 0);
        c.launch(&a, s);
        c.record(e, s);
        c.wait(t, e);
        c.launch(&b, t);
        if round == 2 {
            c.launch(&b, t);
        }
        c.record(f, t);
        c.wait(s, f);
        graphs.push(c.end_capture(s));
    }
    let x = c.instantiate(graphs[0], 0);
    for graph in graphs {
        c.update(x, graph);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn captured_order_of_nodes(c: &mut Case<'_>) {
    let (s, t, m, e, f) = (c.stream(1), c.stream(1), c.words(&[1, 1]), c.event(2), c.event(2));
    let (a, b) = (c.kernel("add", &[P(m), N(1)]), c.kernel("add", &[P(m + 4), N(1)]));
    c.begin(s, 0);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&b, t);
    c.launch(&a, s);
    c.launch(&b, t);
    c.launch(&a, s);
    c.record(f, t);
    c.wait(s, f);
    c.set32(m, 0, 2, s);
    let g = c.end_capture(s);
    c.shape(g);
}

fn two_captures_at_once(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(1), c.stream(1), c.words(&[1, 1]));
    let (a, b) = (c.kernel("add", &[P(m), N(1)]), c.kernel("add", &[P(m + 4), N(2)]));
    c.begin(s, 0);
    c.begin(t, 1);
    c.launch(&a, s);
    c.launch(&b, t);
    let g = c.end_capture(s);
    c.status(t);
    let h = c.end_capture(t);
    c.shape(g);
    c.shape(h);
    let (x, y) = (c.instantiate(g, 0), c.instantiate(h, 0));
    c.run(x, s);
    c.run(y, s);
    c.sync(s);
    c.read(m, 2);
}
