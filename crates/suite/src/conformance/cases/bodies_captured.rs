//! Bodies filled by captures, and conditional nodes added in the middle of one.

use super::super::case::{Case, HostAct};
use super::super::verbs::Arg::*;
use super::conditions::{IF, WHILE, down};
use dacapo_driver::types::*;

super::list! { "body_capture";
    fork_and_join, node_added_in_a_capture, loop_added_in_a_capture, host_function, memory_of_a_pool, pageable_copy, pinned_copies_and_sets,
    events_inside, external_record, body_of_a_body, unjoined_fork, into_the_body_twice, launch_of_an_executable,
}

/// An IF that is taken in each launch; its body.
fn taken(c: &mut Case<'_>, g: CUgraph) -> CUgraph {
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    bodies[0]
}

fn fork_and_join(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[3, 1, 0, 0]));
    let (fork, join) = (c.event(2), c.event(2));
    let (_, body, k) = down(c, g, &[], m);
    let (left, right) =
        (c.kernel("carry", &[P(m + 8), P(m + 4), N(1)]), c.kernel("carry", &[P(m + 12), P(m + 4), N(2)]));
    let after = c.kernel("carry", &[P(m + 4), P(m + 12), N(10)]);
    c.begin_to(s, body, &[k], 0);
    c.record(fork, s);
    c.wait(t, fork);
    c.launch(&left, s);
    c.launch(&right, t);
    c.record(join, t);
    c.wait(s, join);
    c.launch(&after, s);
    c.end_capture_into(s);
    c.shape(body);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}

/// Adds a conditional node where a capturing stream stands, and lets the stream go on behind it.
fn in_capture(c: &mut Case<'_>, s: CUstream, kind: u32, default: u32) -> (CUgraph, super::super::names::Condition) {
    let (graph, after) = c.capture_info(s);
    let h = c.condition(graph, default, 1);
    let (n, bodies) = c.add_condition(graph, &after, h, kind, 1);
    c.update_dependencies(s, &[n], 1);
    (bodies[0], h)
}

fn node_added_in_a_capture(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(1), c.stream(1), c.words(&[0]));
    let add = [1, 10, 100].map(|value| c.kernel("add", &[P(m), N(value)]));
    c.begin(s, 1);
    c.launch(&add[0], s);
    let (body, _) = in_capture(c, s, IF, 1);
    // The body is captured by another stream meanwhile.
    c.begin_to(t, body, &[], 1);
    c.launch(&add[1], t);
    c.end_capture_into(t);
    c.launch(&add[2], s);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn loop_added_in_a_capture(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(1), c.stream(1), c.words(&[4, 0]));
    c.begin(s, 1);
    let (body, h) = in_capture(c, s, WHILE, 1);
    let (k, add) = (c.kernel("count_down", &[C(h), P(m)]), c.kernel("add", &[P(m + 4), N(1)]));
    c.begin_to(t, body, &[], 1);
    c.launch(&k, t);
    c.launch(&add, t);
    c.end_capture_into(t);
    let g = c.end_capture(s);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

/// Captures something into a body; what becomes of the capture and of the graph.
fn captured(c: &mut Case<'_>, act: impl FnOnce(&mut Case<'_>, CUstream, u64)) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let body = taken(c, g);
    c.begin_to(s, body, &[], 0);
    act(c, s, m);
    c.status(s);
    let ended = c.end_capture_into(s);
    // A capture that failed may have taken the graph with it.
    if ended.is_null() {
        return c.gone("graph", g.bits());
    }
    c.shape(body);
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn host_function(c: &mut Case<'_>) {
    captured(c, |c, s, _| {
        c.host(s, HostAct::Note(1));
    });
    c.log("notes");
}

fn memory_of_a_pool(c: &mut Case<'_>) {
    captured(c, |c, s, _| {
        let at = c.alloc_async(64, s);
        if at != 0 {
            c.free_async(at, s);
        }
    });
}

fn pageable_copy(c: &mut Case<'_>) {
    let host = c.pageable(8);
    captured(c, |c, s, m| {
        c.h_to_d(m, host, 4, s);
    });
}

fn pinned_copies_and_sets(c: &mut Case<'_>) {
    let host = c.pinned(8, 0);
    c.poke(host, &[5, 0]);
    captured(c, |c, s, m| {
        c.h_to_d(m, host, 4, s);
        c.set32(m + 4, 7, 1, s);
        c.d_to_h(host + 4, m + 4, 4, s);
    });
    c.peek(host, 2);
}

fn events_inside(c: &mut Case<'_>) {
    let e = c.event(2);
    captured(c, |c, s, m| {
        let add = c.kernel("add", &[P(m), N(1)]);
        c.launch(&add, s);
        c.record(e, s);
        c.wait(s, e);
        c.launch(&add, s);
    });
}

fn external_record(c: &mut Case<'_>) {
    let e = c.event(2);
    captured(c, |c, s, _| {
        c.record_with(e, s, 1);
    });
}

fn body_of_a_body(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (_, outer, k) = down(c, g, &[], m);
    let h = c.condition(g, 1, 1);
    let (_, inner) = c.add_condition(outer, &[k], h, IF, 1);
    let add = c.kernel("add", &[P(m + 4), N(1)]);
    c.begin_to(s, inner[0], &[], 0);
    c.launch(&add, s);
    c.launch(&add, s);
    c.end_capture_into(s);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn unjoined_fork(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[0]));
    let (e, add) = (c.event(2), c.kernel("add", &[P(m), N(1)]));
    let body = taken(c, g);
    c.begin_to(s, body, &[], 0);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&add, t);
    c.end_capture_into(s);
    c.status(s);
    c.status(t);
    // A capture that failed may have taken the graph with it.
    c.gone("graph", g.bits());
}

fn into_the_body_twice(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[1]));
    let (a, b) = (c.kernel("mad1", &[P(m), N(2), N(1)]), c.kernel("mad1", &[P(m), N(3), N(1)]));
    let body = taken(c, g);
    c.begin_to(s, body, &[], 0);
    c.begin_to(t, body, &[], 0);
    c.launch(&a, s);
    c.end_capture_into(s);
    let nodes = c.shape(body);
    c.begin_to(t, body, &nodes, 0);
    c.launch(&b, t);
    c.end_capture_into(t);
    c.shape(body);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn launch_of_an_executable(c: &mut Case<'_>) {
    let (other, m) = (c.graph(), c.words(&[0]));
    c.node(other, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(other, 0);
    captured(c, |c, s, _| {
        c.run(x, s);
    });
}
