//! Programmatic edges: who sees what, behind kernels that signal long before they write.
//!
//! The first kernel of each case waits, signals, goes round for some hundred microseconds, and only then writes. Whoever reads
//! what it wrote reads it behind a wait, or behind a full edge: what is asked is what counts as behind.

use super::super::case::Case;
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Edge};
use dacapo_driver::types::*;

super::list! { "edges";
    behind_a_wait, switched_off_between, switched_off_twice, switched_off_and_on, a_path_implies, several_into_one, mixed_into_one,
    through_an_empty_node, full_beside_programmatic, a_copy_behind, several_behind_one, the_last_signals, a_kernel_behind_the_graph,
    a_copy_behind_the_graph, an_event_behind_the_graph, a_graph_behind_a_signal, in_a_body, behind_a_body, before_a_body,
    rounds_of_a_body, never_waits, one_thread_waits, a_child_behind, a_child_before, another_function, another_grid, added_with_edges,
    added_with_edges_refused, a_clone, an_update,
}

/// An edge behind which a kernel begins when the one before signals.
const EARLY: Edge = Edge(1, 0, 1);
const FULL: Edge = Edge(0, 0, 0);
/// Rounds of the slow kernel.
const SLOW: u32 = 20_000;

/// A graph that begins with a slow kernel, which writes 7 to `m`; results go to `m + 16`.
fn slow(c: &mut Case<'_>) -> (CUstream, CUgraph, u64, CUgraphNode) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let a = c.node(g, &[], "slow_after", &[P(m), N(7), N(SLOW)]);
    (s, g, m, a)
}

/// Launches it and reads the result.
fn told(c: &mut Case<'_>, g: CUgraph, s: CUstream, m: u64) -> CUgraphExec {
    let x = c.instantiate(g, 0);
    again(c, x, s, m);
    x
}

fn again(c: &mut Case<'_>, x: CUgraphExec, s: CUstream, m: u64) {
    c.write(m, &[0, 0, 0, 0, 0]);
    c.run_once(x, s);
    c.read(m + 16, 1);
}

fn behind_a_wait(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
    c.connect_with(g, a, b, EARLY);
    told(c, g, s, m);
}

fn switched_off_between(c: &mut Case<'_>) {
    for (into, out) in [(EARLY, EARLY), (EARLY, FULL), (FULL, EARLY)] {
        let (s, g, m, a) = slow(c);
        let b = c.node(g, &[], "pass_on", &[]);
        let d = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
        c.connect_with(g, a, b, into);
        c.connect_with(g, b, d, out);
        let x = c.instantiate(g, 0);
        c.enable(x, b, 0);
        again(c, x, s, m);
    }
}

fn switched_off_twice(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let nodes: Vec<_> = (0..3).map(|_| c.node(g, &[], "pass_on", &[])).collect();
    let d = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
    let mut last = a;
    for &node in nodes.iter().chain([&d]) {
        c.connect_with(g, last, node, EARLY);
        last = node;
    }
    let x = c.instantiate(g, 0);
    for off in [&nodes[..], &nodes[1..], &nodes[..2]] {
        for node in &nodes {
            c.enable(x, *node, u32::from(!off.contains(node)));
        }
        again(c, x, s, m);
    }
}

fn switched_off_and_on(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
    c.connect_with(g, a, b, EARLY);
    let x = c.instantiate(g, 0);
    for enabled in [0, 1, 0, 1] {
        c.enable(x, a, enabled);
        again(c, x, s, m);
    }
}

fn a_path_implies(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "pass_on", &[]);
    let d = c.node(g, &[], "pass_on", &[]);
    let e = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
    c.connect_with(g, a, b, EARLY);
    c.connect_with(g, b, d, EARLY);
    c.connect_with(g, d, e, EARLY);
    told(c, g, s, m);
}

fn several_into_one(c: &mut Case<'_>) {
    for at in 0..3 {
        let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
        let b = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
        for number in 0..3 {
            // Only one is slow, and only that writes where is read.
            let (to, rounds) = if number == at { (m, SLOW) } else { (m + 8, 1) };
            let a = c.node(g, &[], "slow_after", &[P(to), N(7), N(rounds)]);
            c.connect_with(g, a, b, EARLY);
        }
        told(c, g, s, m);
    }
}

fn mixed_into_one(c: &mut Case<'_>) {
    for (slow_edge, other_edge) in [(EARLY, FULL), (FULL, EARLY)] {
        let (s, g, m, a) = slow(c);
        let quick = c.node(g, &[], "pass_on", &[]);
        let b = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
        c.connect_with(g, a, b, slow_edge);
        c.connect_with(g, quick, b, other_edge);
        told(c, g, s, m);
    }
}

