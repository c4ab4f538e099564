//! What a body may hold: every kind of conditional node in every other, depth, emptiness, every kind of node, and which
//! call refuses the kinds that may not stand there.

use super::super::case::{Case, HostAct};
use super::super::names::Condition;
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Edge, Fill, MemOp};
use super::conditions::{IF, SWITCH, WHILE, down};
use dacapo_driver::types::*;

super::list! { "body";
    kinds_in_an_if, kinds_in_a_while, kinds_in_a_switch, eight_ifs_deep, sixteen_ifs_deep, sixteen_of_all_kinds_deep, empty_bodies,
    empty_loop_set_to_0_before, empty_body_in_a_loop, kernel_fill_and_copies, pinned_both_ways, child_and_empty, bodies_beside_each_other,
    host_function, event_nodes, memory_nodes, pageable_copies, batch_of_values, host_function_two_levels_down, host_function_in_a_child,
    refused_node_taken_away, memory_of_the_graph_around_a_loop, programmatic_edge, wide_body, handle_made_for_the_body,
    handle_of_another_body,
}

/// A conditional node of this kind whose only or last body runs once in each launch, if `h` begins at `one`.
fn once(c: &mut Case<'_>, g: CUgraph, after: &[CUgraphNode], kind: u32, h: Condition) -> (CUgraphNode, CUgraph) {
    let (n, bodies) = c.add_condition(g, after, h, kind, if kind == SWITCH { 2 } else { 1 });
    let body = bodies[bodies.len() - 1];
    if kind == WHILE {
        c.node(body, &[], "set_to", &[C(h), N(0)]);
    }
    (n, body)
}

