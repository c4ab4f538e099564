//! Conditional nodes: branches and loops whose bodies count, nested, with values set by kernels.

use super::super::case::Case;
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Fill};
use dacapo_driver::types::*;

pub(super) const IF: u32 = CU_GRAPH_COND_TYPE_IF;
pub(super) const WHILE: u32 = CU_GRAPH_COND_TYPE_WHILE;
pub(super) const SWITCH: u32 = CU_GRAPH_COND_TYPE_SWITCH;

super::list! { "condition";
    if_by_memory, if_else_by_memory, while_counts_down, while_below_a_limit, while_never, while_body_of_a_diamond, while_body_with_fill_and_copy,
    while_in_a_while, if_in_a_while, while_in_an_if, switch_by_memory, switch_with_empty_bodies, two_in_a_row, work_after_waits_for_the_loop,
    work_beside_does_not, default_set_each_launch, unset_without_default_keeps, set_twice_the_last_holds, set_in_else_branch, child_in_the_body,
    body_captured, body_node_set_in_exec, body_node_switched_off, update_from_other_values, update_of_another_size, launched_in_two_streams,
    loop_and_memory_of_the_stream, if_after_while, handle_of_another_graph, size_of_switch, destroyed_graph_keeps_exec, condition_in_a_child,
    body_is_a_graph_of_its_own, body_nodes_listed, three_deep,
}

