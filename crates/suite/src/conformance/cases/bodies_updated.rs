//! `cuGraphExecUpdate` of executables with conditional nodes: what a difference in a body comes to, and which node is named.
//!
//! A loop is launched after an update only where its handle is the one that its executable was made with; where another
//! graph's handle comes in, all conditional nodes are IFs.

use super::super::case::{Case, HostAct};
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Fill};
use super::conditions::{IF, SWITCH, down};
use dacapo_driver::types::*;

super::list! { "body_update";
    from_its_own_changed_graph, of_a_loop_from_its_own_graph, more_nodes_in_a_body, node_taken_from_a_body, another_kind_of_node, another_edge,
    two_levels_down, copies_and_fills, another_function, switched_off_before, switched_off_and_changed, another_default,
    kernel_of_the_other_graph_sets, refused_node_in_the_other, kernel_in_place_of_the_node, unused_handle_in_the_other, two_nodes_swapped,
    set_in_the_executable_before,
}

/// A graph with an IF of one body by this default, and that body.
fn one_if(c: &mut Case<'_>, default: u32) -> (CUgraph, CUgraph) {
    let g = c.graph();
    let h = c.condition(g, default, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    (g, bodies[0])
}

fn from_its_own_changed_graph(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0, 0]));
    let (g, body) = one_if(c, 1);
    let node = c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    let other = c.kernel("add", &[P(m + 4), N(50)]);
    c.node_kernel(node, &other);
    c.run_once(x, s);
    c.read(m, 2);
    c.update(x, g);
    c.run_once(x, s);
    c.read(m, 2);
}

fn of_a_loop_from_its_own_graph(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, g, &[], m);
    let node = c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    let other = c.kernel("add", &[P(m + 4), N(10)]);
    c.node_kernel(node, &other);
    c.update(x, g);
    c.run_once(x, s);
    c.read(m, 2);
}

fn more_nodes_in_a_body(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let (g, body) = one_if(c, 1);
    let node = c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.node(body, &[node], "add", &[P(m), N(10)]);
    c.update(x, g);
    c.run_once(x, s);
    c.read(m, 1);
    let (other, _) = one_if(c, 1);
    c.update(x, other);
    c.run_once(x, s);
    c.read(m, 1);
}

fn node_taken_from_a_body(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let (g, body) = one_if(c, 1);
    let node = c.node(body, &[], "add", &[P(m), N(1)]);
    let second = c.node(body, &[node], "add", &[P(m), N(10)]);
    let x = c.instantiate(g, 0);
    c.destroy_node(second);
    c.update(x, g);
    c.run_once(x, s);
    c.read(m, 1);
}

fn another_kind_of_node(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let (g, body) = one_if(c, 1);
    let a = c.node(body, &[], "add", &[P(m), N(1)]);
    c.node(body, &[a], "add", &[P(m), N(10)]);
    let x = c.instantiate(g, 0);
    let (other, body) = one_if(c, 1);
    let a = c.node(body, &[], "add", &[P(m), N(100)]);
    c.add_fill(body, &[a], &Fill::flat(m, 7, 4, 1));
    c.update(x, other);
    c.run_once(x, s);
    c.read(m, 1);
}

fn another_edge(c: &mut Case<'_>) {
    let (m, mut graphs) = (c.words(&[0, 0]), vec![]);
    for chain in [false, true] {
        let (g, body) = one_if(c, 1);
        let a = c.node(body, &[], "add", &[P(m), N(1)]);
        let b = c.node(body, &[], "add", &[P(m + 4), N(1)]);
        if chain {
            c.connect(body, &[a], &[b]);
        }
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    c.update(x, graphs[1]);
    let x = c.instantiate(graphs[1], 0);
    c.update(x, graphs[0]);
}

fn two_levels_down(c: &mut Case<'_>) {
    let (s, m, mut graphs) = (c.stream(1), c.words(&[0]), vec![]);
    for (kind, value) in [("kernel", 1), ("kernel", 10), ("fill", 9)] {
        let g = c.graph();
        let (h, i) = (c.condition(g, 1, 1), c.condition(g, 1, 1));
        let (_, outer) = c.add_condition(g, &[], h, IF, 1);
        let (_, inner) = c.add_condition(outer[0], &[], i, SWITCH, 2);
        match kind {
            "kernel" => c.node(inner[1], &[], "add", &[P(m), N(value)]),
            _ => c.add_fill(inner[1], &[], &Fill::flat(m, value, 4, 1)),
        };
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    for graph in graphs {
        c.update(x, graph);
        c.run_once(x, s);
        c.read(m, 1);
    }
}

fn copies_and_fills(c: &mut Case<'_>) {
    let (s, m, host, mut graphs) = (c.stream(1), c.words(&[1, 2, 0, 0, 0]), c.pinned(8, 0), vec![]);
    c.poke(host, &[0, 0]);
    for (value, at) in [(3, 0), (4, 4)] {
        let (g, body) = one_if(c, 1);
        let a = c.add_fill(body, &[], &Fill::flat(m + 8, value, 4, 1 + at as usize / 4));
        let b = c.add_copy(body, &[a], &Copy3::flat(CopyEnd::Dev(m + 16), CopyEnd::Dev(m + at), 4));
        c.add_copy(body, &[b], &Copy3::flat(CopyEnd::Host(host + at), CopyEnd::Dev(m + 8), 4));
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    for graph in graphs {
        c.update(x, graph);
        c.run_once(x, s);
        c.read(m, 5);
        c.peek(host, 2);
    }
}

fn another_function(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[2, 0]));
    let (g, body) = one_if(c, 1);
    c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let (other, body) = one_if(c, 1);
    c.node(body, &[], "carry", &[P(m + 4), P(m), N(10)]);
    c.update(x, other);
    c.run_once(x, s);
    c.read(m, 2);
}

fn switched_off_before(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0, 0]));
    let (g, body) = one_if(c, 1);
    let off = c.node(body, &[], "add", &[P(m), N(1)]);
    let on = c.node(body, &[off], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.enable(x, off, 0);
    let other = c.kernel("add", &[P(m + 4), N(10)]);
    c.node_kernel(on, &other);
    c.update(x, g);
    c.is_enabled(x, off);
    c.run_once(x, s);
    c.read(m, 2);
    c.enable(x, off, 1);
    c.run_once(x, s);
    c.read(m, 2);
}