fn through_an_empty_node(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let e = c.add_empty(g, &[a]);
    let quick = c.node(g, &[], "pass_on", &[]);
    let b = c.node(g, &[e], "see_after", &[P(m + 16), P(m)]);
    c.connect_with(g, quick, b, EARLY);
    told(c, g, s, m);
}

fn full_beside_programmatic(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "pass_on", &[]);
    c.connect_with(g, a, b, EARLY);
    c.node(g, &[a], "see", &[P(m + 16), P(m)]);
    told(c, g, s, m);
}

fn a_copy_behind(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "pass_on", &[]);
    c.connect_with(g, a, b, EARLY);
    c.add_copy(g, &[a], &Copy3::flat(CopyEnd::Dev(m + 16), CopyEnd::Dev(m), 4));
    told(c, g, s, m);
}

fn several_behind_one(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    for to in [m + 16, m + 20, m + 24] {
        let b = c.node(g, &[], "see_after", &[P(to), P(m)]);
        c.connect_with(g, a, b, EARLY);
    }
    told(c, g, s, m);
    c.read(m + 16, 3);
}

/// A graph that ends with a kernel that signals early.
fn ending_with_a_signal(c: &mut Case<'_>) -> (CUstream, CUgraphExec, u64) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let first = c.node(g, &[], "pass_on", &[]);
    let a = c.node(g, &[], "slow_after", &[P(m), N(7), N(SLOW)]);
    c.connect_with(g, first, a, EARLY);
    (s, c.instantiate(g, 0), m)
}

fn the_last_signals(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let b = c.node(g, &[], "see", &[P(m + 16), P(m)]);
    let a = c.node(g, &[], "slow_after", &[P(m), N(7), N(SLOW)]);
    c.connect_with(g, b, a, EARLY);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.run(x, s);
    c.sync(s);
    c.read(m + 16, 1);
}

fn a_kernel_behind_the_graph(c: &mut Case<'_>) {
    let (s, x, m) = ending_with_a_signal(c);
    for (name, attributes) in
        [("see", &[][..]), ("see_after", &[(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1)])]
    {
        c.write(m, &[0; 5]);
        let kernel = c.kernel(name, &[P(m + 16), P(m)]);
        c.run(x, s);
        c.launch_ex(&kernel, s, attributes);
        c.sync(s);
        c.read(m + 16, 1);
    }
}

fn a_copy_behind_the_graph(c: &mut Case<'_>) {
    let (s, x, m) = ending_with_a_signal(c);
    c.run(x, s);
    c.copy(m + 16, m, 4, s);
    c.sync(s);
    c.read(m + 16, 1);
}

fn an_event_behind_the_graph(c: &mut Case<'_>) {
    let (s, x, m) = ending_with_a_signal(c);
    let (t, e) = (c.stream(1), c.event(2));
    let kernel = c.kernel("see", &[P(m + 16), P(m)]);
    c.run(x, s);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&kernel, t);
    c.sync(t);
    c.read(m + 16, 1);
}

fn a_graph_behind_a_signal(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let b = c.node(g, &[], "see", &[P(m + 16), P(m)]);
    let d = c.node(g, &[], "pass_on", &[]);
    c.connect_with(g, b, d, EARLY);
    let x = c.instantiate(g, 0);
    let kernel = c.kernel("slow_after", &[P(m), N(7), N(SLOW)]);
    c.launch(&kernel, s);
    c.run(x, s);
    c.sync(s);
    c.read(m + 16, 1);
}

fn in_a_body(c: &mut Case<'_>) {
    for kind in [CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_WHILE] {
        let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
        let h = c.condition(g, 1, 1);
        let (_, bodies) = c.add_condition(g, &[], h, kind, 1);
        let body = bodies[0];
        let a = c.node(body, &[], "slow_after", &[P(m), N(7), N(SLOW)]);
        let b = c.node(body, &[], "see_after", &[P(m + 16), P(m)]);
        c.connect_with(body, a, b, EARLY);
        if kind == CU_GRAPH_COND_TYPE_WHILE {
            c.node(body, &[b], "set_to", &[C(h), N(0)]);
        }
        told(c, g, s, m);
    }
}

fn behind_a_body(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, &[], h, CU_GRAPH_COND_TYPE_IF, 1);
    let first = c.node(bodies[0], &[], "pass_on", &[]);
    let a = c.node(bodies[0], &[], "slow_after", &[P(m), N(7), N(SLOW)]);
    c.connect_with(bodies[0], first, a, EARLY);
    c.node(g, &[n], "see", &[P(m + 16), P(m)]);
    told(c, g, s, m);
}

