//! How long conditional nodes, their bodies, their handles and executables of them live, and what may be joined to what.

use super::super::case::Case;
use super::super::verbs::{Arg::*, Fill};
use super::conditions::{IF, WHILE, down};
use dacapo_driver::types::*;

super::list! { "condition_life";
    node_destroyed, handle_of_a_destroyed_node, node_destroyed_under_an_executable, inner_node_destroyed, two_executables, executable_made_again,
    two_graphs_two_executables, graph_destroyed_while_it_runs, executable_destroyed_while_it_runs, body_destroyed, edges_between_levels,
    body_as_a_child, conditional_child_in_a_body, flags_of_instantiation, handle_never_used, types_and_edges_of_bodies, queued_three_times,
    launched_on_stream_0, node_destroyed_with_edges,
}

fn node_destroyed(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (n, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    c.node(g, &[], "add", &[P(m + 4), N(100)]);
    c.destroy_node(n);
    c.shape(g);
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        c.run_once(x, s);
        c.read(m, 2);
    }
    // Whether it still counts as a graph with a conditional node.
    let clone = c.clone_graph(g);
    if !clone.is_null() {
        c.shape(clone);
    }
}

fn handle_of_a_destroyed_node(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, &[], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    c.destroy_node(n);
    let (again, bodies) = c.add_condition(g, &[], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(10)]);
    if again.is_null() {
        let i = c.condition(g, 1, 1);
        let (_, bodies) = c.add_condition(g, &[], i, IF, 1);
        c.node(bodies[0], &[], "add", &[P(m), N(100)]);
    }
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        c.run_once(x, s);
        c.read(m, 1);
    }
}

fn node_destroyed_under_an_executable(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1, 0]));
    let h = c.condition(g, 0, 1);
    let set = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (n, bodies) = c.add_condition(g, &[set], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.destroy_node(n);
    c.shape(g);
    c.run_once(x, s);
    c.read(m, 2);
    c.update(x, g);
}

fn inner_node_destroyed(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, g, &[], m);
    let h = c.condition(g, 1, 1);
    let (n, inner) = c.add_condition(body, &[k], h, IF, 1);
    c.node(inner[0], &[], "add", &[P(m + 4), N(10)]);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    c.destroy_node(n);
    c.shape(body);
    let x = c.instantiate_with(g, 0, CUstream::NULL);
    if !x.is_null() {
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn two_executables(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.instantiate_with(g, 0, CUstream::NULL);
    c.run_once(x, s);
    c.read(m, 2);
}

fn executable_made_again(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, g, &[], m);
    let node = c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.destroy(x);
    c.node(body, &[node], "add", &[P(m + 4), N(10)]);
    let x = c.instantiate(g, 0);
    c.write(m, &[2]);
    c.run_once(x, s);
    c.read(m, 2);
}

fn two_graphs_two_executables(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(1), c.stream(1), c.words(&[3, 0, 5, 0]));
    let mut executables = vec![];
    for at in [0, 8] {
        let g = c.graph();
        let (_, body, k) = down(c, g, &[], m + at);
        c.node(body, &[k], "add", &[P(m + at + 4), N(1)]);
        executables.push(c.instantiate(g, 0));
    }
    c.run(executables[0], s);
    c.run(executables[1], t);
    c.sync(s);
    c.sync(t);
    c.read(m, 4);
}

