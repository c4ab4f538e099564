//! Nodes of bodies changed in the executable and in the template: parameters, and whether they are enabled.
//!
//! Not asked: a copy in a body that `cuGraphExecMemcpyNodeSetParams` moves from pinned to pageable to device memory,
//! with a launch after each. Driver 580.159.04 on an H200 ended the process.

use super::super::case::Case;
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Fill};
use super::conditions::{IF, down};
use dacapo_driver::types::*;

super::list! { "body_change";
    kernel_in_the_executable, fill_and_copy_in_the_executable, copy_of_another_kind, node_two_levels_down,
    node_of_a_child, child_replaced, template_before_instantiate, template_after_instantiate, switched_off_one_by_one, switched_off_setter,
    switched_off_in_a_loop, what_cannot_be_switched_off, changed_while_it_runs, node_of_another_body,
}

/// An IF that is taken in each launch: its node and its body.
fn taken(c: &mut Case<'_>, g: CUgraph) -> (CUgraphNode, CUgraph) {
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, &[], h, IF, 1);
    (n, bodies[0])
}

fn kernel_in_the_executable(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let (_, body) = taken(c, g);
    let node = c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let kernels = [
        c.kernel("add", &[P(m + 4), N(5)]),
        c.kernel("add", &[P(m), N(1)]).shaped(2, 4),
        c.kernel("carry", &[P(m + 12), P(m), N(50)]),
        c.kernel("add", &[P(m), N(1)]).shaped(0, 1),
    ];
    for kernel in &kernels {
        c.exec_kernel(x, node, kernel);
        c.run_once(x, s);
        c.read(m, 8);
    }
    c.kernel_params(node);
}

fn fill_and_copy_in_the_executable(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1, 2, 0, 0, 0, 0]));
    let (_, body) = taken(c, g);
    let fill = c.add_fill(body, &[], &Fill::flat(m + 8, 3, 4, 1));
    let copy = c.add_copy(body, &[fill], &Copy3::flat(CopyEnd::Dev(m + 12), CopyEnd::Dev(m), 4));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 6);
    c.exec_fill(x, fill, &Fill::flat(m + 8, 4, 1, 2));
    c.exec_copy(x, copy, &Copy3::flat(CopyEnd::Dev(m + 16), CopyEnd::Dev(m), 8));
    c.run_once(x, s);
    c.read(m, 6);
    c.exec_fill(x, copy, &Fill::flat(m, 9, 4, 1));
    c.exec_copy(x, fill, &Copy3::flat(CopyEnd::Dev(m), CopyEnd::Dev(m + 4), 4));
    c.fill_params(fill);
    c.copy_params(copy);
}

fn copy_of_another_kind(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1, 2, 0, 0, 0, 0, 0, 0]));
    let (_, body) = taken(c, g);
    let copy = c.add_copy(body, &[], &Copy3::flat(CopyEnd::Dev(m + 8), CopyEnd::Dev(m), 4));
    let x = c.instantiate(g, 0);
    c.exec_copy(x, copy, &Copy3::rows(CopyEnd::Dev(m + 16), 8, CopyEnd::Dev(m), 4, 4, 2));
    c.run_once(x, s);
    c.read(m, 8);
}

fn node_two_levels_down(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, g, &[], m);
    let h = c.condition(g, 1, 1);
    let (_, inner) = c.add_condition(body, &[k], h, IF, 1);
    let node = c.node(inner[0], &[], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    let other = c.kernel("add", &[P(m + 4), N(50)]);
    c.exec_kernel(x, node, &other);
    c.run_once(x, s);
    c.read(m, 2);
    c.enable(x, node, 0);
    c.is_enabled(x, node);
    c.write(m, &[3, 0]);
    c.run_once(x, s);
    c.read(m, 2);
}

fn node_of_a_child(c: &mut Case<'_>) {
    let (s, g, child, m) = (c.stream(1), c.graph(), c.graph(), c.words(&[0]));
    let original = c.node(child, &[], "add", &[P(m), N(1)]);
    let (_, body) = taken(c, g);
    let node = c.add_child(body, &[], child);
    let copy = c.child_graph(node);
    let inside = c.shape(copy);
    let x = c.instantiate(g, 0);
    let other = c.kernel("add", &[P(m), N(50)]);
    c.exec_kernel(x, original, &other);
    c.exec_kernel(x, inside[0], &other);
    c.run_once(x, s);
    c.read(m, 1);
    c.enable(x, inside[0], 0);
    c.is_enabled(x, inside[0]);
    c.run_once(x, s);
    c.read(m, 1);
}