fn switched_off_and_changed(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let (g, body) = one_if(c, 1);
    let node = c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.enable(x, node, 0);
    let other = c.kernel("add", &[P(m), N(10)]);
    c.node_kernel(node, &other);
    c.update(x, g);
    c.is_enabled(x, node);
    c.run_once(x, s);
    c.read(m, 1);
    c.enable(x, node, 1);
    c.run_once(x, s);
    c.read(m, 1);
}

fn another_default(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let (g, body) = one_if(c, 1);
    c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
    let (other, body) = one_if(c, 0);
    c.node(body, &[], "add", &[P(m), N(10)]);
    c.update(x, other);
    c.run_once(x, s);
    c.read(m, 1);
    c.update(x, g);
    c.run_once(x, s);
    c.read(m, 1);
}

fn kernel_of_the_other_graph_sets(c: &mut Case<'_>) {
    let (s, m, mut graphs) = (c.stream(1), c.words(&[0, 0]), vec![]);
    for value in [1, 10] {
        let g = c.graph();
        let h = c.condition(g, 0, 1);
        let set = c.node(g, &[], "set_from", &[C(h), P(m)]);
        let (_, bodies) = c.add_condition(g, &[set], h, IF, 1);
        c.node(bodies[0], &[], "add", &[P(m + 4), N(value)]);
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    c.update(x, graphs[1]);
    for value in [1, 0, 1] {
        c.write(m, &[value]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn refused_node_in_the_other(c: &mut Case<'_>) {
    let m = c.words(&[0]);
    let (g, body) = one_if(c, 1);
    c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let (other, body) = one_if(c, 1);
    c.add_host(body, &[], HostAct::Note(1));
    c.update(x, other);
}

fn kernel_in_place_of_the_node(c: &mut Case<'_>) {
    let (m, plain) = (c.words(&[0]), c.graph());
    let (g, body) = one_if(c, 1);
    c.node(body, &[], "add", &[P(m), N(1)]);
    c.node(plain, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.update(x, plain);
    let y = c.instantiate(plain, 0);
    c.update(y, g);
}

fn unused_handle_in_the_other(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let (g, body) = one_if(c, 1);
    c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let (other, body) = one_if(c, 1);
    c.node(body, &[], "add", &[P(m), N(10)]);
    c.condition(other, 0, 1);
    c.update(x, other);
    c.run_once(x, s);
    c.read(m, 1);
}

fn two_nodes_swapped(c: &mut Case<'_>) {
    let (s, m, mut graphs) = (c.stream(1), c.words(&[0, 0]), vec![]);
    for values in [[1, 0], [0, 1]] {
        let g = c.graph();
        let handles = values.map(|value| c.condition(g, value, 1));
        let mut last = vec![];
        for (at, h) in handles.into_iter().enumerate() {
            let (n, bodies) = c.add_condition(g, &last, h, IF, 1);
            c.node(bodies[0], &[], "add", &[P(m + 4 * at as u64), N(1)]);
            last = vec![n];
        }
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    for graph in graphs {
        c.update(x, graph);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn set_in_the_executable_before(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let (g, body) = one_if(c, 1);
    let node = c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let other = c.kernel("add", &[P(m), N(10)]);
    c.exec_kernel(x, node, &other);
    c.update(x, g);
    c.run_once(x, s);
    c.read(m, 1);
}