fn before_a_body(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "pass_on", &[]);
    c.connect_with(g, a, b, EARLY);
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[a], h, CU_GRAPH_COND_TYPE_IF, 1);
    c.node(bodies[0], &[], "see", &[P(m + 16), P(m)]);
    told(c, g, s, m);
}

fn rounds_of_a_body(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    c.write(m + 24, &[2]);
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, CU_GRAPH_COND_TYPE_WHILE, 1);
    let body = bodies[0];
    let b = c.node(body, &[], "see", &[P(m + 16), P(m)]);
    let z = c.node(body, &[b], "count_down", &[C(h), P(m + 24)]);
    let a = c.node(body, &[], "slow_after", &[P(m), N(7), N(SLOW)]);
    c.connect_with(body, z, a, EARLY);
    told(c, g, s, m);
}

fn never_waits(c: &mut Case<'_>) {
    for (name, out) in [("nothing", FULL), ("nothing", EARLY), ("see", EARLY)] {
        let (s, g, m, a) = slow(c);
        let arguments = [P(m + 24), P(m + 28)];
        let b = c.node(g, &[], name, if name == "see" { &arguments } else { &[] });
        let d = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
        c.connect_with(g, a, b, EARLY);
        c.connect_with(g, b, d, out);
        told(c, g, s, m);
    }
}

fn one_thread_waits(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let kernel = c.kernel("one_waits", &[]).shaped(3, 64);
    let b = c.add_kernel(g, &[], &kernel);
    let d = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
    c.connect_with(g, a, b, EARLY);
    c.connect_with(g, b, d, EARLY);
    told(c, g, s, m);
}

fn a_child_behind(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "pass_on", &[]);
    c.connect_with(g, a, b, EARLY);
    let child = c.graph();
    c.node(child, &[], "see", &[P(m + 16), P(m)]);
    c.add_child(g, &[a], child);
    told(c, g, s, m);
}

fn a_child_before(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let child = c.graph();
    let first = c.node(child, &[], "pass_on", &[]);
    let a = c.node(child, &[], "slow_after", &[P(m), N(7), N(SLOW)]);
    c.connect_with(child, first, a, EARLY);
    let n = c.add_child(g, &[], child);
    c.node(g, &[n], "see", &[P(m + 16), P(m)]);
    told(c, g, s, m);
}

fn another_function(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "pass_on", &[]);
    c.connect_with(g, a, b, EARLY);
    let x = c.instantiate(g, 0);
    let kernel = c.kernel("see_after", &[P(m + 16), P(m)]);
    c.exec_kernel(x, b, &kernel);
    again(c, x, s, m);
}

fn another_grid(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
    c.connect_with(g, a, b, EARLY);
    let x = c.instantiate(g, 0);
    for (grid, block) in [(4, 64), (1, 1)] {
        let kernel = c.kernel("slow_after", &[P(m), N(7), N(SLOW / 4)]).shaped(grid, block);
        c.exec_kernel(x, a, &kernel);
        again(c, x, s, m);
    }
}

fn added_with_edges(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let quick = c.node(g, &[], "pass_on", &[]);
    let kernel = c.kernel("see_after", &[P(m + 16), P(m)]);
    c.add_kernel_with(g, &[(a, EARLY), (quick, FULL)], &kernel);
    c.shape(g);
    told(c, g, s, m);
}

fn added_with_edges_refused(c: &mut Case<'_>) {
    let (_, g, m, a) = slow(c);
    let empty = c.add_empty(g, &[]);
    let kernel = c.kernel("see_after", &[P(m + 16), P(m)]);
    for after in [&[(empty, EARLY)][..], &[(a, EARLY), (a, FULL)], &[(a, Edge(0, 0, 1))], &[(a, Edge(1, 0, 0))]] {
        c.add_kernel_with(g, after, &kernel);
    }
    c.shape(g);
}

fn a_clone(c: &mut Case<'_>) {
    let (s, g, m, a) = slow(c);
    let b = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
    c.connect_with(g, a, b, EARLY);
    let clone = c.clone_graph(g);
    c.shape(clone);
    told(c, clone, s, m);
}

fn an_update(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 8]));
    let graph = |c: &mut Case<'_>, edge| {
        let g = c.graph();
        let a = c.node(g, &[], "slow_after", &[P(m), N(7), N(SLOW)]);
        let b = c.node(g, &[], "see_after", &[P(m + 16), P(m)]);
        c.connect_with(g, a, b, edge);
        g
    };
    let (early, full) = (graph(c, EARLY), graph(c, FULL));
    for (first, second) in [(early, full), (full, early), (early, early)] {
        let x = c.instantiate(first, 0);
        c.update(x, second);
        again(c, x, s, m);
    }
}