fn child_replaced(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let children = [c.graph(), c.graph(), c.graph()];
    for (child, value) in children.iter().zip([1, 10, 100]) {
        c.node(*child, &[], "add", &[P(m), N(value)]);
    }
    c.add_empty(children[2], &[]);
    let (_, body) = taken(c, g);
    let node = c.add_child(body, &[], children[0]);
    let x = c.instantiate(g, 0);
    for child in children {
        c.exec_child(x, node, child);
        c.run_once(x, s);
        c.read(m, 1);
    }
}

fn template_before_instantiate(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let (_, body) = taken(c, g);
    let node = c.node(body, &[], "add", &[P(m), N(1)]);
    let other = c.kernel("carry", &[P(m + 4), P(m), N(50)]);
    c.node_kernel(node, &other);
    c.kernel_params(node);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn template_after_instantiate(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let (n, body) = taken(c, g);
    let node = c.node(body, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let other = c.kernel("add", &[P(m), N(50)]);
    c.node_kernel(node, &other);
    c.kernel_params(node);
    c.add_empty(body, &[node]);
    c.node(g, &[n], "add", &[P(m), N(1000)]);
    c.run_once(x, s);
    c.read(m, 1);
    c.destroy(x);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn switched_off_one_by_one(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[5, 0, 0, 0]));
    let (_, body) = taken(c, g);
    let kernel = c.node(body, &[], "add", &[P(m), N(1)]);
    let fill = c.add_fill(body, &[kernel], &Fill::flat(m + 4, 3, 4, 1));
    let copy = c.add_copy(body, &[fill], &Copy3::flat(CopyEnd::Dev(m + 8), CopyEnd::Dev(m), 4));
    let x = c.instantiate(g, 0);
    for node in [kernel, fill, copy] {
        c.is_enabled(x, node);
        c.enable(x, node, 0);
        c.is_enabled(x, node);
        c.write(m, &[5, 0, 0, 0]);
        c.run_once(x, s);
        c.read(m, 4);
        c.enable(x, node, 1);
    }
}

fn switched_off_setter(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let (n, body) = taken(c, g);
    let i = c.condition(g, 0, 1);
    let set = c.node(body, &[], "set_to", &[C(i), N(1)]);
    let (_, then) = c.add_condition(g, &[n], i, IF, 2);
    c.node(then[0], &[], "add", &[P(m), N(1)]);
    c.node(then[1], &[], "add", &[P(m), N(10)]);
    let x = c.instantiate(g, 0);
    for on in [1, 0, 1] {
        c.enable(x, set, on);
        c.run_once(x, s);
        c.read(m, 1);
    }
}

fn switched_off_in_a_loop(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0, 0]));
    let (_, body, k) = down(c, g, &[], m);
    let fill = c.add_fill(body, &[k], &Fill::flat(m + 8, 3, 4, 1));
    // Between two that run: who comes behind it still waits for what is before it.
    let off = c.node(body, &[fill], "add", &[P(m + 4), N(1)]);
    c.node(body, &[off], "carry", &[P(m + 4), P(m + 8), N(1)]);
    let x = c.instantiate(g, 0);
    c.enable(x, off, 0);
    c.enable(x, fill, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn what_cannot_be_switched_off(c: &mut Case<'_>) {
    let (g, child, m) = (c.graph(), c.graph(), c.words(&[0]));
    c.node(child, &[], "add", &[P(m), N(1)]);
    let (n, body) = taken(c, g);
    let (empty, inside) = (c.add_empty(body, &[]), c.add_child(body, &[], child));
    let h = c.condition(g, 1, 1);
    let (inner, _) = c.add_condition(body, &[], h, IF, 1);
    let x = c.instantiate(g, 0);
    for node in [n, empty, inside, inner] {
        c.enable(x, node, 0);
        c.is_enabled(x, node);
    }
}

fn changed_while_it_runs(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let flag = c.flag();
    let (_, body) = taken(c, g);
    let gate = c.node(body, &[], "gate", &[P(flag)]);
    let node = c.node(body, &[gate], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.upload(x, s);
    c.run(x, s);
    let other = c.kernel("add", &[P(m), N(50)]);
    c.exec_kernel(x, node, &other);
    c.open(flag);
    c.sync(s);
    c.read(m, 1);
    c.run_once(x, s);
    c.read(m, 1);
}

fn node_of_another_body(c: &mut Case<'_>) {
    let (g, other, m) = (c.graph(), c.graph(), c.words(&[0]));
    let (_, body) = taken(c, g);
    c.node(body, &[], "add", &[P(m), N(1)]);
    let (_, elsewhere) = taken(c, other);
    let node = c.node(elsewhere, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let kernel = c.kernel("add", &[P(m), N(50)]);
    c.exec_kernel(x, node, &kernel);
    c.enable(x, node, 0);
    // Added after the executable was made.
    let late = c.node(body, &[], "add", &[P(m), N(1)]);
    c.exec_kernel(x, late, &kernel);
    c.enable(x, late, 0);
}