fn graph_destroyed_while_it_runs(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let flag = c.flag();
    let (n, body, k) = down(c, g, &[], m);
    let gate = c.node(body, &[k], "gate", &[P(flag)]);
    c.node(body, &[gate], "add", &[P(m + 4), N(1)]);
    c.node(g, &[n], "add", &[P(m + 4), N(100)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.query(s);
    c.destroy(g);
    c.open(flag);
    c.sync(s);
    c.read(m, 2);
}

fn executable_destroyed_while_it_runs(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let flag = c.flag();
    // No loop: two executables may share the condition for a while.
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, &[], h, IF, 1);
    let gate = c.node(bodies[0], &[], "gate", &[P(flag)]);
    c.node(bodies[0], &[gate], "add", &[P(m), N(1)]);
    c.node(g, &[n], "add", &[P(m), N(100)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.destroy(x);
    let y = c.instantiate(g, 0);
    c.open(flag);
    c.sync(s);
    c.read(m, 1);
    if !y.is_null() {
        c.run_once(y, s);
        c.read(m, 1);
    }
}

fn body_destroyed(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    c.destroy(body);
    c.shape(body);
    let x = c.instantiate(g, 0);
    c.destroy(body);
    c.run_once(x, s);
    c.read(m, 2);
}

fn edges_between_levels(c: &mut Case<'_>) {
    let (g, m) = (c.graph(), c.words(&[3, 0]));
    let outside = c.node(g, &[], "add", &[P(m + 4), N(1)]);
    let (n, body, k) = down(c, g, &[], m);
    let inside = c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    c.connect(g, &[outside], &[inside]);
    c.connect(g, &[inside], &[outside]);
    c.connect(body, &[outside], &[inside]);
    c.connect(body, &[n], &[inside]);
    c.connect(body, &[inside], &[n]);
    c.connect(g, &[k], &[inside]);
    c.disconnect(g, &[k], &[inside]);
    c.node(body, &[outside], "add", &[P(m + 4), N(1)]);
    c.node(g, &[inside], "add", &[P(m + 4), N(1)]);
    c.shape(g);
    c.shape(body);
}

fn body_as_a_child(c: &mut Case<'_>) {
    let (g, other, m) = (c.graph(), c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 2);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    c.add_child(other, &[], bodies[0]);
    c.add_child(bodies[1], &[], bodies[0]);
    c.shape(other);
    c.shape(bodies[1]);
}

fn conditional_child_in_a_body(c: &mut Case<'_>) {
    let (g, other, m) = (c.graph(), c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    let i = c.condition(other, 1, 1);
    let (_, inner) = c.add_condition(other, &[], i, IF, 1);
    c.node(inner[0], &[], "add", &[P(m), N(1)]);
    c.add_child(bodies[0], &[], other);
    c.shape(bodies[0]);
    // One that becomes conditional after it was added, and the copy does not.
    let third = c.graph();
    let node = c.add_child(bodies[0], &[], third);
    let inside = c.child_graph(node);
    let j = c.condition(inside, 1, 1);
    c.add_condition(inside, &[], j, IF, 1);
    c.shape(inside);
}

fn flags_of_instantiation(c: &mut Case<'_>) {
    for flags in [1, 2, 4, 8] {
        let (g, m) = (c.graph(), c.words(&[2, 0]));
        let (_, body, k) = down(c, g, &[], m);
        c.node(body, &[k], "add", &[P(m + 4), N(1)]);
        let s = c.stream(1);
        let x = c.instantiate_with(g, flags, s);
        if !x.is_null() {
            c.exec_flags(x);
            c.run_once(x, s);
            c.read(m, 2);
        }
    }
}

fn handle_never_used(c: &mut Case<'_>) {
    let (g, m) = (c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    let late = c.condition(g, 1, 1);
    c.instantiate_with(g, 0, CUstream::NULL);
    c.add_condition(bodies[0], &[], late, WHILE, 1);
    c.instantiate_with(g, 0, CUstream::NULL);
}

fn types_and_edges_of_bodies(c: &mut Case<'_>) {
    let (g, m) = (c.graph(), c.words(&[3, 0]));
    let (n, body, k) = down(c, g, &[], m);
    let h = c.condition(g, 1, 1);
    let (inner, inside) = c.add_condition(body, &[k], h, IF, 2);
    let (a, b) = (c.add_empty(inside[1], &[]), c.add_empty(inside[1], &[]));
    c.connect(inside[1], &[a], &[b]);
    let last = c.add_empty(body, &[inner, k]);
    for node in [n, inner, k, a, last] {
        c.node_type(node);
    }
    for graph in [g, body, inside[0], inside[1]] {
        c.shape(graph);
    }
    c.disconnect(body, &[k], &[last]);
    c.connect(inside[1], &[b], &[a]);
    c.shape(body);
    c.instantiate_with(g, 0, CUstream::NULL);
}

fn queued_three_times(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let reset = c.add_fill(g, &[], &Fill::flat(m, 3, 4, 1));
    let (_, body, k) = down(c, g, &[reset], m);
    c.node(body, &[k], "mad1", &[P(m + 4), N(2), N(1)]);
    let x = c.instantiate(g, 0);
    let between = c.kernel("add", &[P(m + 4), N(1)]);
    for _ in 0..3 {
        c.run(x, s);
        c.launch(&between, s);
    }
    c.sync(s);
    c.read(m, 2);
}

fn launched_on_stream_0(c: &mut Case<'_>) {
    let (g, m) = (c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    for stream in [CUstream::NULL, CUstream::from_bits(1), CUstream::from_bits(2)] {
        c.write(m, &[3]);
        c.run_once(x, stream);
        c.read(m, 2);
    }
}

fn node_destroyed_with_edges(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let before = c.node(g, &[], "add", &[P(m), N(1)]);
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, &[before], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(10)]);
    c.node(g, &[n], "add", &[P(m), N(100)]);
    let x = c.instantiate(g, 0);
    c.destroy_node(n);
    c.shape(g);
    c.run_once(x, s);
    c.read(m, 1);
}