fn if_by_memory(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let h = c.condition(g, 0, 0);
    let a = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (n, bodies) = c.add_condition(g, &[a], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m + 4), N(1)]);
    c.node(g, &[n], "add", &[P(m + 4), N(100)]);
    let x = c.instantiate(g, 0);
    for value in [0, 1, 7, 0] {
        c.write(m, &[value]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn if_else_by_memory(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let h = c.condition(g, 0, 0);
    let a = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (_, bodies) = c.add_condition(g, &[a], h, IF, 2);
    c.node(bodies[0], &[], "add", &[P(m + 4), N(1)]);
    c.node(bodies[1], &[], "add", &[P(m + 4), N(10)]);
    let x = c.instantiate(g, 0);
    for value in [0, 1, 2, 0] {
        c.write(m, &[value]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

/// A loop that runs as often as the word at `counter` says, at least once; its body so far.
pub(super) fn down(
    c: &mut Case<'_>,
    g: CUgraph,
    after: &[CUgraphNode],
    counter: u64,
) -> (CUgraphNode, CUgraph, CUgraphNode) {
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, after, h, WHILE, 1);
    let k = c.node(bodies[0], &[], "count_down", &[C(h), P(counter)]);
    (n, bodies[0], k)
}

fn while_counts_down(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[5, 0]));
    let (_, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    for times in [5, 1, 12] {
        c.write(m, &[times, 0]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn while_below_a_limit(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1, 0]));
    let h = c.condition(g, 0, 0);
    let a = c.node(g, &[], "while_below", &[C(h), P(m), N(100)]);
    let (_, bodies) = c.add_condition(g, &[a], h, WHILE, 1);
    let b = c.node(bodies[0], &[], "mad1", &[P(m), N(2), N(1)]);
    let d = c.node(bodies[0], &[b], "add", &[P(m + 4), N(1)]);
    c.node(bodies[0], &[d], "while_below", &[C(h), P(m), N(100)]);
    let x = c.instantiate(g, 0);
    for from in [1, 40, 100] {
        c.write(m, &[from, 0]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn while_never(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 0, 1);
    let (n, bodies) = c.add_condition(g, &[], h, WHILE, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    c.node(g, &[n], "add", &[P(m), N(100)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.read(m, 1);
}

fn while_body_of_a_diamond(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[4, 1, 0, 0]));
    let (_, body, k) = down(c, g, &[], m);
    let left = c.node(body, &[k], "carry", &[P(m + 8), P(m + 4), N(1)]);
    let right = c.node(body, &[k], "carry", &[P(m + 12), P(m + 4), N(2)]);
    c.node(body, &[left, right], "carry", &[P(m + 4), P(m + 8), N(10)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}

fn while_body_with_fill_and_copy(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 5, 0, 0]));
    let (_, body, k) = down(c, g, &[], m);
    let a = c.add_copy(body, &[k], &Copy3::flat(CopyEnd::Dev(m + 8), CopyEnd::Dev(m + 4), 4));
    let b = c.node(body, &[a], "add", &[P(m + 12), N(1)]);
    let d = c.node(body, &[b], "add", &[P(m + 4), N(1)]);
    c.add_fill(body, &[d], &Fill::flat(m + 16 - 4, 9, 4, 1));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}

fn while_in_a_while(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0, 0]));
    let (_, outer, k) = down(c, g, &[], m);
    let reset = c.add_fill(outer, &[k], &Fill::flat(m + 4, 4, 4, 1));
    let h = c.condition(g, 1, 1);
    let set = c.node(outer, &[reset], "set_to", &[C(h), N(1)]);
    let (_, bodies) = c.add_condition(outer, &[set], h, WHILE, 1);
    let l = c.node(bodies[0], &[], "count_down", &[C(h), P(m + 4)]);
    c.node(bodies[0], &[l], "add", &[P(m + 8), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn if_in_a_while(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[6, 0]));
    let (_, outer, k) = down(c, g, &[], m);
    let h = c.condition(g, 0, 0);
    // In the body only while the counter is below 3.
    let set = c.node(outer, &[k], "while_below", &[C(h), P(m), N(3)]);
    let (_, bodies) = c.add_condition(outer, &[set], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
    c.write(m, &[2, 0]);
    c.run_once(x, s);
    c.read(m, 2);
}

fn while_in_an_if(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1, 4, 0]));
    let h = c.condition(g, 0, 0);
    let a = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (_, bodies) = c.add_condition(g, &[a], h, IF, 1);
    let i = c.condition(g, 1, 1);
    let (_, inner) = c.add_condition(bodies[0], &[], i, WHILE, 1);
    let k = c.node(inner[0], &[], "count_down", &[C(i), P(m + 4)]);
    c.node(inner[0], &[k], "add", &[P(m + 8), N(1)]);
    let x = c.instantiate(g, 0);
    for value in [1, 0] {
        c.write(m, &[value, 4, 0]);
        c.run_once(x, s);
        c.read(m, 3);
    }
}

fn switch_by_memory(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let h = c.condition(g, 0, 0);
    let a = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (_, bodies) = c.add_condition(g, &[a], h, SWITCH, 4);
    for (at, body) in bodies.iter().enumerate() {
        c.node(*body, &[], "add", &[P(m + 4), N(10u32.pow(at as u32))]);
    }
    let x = c.instantiate(g, 0);
    for value in [0, 1, 2, 3, 4, 99] {
        c.write(m, &[value]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn switch_with_empty_bodies(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let h = c.condition(g, 0, 0);
    let a = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (n, bodies) = c.add_condition(g, &[a], h, SWITCH, 3);
    c.node(bodies[1], &[], "add", &[P(m + 4), N(1)]);
    c.node(g, &[n], "add", &[P(m + 4), N(100)]);
    let x = c.instantiate(g, 0);
    for value in [0, 1, 2] {
        c.write(m, &[value]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn two_in_a_row(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 2, 0]));
    let (first, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "mad1", &[P(m + 8), N(2), N(1)]);
    let (_, body, k) = down(c, g, &[first], m + 4);
    c.node(body, &[k], "mad1", &[P(m + 8), N(10), N(3)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn work_after_waits_for_the_loop(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[5, 0, 0]));
    let (n, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    c.node(g, &[n], "carry", &[P(m + 8), P(m + 4), N(1000)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    let after = c.kernel("mad1", &[P(m + 8), N(2), N(1)]);
    c.launch(&after, s);
    c.sync(s);
    c.read(m, 3);
}

fn work_beside_does_not(c: &mut Case<'_>) {
    let (s, g, host, m) = (c.stream(1), c.graph(), c.pinned(8, 0), c.words(&[2]));
    let flag = c.flag();
    let (_, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "gate", &[P(flag)]);
    c.node(g, &[], "add", &[P(host), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.word_comes(host, 1, s);
    c.query(s);
    c.open(flag);
    c.sync(s);
    c.read(m, 1);
}

fn default_set_each_launch(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, &[], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    c.node(g, &[n], "set_to", &[C(h), N(0)]);
    let x = c.instantiate(g, 0);
    for _ in 0..3 {
        c.run_once(x, s);
        c.read(m, 1);
    }
}

fn unset_without_default_keeps(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 0, 0);
    let set = c.node(g, &[], "set_to", &[C(h), N(1)]);
    let (_, bodies) = c.add_condition(g, &[set], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
    // Nobody sets it in this launch.
    c.enable(x, set, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn set_twice_the_last_holds(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 0, 0);
    let a = c.node(g, &[], "set_to", &[C(h), N(1)]);
    let b = c.node(g, &[a], "set_to", &[C(h), N(2)]);
    let (_, bodies) = c.add_condition(g, &[b], h, SWITCH, 3);
    for (at, body) in bodies.iter().enumerate() {
        c.node(*body, &[], "add", &[P(m), N(10u32.pow(at as u32))]);
    }
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn set_in_else_branch(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let (h, i) = (c.condition(g, 0, 1), c.condition(g, 0, 1));
    let (n, bodies) = c.add_condition(g, &[], h, IF, 2);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    c.node(bodies[1], &[], "set_to", &[C(i), N(1)]);
    let (_, then) = c.add_condition(g, &[n], i, IF, 1);
    c.node(then[0], &[], "add", &[P(m), N(10)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn child_in_the_body(c: &mut Case<'_>) {
    let (s, g, child, m) = (c.stream(1), c.graph(), c.graph(), c.words(&[3, 1]));
    let a = c.node(child, &[], "mad1", &[P(m + 4), N(2), N(1)]);
    c.node(child, &[a], "mad1", &[P(m + 4), N(3), N(0)]);
    let (_, body, k) = down(c, g, &[], m);
    c.add_child(body, &[k], child);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn body_captured(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[4, 1]));
    let (_, body, k) = down(c, g, &[], m);
    let (a, b) = (c.kernel("mad1", &[P(m + 4), N(2), N(1)]), c.kernel("mad1", &[P(m + 4), N(3), N(2)]));
    c.begin_to(s, body, &[k], 0);
    c.launch(&a, s);
    c.launch(&b, s);
    c.end_capture_into(s);
    c.shape(body);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn body_node_set_in_exec(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, g, &[], m);
    let inside = c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    let other = c.kernel("add", &[P(m + 4), N(50)]);
    c.exec_kernel(x, inside, &other);
    c.run_once(x, s);
    c.read(m, 2);
}

fn body_node_switched_off(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (n, body, k) = down(c, g, &[], m);
    let inside = c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.enable(x, inside, 0);
    c.enable(x, n, 0);
    c.run_once(x, s);
    c.read(m, 2);
    c.enable(x, inside, 1);
    c.write(m, &[2]);
    c.run_once(x, s);
    c.read(m, 2);
}

fn update_from_other_values(c: &mut Case<'_>) {
    let (s, m, mut graphs) = (c.stream(1), c.words(&[3, 0]), vec![]);
    for value in [1, 10] {
        let g = c.graph();
        let (_, body, k) = down(c, g, &[], m);
        c.node(body, &[k], "add", &[P(m + 4), N(value)]);
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    c.run_once(x, s);
    c.read(m, 2);
    c.update(x, graphs[1]);
    c.write(m, &[3, 0]);
    // The other graph's kernel sets the other graph's condition; nothing here may run for ever.
    c.say("not launched");
}

fn update_of_another_size(c: &mut Case<'_>) {
    let (m, mut graphs) = (c.words(&[0]), vec![]);
    for (kind, size) in [(IF, 1), (IF, 2), (SWITCH, 2), (WHILE, 1)] {
        let g = c.graph();
        let h = c.condition(g, 0, 1);
        let (_, bodies) = c.add_condition(g, &[], h, kind, size);
        for body in bodies {
            c.node(body, &[], "add", &[P(m), N(1)]);
        }
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    for graph in graphs {
        c.update(x, graph);
    }
}

fn launched_in_two_streams(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.run(x, t);
    c.run(x, s);
    c.sync(s);
    c.sync(t);
    c.read(m, 1);
}

fn loop_and_memory_of_the_stream(c: &mut Case<'_>) {
    let (s, g, out) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let m = c.alloc_async(8, s);
    c.set32(m, 4, 1, s);
    c.set32(m + 4, 0, 1, s);
    let (_, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(3)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.d_to_d(out, m, 8, s);
    c.free_async(m, s);
    c.sync(s);
    c.read(out, 2);
}

fn if_after_while(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0, 0]));
    let (n, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let h = c.condition(g, 0, 0);
    let set = c.node(g, &[n], "set_from", &[C(h), P(m + 4)]);
    let (_, bodies) = c.add_condition(g, &[set], h, SWITCH, 4);
    for (at, body) in bodies.iter().enumerate() {
        c.node(*body, &[], "add", &[P(m + 8), N(at as u32 + 100)]);
    }
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn handle_of_another_graph(c: &mut Case<'_>) {
    let (g, other) = (c.graph(), c.graph());
    let h = c.condition(other, 1, 1);
    c.add_condition(g, &[], h, IF, 1);
    c.add_condition(other, &[], h, IF, 1);
    c.add_condition(other, &[], h, IF, 1);
    c.shape(g);
    c.shape(other);
}

fn size_of_switch(c: &mut Case<'_>) {
    let g = c.graph();
    for (kind, size) in [(SWITCH, 0), (SWITCH, 1), (SWITCH, 10), (WHILE, 0), (WHILE, 2), (IF, 3), (3, 1)] {
        let h = c.condition(g, 0, 1);
        c.add_condition(g, &[], h, kind, size);
    }
}

fn destroyed_graph_keeps_exec(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, g, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.destroy(g);
    c.run_once(x, s);
    c.read(m, 2);
}

fn condition_in_a_child(c: &mut Case<'_>) {
    let (child, g, m) = (c.graph(), c.graph(), c.words(&[3, 0]));
    let (_, body, k) = down(c, child, &[], m);
    c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    c.add_child(g, &[], child);
    c.clone_graph(child);
    c.shape(g);
}

fn body_is_a_graph_of_its_own(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(bodies[0], 0);
    if !x.is_null() {
        c.run_once(x, s);
        c.read(m, 1);
    }
    let clone = c.clone_graph(bodies[0]);
    if !clone.is_null() {
        c.shape(clone);
    }
}

fn body_nodes_listed(c: &mut Case<'_>) {
    let (g, m) = (c.graph(), c.words(&[3, 0]));
    let (n, body, k) = down(c, g, &[], m);
    let b = c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    c.add_empty(body, &[b]);
    c.node_type(n);
    c.shape(g);
    c.shape(body);
    c.destroy_node(b);
    c.shape(body);
    c.connect(g, &[n], &[k]);
}

fn three_deep(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[2, 0, 0, 0]));
    let (_, one, k) = down(c, g, &[], m);
    let a = c.add_fill(one, &[k], &Fill::flat(m + 4, 3, 4, 1));
    let i = c.condition(g, 1, 1);
    let a = c.node(one, &[a], "set_to", &[C(i), N(1)]);
    let (_, two) = c.add_condition(one, &[a], i, WHILE, 1);
    let b = c.node(two[0], &[], "count_down", &[C(i), P(m + 4)]);
    let j = c.condition(g, 0, 0);
    let b = c.node(two[0], &[b], "while_below", &[C(j), P(m + 4), N(2)]);
    let (_, three) = c.add_condition(two[0], &[b], j, IF, 2);
    c.node(three[0], &[], "add", &[P(m + 8), N(1)]);
    c.node(three[1], &[], "add", &[P(m + 12), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}