fn kinds_in(c: &mut Case<'_>, outer: u32) {
    for inner in [IF, WHILE, SWITCH] {
        let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
        let (h, i) = (c.condition(g, 1, 1), c.condition(g, 1, 1));
        let (n, one) = once(c, g, &[], outer, h);
        let (o, two) = once(c, one, &[], inner, i);
        c.node(two, &[], "add", &[P(m), N(1)]);
        c.node(one, &[o], "carry", &[P(m + 4), P(m), N(10)]);
        c.node(g, &[n], "mad1", &[P(m + 4), N(2), N(100)]);
        let x = c.instantiate(g, 0);
        c.run_once(x, s);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn kinds_in_an_if(c: &mut Case<'_>) {
    kinds_in(c, IF);
}

fn kinds_in_a_while(c: &mut Case<'_>) {
    kinds_in(c, WHILE);
}

fn kinds_in_a_switch(c: &mut Case<'_>) {
    kinds_in(c, SWITCH);
}

/// Bodies in bodies, each with a kernel before and one behind the next.
fn deep(c: &mut Case<'_>, kinds: &[u32]) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1, 0]));
    let mut at = g;
    for (level, kind) in kinds.iter().enumerate() {
        let h = c.condition(g, 1, 1);
        let k = c.node(at, &[], "mad1", &[P(m), N(3), N(level as u32)]);
        let (n, body) = once(c, at, &[k], *kind, h);
        c.node(at, &[n], "add", &[P(m + 4), N(1)]);
        at = body;
    }
    c.node(at, &[], "add", &[P(m + 4), N(1000)]);
    let x = c.instantiate(g, 0);
    for _ in 0..2 {
        c.write(m, &[1, 0]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn eight_ifs_deep(c: &mut Case<'_>) {
    deep(c, &[IF; 8]);
}

fn sixteen_ifs_deep(c: &mut Case<'_>) {
    deep(c, &[IF; 16]);
}

fn sixteen_of_all_kinds_deep(c: &mut Case<'_>) {
    let kinds: Vec<u32> = [WHILE, SWITCH, IF, SWITCH].into_iter().cycle().take(16).collect();
    deep(c, &kinds);
}

fn empty_bodies(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let mut last = vec![];
    for (kind, size, value) in [(IF, 1, 1), (IF, 2, 0), (IF, 2, 1), (SWITCH, 3, 1), (WHILE, 1, 0)] {
        let h = c.condition(g, value, 1);
        let (n, _) = c.add_condition(g, &last, h, kind, size);
        last = vec![n];
    }
    c.node(g, &last, "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.read(m, 1);
}

fn empty_loop_set_to_0_before(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let set = c.node(g, &[], "set_to", &[C(h), N(0)]);
    let (n, _) = c.add_condition(g, &[set], h, WHILE, 1);
    c.node(g, &[n], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.read(m, 1);
}

fn empty_body_in_a_loop(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[4, 0]));
    let (_, body, k) = down(c, g, &[], m);
    let h = c.condition(g, 1, 1);
    let (n, _) = c.add_condition(body, &[k], h, IF, 1);
    c.node(body, &[n], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn kernel_fill_and_copies(c: &mut Case<'_>) {
    let (s, g, m, rows) = (c.stream(1), c.graph(), c.words(&[2, 5, 0, 0]), c.words(&[0; 16]));
    let (_, body, k) = down(c, g, &[], m);
    let a = c.add_fill(body, &[k], &Fill { target: rows, value: 3, element: 4, width: 2, rows: 2, pitch: 16 });
    let b = c.add_copy(body, &[a], &Copy3::flat(CopyEnd::Dev(m + 8), CopyEnd::Dev(m + 4), 8));
    let d = c.add_copy(body, &[b], &Copy3::rows(CopyEnd::Dev(rows + 32), 16, CopyEnd::Dev(rows), 16, 8, 2));
    let e = c.node(body, &[d], "add", &[P(m + 4), N(1)]);
    c.add_fill(body, &[e], &Fill::flat(rows + 12, 7, 1, 2));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
    c.read(rows, 16);
}

fn pinned_both_ways(c: &mut Case<'_>) {
    let (s, g, m, host) = (c.stream(1), c.graph(), c.words(&[3, 0]), c.pinned(16, 0));
    c.poke(host, &[7, 0, 0, 0]);
    let (_, body, k) = down(c, g, &[], m);
    let a = c.add_copy(body, &[k], &Copy3::flat(CopyEnd::Dev(m + 4), CopyEnd::Host(host), 4));
    let b = c.node(body, &[a], "add", &[P(m + 4), N(1)]);
    let d = c.add_copy(body, &[b], &Copy3::flat(CopyEnd::Host(host), CopyEnd::Dev(m + 4), 4));
    c.add_copy(body, &[d], &Copy3::flat(CopyEnd::Any(host + 8), CopyEnd::Any(m + 4), 4));
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        c.run_once(x, s);
    }
    c.read(m, 2);
    c.peek(host, 4);
}

fn child_and_empty(c: &mut Case<'_>) {
    let (s, g, child, inner, m) = (c.stream(1), c.graph(), c.graph(), c.graph(), c.words(&[3, 1]));
    c.node(inner, &[], "mad1", &[P(m + 4), N(2), N(1)]);
    c.add_child(child, &[], inner);
    let (_, body, k) = down(c, g, &[], m);
    let a = c.add_empty(body, &[k]);
    let b = c.add_child(body, &[a], child);
    let d = c.add_empty(body, &[b]);
    c.node(body, &[d], "mad1", &[P(m + 4), N(3), N(1)]);
    c.shape(body);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn bodies_beside_each_other(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[4, 3, 0, 0, 0]));
    let (one, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 8), N(1)]);
    let (two, body, k) = down(c, g, &[], m + 4);
    c.node(body, &[k], "add", &[P(m + 12), N(1)]);
    let a = c.node(g, &[one, two], "carry", &[P(m + 16), P(m + 8), N(10)]);
    c.node(g, &[a], "mad1", &[P(m + 16), N(2), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 5);
}

/// An IF whose body gets something that may be refused; what then becomes of the graph.
fn holds(c: &mut Case<'_>, fill: impl FnOnce(&mut Case<'_>, CUgraph, u64)) {
    let (g, m) = (c.graph(), c.words(&[0, 0]));
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    fill(c, bodies[0], m);
    c.shape(bodies[0]);
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        c.run_once(x, CUstream::NULL);
        c.read(m, 2);
    }
}

fn host_function(c: &mut Case<'_>) {
    holds(c, |c, body, m| {
        let a = c.node(body, &[], "add", &[P(m), N(1)]);
        c.add_host(body, &[a], HostAct::Note(1));
    });
}

fn event_nodes(c: &mut Case<'_>) {
    let e = c.event(0);
    holds(c, |c, body, _| {
        c.add_record(body, &[], e);
    });
    holds(c, |c, body, _| {
        c.add_wait(body, &[], e);
    });
}

fn memory_nodes(c: &mut Case<'_>) {
    holds(c, |c, body, _| {
        let (a, at) = c.add_alloc(body, &[], 64);
        c.add_free(body, &[a], at);
    });
    holds(c, |c, body, m| {
        c.add_free(body, &[], m);
    });
}

fn pageable_copies(c: &mut Case<'_>) {
    let host = c.pageable(64);
    holds(c, |c, body, m| {
        c.add_copy(body, &[], &Copy3::flat(CopyEnd::Dev(m), CopyEnd::Host(host), 4));
    });
    holds(c, |c, body, m| {
        c.add_copy(body, &[], &Copy3::flat(CopyEnd::Host(host), CopyEnd::Dev(m), 4));
    });
    holds(c, |c, body, m| {
        c.add_copy(body, &[], &Copy3::flat(CopyEnd::Any(m), CopyEnd::Any(host), 4));
    });
}

fn batch_of_values(c: &mut Case<'_>) {
    holds(c, |c, body, m| {
        c.add_batch(body, &[], &[MemOp::Write32(m, 5)]);
    });
}

fn host_function_two_levels_down(c: &mut Case<'_>) {
    let g = c.graph();
    let (h, i) = (c.condition(g, 1, 1), c.condition(g, 0, 1));
    let (_, outer) = c.add_condition(g, &[], h, IF, 2);
    let (_, inner) = c.add_condition(outer[1], &[], i, SWITCH, 2);
    c.add_host(inner[1], &[], HostAct::Note(1));
    c.instantiate_with(g, 0, CUstream::NULL);
    c.instantiate(g, 0);
}

fn host_function_in_a_child(c: &mut Case<'_>) {
    let child = c.graph();
    c.add_host(child, &[], HostAct::Note(1));
    holds(c, |c, body, _| {
        c.add_child(body, &[], child);
    });
}

fn refused_node_taken_away(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    let a = c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    let host = c.add_host(bodies[0], &[a], HostAct::Note(1));
    c.instantiate(g, 0);
    c.destroy_node(host);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn memory_of_the_graph_around_a_loop(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (a, at) = c.add_alloc(g, &[], 64);
    let zero = c.add_fill(g, &[a], &Fill::flat(at, 0, 4, 1));
    let (n, body, k) = down(c, g, &[zero], m);
    c.node(body, &[k], "add", &[P(at), N(5)]);
    let out = c.add_copy(g, &[n], &Copy3::flat(CopyEnd::Dev(m + 4), CopyEnd::Dev(at), 4));
    c.add_free(g, &[out], at);
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        for _ in 0..2 {
            c.write(m, &[3]);
            c.run_once(x, s);
            c.read(m, 2);
        }
    }
}

fn programmatic_edge(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 1]));
    let (_, body, k) = down(c, g, &[], m);
    let a = c.node(body, &[k], "mad_after", &[P(m + 4), N(2), N(1)]);
    let b = c.node(body, &[], "mad_after", &[P(m + 4), N(3), N(1)]);
    c.connect_with(body, a, b, Edge(1, 0, 1));
    c.shape(body);
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn wide_body(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 40]));
    c.write(m, &[3]);
    let (_, body, k) = down(c, g, &[], m);
    let mut ends = vec![];
    for at in 1..=32 {
        ends.push(c.node(body, &[k], "add", &[P(m + 4 * at), N(at as u32)]));
    }
    let wide = c.kernel("add", &[P(m + 4), N(1)]).shaped(1, 32);
    c.add_kernel(body, &ends, &wide);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 40);
}

fn handle_made_for_the_body(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    let i = c.condition(bodies[0], 1, 1);
    let (_, inner) = c.add_condition(bodies[0], &[], i, IF, 1);
    c.node(inner[0], &[], "add", &[P(m), N(1)]);
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        c.run_once(x, s);
        c.run_once(x, s);
        c.read(m, 1);
    }
}

fn handle_of_another_body(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, &[], h, IF, 2);
    let (i, j) = (c.condition(bodies[0], 1, 1), c.condition(bodies[1], 1, 1));
    let (_, outside) = c.add_condition(g, &[n], i, IF, 1);
    c.node(outside[0], &[], "add", &[P(m), N(1)]);
    let (_, beside) = c.add_condition(bodies[0], &[], j, IF, 1);
    c.node(beside[0], &[], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        c.run_once(x, s);
        c.read(m, 2);
    }
}
