//! Who sets a condition, from where, and what the node that reads it makes of the value.
//!
//! Every loop here also counts down: it ends by its counter where the answer to the question would be "not seen".
//!
//! Not asked: what a condition holds that nothing has set, neither its default nor a kernel. An H200 answered
//! differently from run to run; a default without the flag that assigns it is such a condition too.

use super::super::case::Case;
use super::super::names::Condition;
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Fill};
use super::conditions::{IF, SWITCH, WHILE, down};
use dacapo_driver::types::*;

super::list! { "condition_set";
    break_from_an_if, break_from_an_else, break_from_a_switch, break_from_two_levels_down, break_from_a_child, break_out_of_two_loops,
    inner_body_goes_on, states_of_a_machine, behind_the_node_without_default, behind_the_node_with_default,
    inner_default_once_a_launch, inner_set_by_the_outer_body, inner_rounds_grow, before_the_outer_node, set_by_all_threads, switch_of_huge_values,
    if_of_high_bits, while_of_values_above_one, default_of_two_to_the_31, switch_of_one,
}

/// A loop by a counter whose body is told its handle: node, body, last node of the body, handle.
fn bounded(c: &mut Case<'_>, g: CUgraph, counter: u64) -> (CUgraphNode, CUgraph, CUgraphNode, Condition) {
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, &[], h, WHILE, 1);
    let k = c.node(bodies[0], &[], "count_down", &[C(h), P(counter)]);
    (n, bodies[0], k, h)
}

fn break_from_an_if(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[10, 0]));
    let (n, body, k, h) = bounded(c, g, m);
    let k = c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let i = c.condition(g, 0, 0);
    let set = c.node(body, &[k], "while_below", &[C(i), P(m), N(7)]);
    let (_, inner) = c.add_condition(body, &[set], i, IF, 1);
    c.node(inner[0], &[], "set_to", &[C(h), N(0)]);
    c.node(g, &[n], "add", &[P(m + 4), N(100)]);
    let x = c.instantiate(g, 0);
    for _ in 0..2 {
        c.write(m, &[10, 0]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn break_from_an_else(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[10, 0]));
    let (_, body, k, h) = bounded(c, g, m);
    let i = c.condition(g, 0, 0);
    let add = c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let set = c.node(body, &[add], "while_below", &[C(i), P(m + 4), N(4)]);
    let (_, inner) = c.add_condition(body, &[set], i, IF, 2);
    c.node(inner[0], &[], "add", &[P(m + 4), N(0)]);
    c.node(inner[1], &[], "set_to", &[C(h), N(0)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn break_from_a_switch(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[10, 0]));
    let (_, body, k, h) = bounded(c, g, m);
    let i = c.condition(g, 0, 0);
    let set = c.node(body, &[k], "set_from", &[C(i), P(m)]);
    let (_, inner) = c.add_condition(body, &[set], i, SWITCH, 6);
    c.node(inner[5], &[], "set_to", &[C(h), N(0)]);
    c.node(inner[4], &[], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn break_from_two_levels_down(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[10, 0]));
    let (_, body, k, h) = bounded(c, g, m);
    let (i, j) = (c.condition(g, 0, 0), c.condition(g, 0, 0));
    let set = c.node(body, &[k], "while_below", &[C(i), P(m), N(8)]);
    let (_, one) = c.add_condition(body, &[set], i, IF, 1);
    let add = c.node(one[0], &[], "add", &[P(m + 4), N(1)]);
    let set = c.node(one[0], &[add], "while_below", &[C(j), P(m), N(6)]);
    let (_, two) = c.add_condition(one[0], &[set], j, IF, 1);
    c.node(two[0], &[], "set_to", &[C(h), N(0)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn break_from_a_child(c: &mut Case<'_>) {
    let (s, g, child, m) = (c.stream(1), c.graph(), c.graph(), c.words(&[10, 0]));
    let (_, body, k, h) = bounded(c, g, m);
    let add = c.node(child, &[], "add", &[P(m + 4), N(1)]);
    c.node(child, &[add], "stop_at", &[C(h), P(m), N(6)]);
    c.add_child(body, &[k], child);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn break_out_of_two_loops(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[10, 0, 0]));
    let (_, outer, k, h) = bounded(c, g, m);
    let reset = c.add_fill(outer, &[k], &Fill::flat(m + 4, 3, 4, 1));
    let i = c.condition(g, 0, 0);
    let set = c.node(outer, &[reset], "set_to", &[C(i), N(1)]);
    let (_, inner) = c.add_condition(outer, &[set], i, WHILE, 1);
    let l = c.node(inner[0], &[], "count_down", &[C(i), P(m + 4)]);
    let add = c.node(inner[0], &[l], "add", &[P(m + 8), N(1)]);
    // Both in the middle of an inner loop: 5 is reached in the second round of the second.
    let a = c.node(inner[0], &[add], "stop_at", &[C(i), P(m + 8), N(5)]);
    c.node(inner[0], &[a], "stop_at", &[C(h), P(m + 8), N(5)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn inner_body_goes_on(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1, 0]));
    let (_, body, k, h) = bounded(c, g, m);
    let add = c.node(body, &[k], "add", &[P(m + 4), N(1)]);
    let i = c.condition(g, 0, 0);
    let set = c.node(body, &[add], "while_below", &[C(i), P(m + 4), N(2)]);
    let (_, inner) = c.add_condition(body, &[set], i, IF, 1);
    // The counter has come to 0 and said so; it is set anew before the loop is told to go on.
    let fill = c.add_fill(inner[0], &[], &Fill::flat(m, 2, 4, 1));
    c.node(inner[0], &[fill], "set_to", &[C(h), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn states_of_a_machine(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[10, 0, 1]));
    let (_, body, k, h) = bounded(c, g, m);
    let i = c.condition(g, 0, 0);
    let set = c.node(body, &[k], "set_from", &[C(i), P(m + 4)]);
    let (_, states) = c.add_condition(body, &[set], i, SWITCH, 4);
    for (state, next) in [(0, 2), (2, 1), (1, 3)] {
        let a = c.add_fill(states[state], &[], &Fill::flat(m + 4, next, 4, 1));
        c.node(states[state], &[a], "mad1", &[P(m + 8), N(10), N(state as u32)]);
    }
    c.node(states[3], &[], "set_to", &[C(h), N(0)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn behind_the_node_without_default(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 1]));
    let h = c.condition(g, 0, 0);
    let (n, bodies) = c.add_condition(g, &[], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    c.node(g, &[n], "set_from", &[C(h), P(m + 4)]);
    let x = c.instantiate(g, 0);
    for next in [1, 0, 5, 5] {
        c.write(m + 4, &[next]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn behind_the_node_with_default(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let h = c.condition(g, 0, 1);
    let (n, bodies) = c.add_condition(g, &[], h, SWITCH, 2);
    c.node(bodies[0], &[], "add", &[P(m), N(1)]);
    c.node(bodies[1], &[], "add", &[P(m + 4), N(1)]);
    c.node(g, &[n], "set_to", &[C(h), N(1)]);
    let x = c.instantiate(g, 0);
    // Both are on their way before the first is over.
    c.run(x, s);
    c.run_once(x, s);
    c.read(m, 2);
}

fn inner_default_once_a_launch(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0, 0]));
    let (_, outer, k) = down(c, g, &[], m);
    let reset = c.add_fill(outer, &[k], &Fill::flat(m + 4, 4, 4, 1));
    let h = c.condition(g, 1, 1);
    let (_, inner) = c.add_condition(outer, &[reset], h, WHILE, 1);
    let l = c.node(inner[0], &[], "count_down", &[C(h), P(m + 4)]);
    c.node(inner[0], &[l], "add", &[P(m + 8), N(1)]);
    let x = c.instantiate(g, 0);
    for _ in 0..2 {
        c.write(m, &[3]);
        c.run_once(x, s);
        c.read(m, 3);
    }
}

fn inner_set_by_the_outer_body(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[5, 0, 0]));
    let (_, outer, k) = down(c, g, &[], m);
    let reset = c.add_fill(outer, &[k], &Fill::flat(m + 4, 2, 4, 1));
    let h = c.condition(g, 0, 0);
    // Not in the rounds that leave the counter at 3 and more.
    let set = c.node(outer, &[reset], "while_below", &[C(h), P(m), N(3)]);
    let (_, inner) = c.add_condition(outer, &[set], h, WHILE, 1);
    let l = c.node(inner[0], &[], "count_down", &[C(h), P(m + 4)]);
    c.node(inner[0], &[l], "add", &[P(m + 8), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn inner_rounds_grow(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[20, 0, 0, 0]));
    let (_, outer, k) = down(c, g, &[], m);
    let grow = c.node(outer, &[k], "add", &[P(m + 4), N(1)]);
    let copy = c.add_copy(outer, &[grow], &Copy3::flat(CopyEnd::Dev(m + 8), CopyEnd::Dev(m + 4), 4));
    let h = c.condition(g, 0, 0);
    let set = c.node(outer, &[copy], "set_from", &[C(h), P(m + 8)]);
    let (_, inner) = c.add_condition(outer, &[set], h, WHILE, 1);
    let l = c.node(inner[0], &[], "count_down", &[C(h), P(m + 8)]);
    c.node(inner[0], &[l], "add", &[P(m + 12), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}

fn before_the_outer_node(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let (h, i) = (c.condition(g, 1, 1), c.condition(g, 0, 0));
    let set = c.node(g, &[], "set_from", &[C(i), P(m)]);
    let (_, outer) = c.add_condition(g, &[set], h, IF, 1);
    let (_, inner) = c.add_condition(outer[0], &[], i, SWITCH, 3);
    for (at, body) in inner.iter().enumerate() {
        c.node(*body, &[], "add", &[P(m + 4), N(10u32.pow(at as u32))]);
    }
    let x = c.instantiate(g, 0);
    for value in [2, 0, 1] {
        c.write(m, &[value]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}

fn set_by_all_threads(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let h = c.condition(g, 0, 0);
    let all = c.kernel("set_by_all", &[C(h), N(2)]).shaped(4, 64);
    let set = c.add_kernel(g, &[], &all);
    let (_, bodies) = c.add_condition(g, &[set], h, SWITCH, 3);
    for (at, body) in bodies.iter().enumerate() {
        c.node(*body, &[], "add", &[P(m), N(10u32.pow(at as u32))]);
    }
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn switch_of_huge_values(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let h = c.condition(g, 0, 0);
    let set = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (n, bodies) = c.add_condition(g, &[set], h, SWITCH, 4);
    for (at, body) in bodies.iter().enumerate() {
        c.node(*body, &[], "add", &[P(m + 4), N(10u32.pow(at as u32))]);
    }
    c.node(g, &[n], "add", &[P(m + 4), N(100_000)]);
    let x = c.instantiate(g, 0);
    for value in [4, 256, 65_537, 1 << 31, (1 << 31) + 3, u32::MAX, 3] {
        c.write(m, &[value]);
        c.run_once(x, s);
        c.read(m + 4, 1);
    }
}

fn if_of_high_bits(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0, 0]));
    let h = c.condition(g, 0, 0);
    let set = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (_, bodies) = c.add_condition(g, &[set], h, IF, 2);
    c.node(bodies[0], &[], "add", &[P(m + 4), N(1)]);
    c.node(bodies[1], &[], "add", &[P(m + 8), N(1)]);
    let x = c.instantiate(g, 0);
    for value in [1 << 31, 256, 65_536, u32::MAX, 1 << 24] {
        c.write(m, &[value]);
        c.run_once(x, s);
        c.read(m + 4, 2);
    }
}

fn while_of_values_above_one(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 5, 0]));
    let h = c.condition(g, 0, 0);
    let set = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (_, bodies) = c.add_condition(g, &[set], h, WHILE, 1);
    let less = c.node(bodies[0], &[], "add", &[P(m + 4), N(u32::MAX)]);
    let count = c.node(bodies[0], &[less], "add", &[P(m + 8), N(1)]);
    c.node(bodies[0], &[count], "set_from", &[C(h), P(m + 4)]);
    let x = c.instantiate(g, 0);
    for value in [2, 256, 1 << 31, u32::MAX, 0] {
        c.write(m, &[value, 5, 0]);
        c.run_once(x, s);
        c.read(m + 4, 2);
    }
}

fn default_of_two_to_the_31(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[3, 0, 0]));
    let (h, i) = (c.condition(g, 1 << 31, 1), c.condition(g, u32::MAX, 1));
    let (n, bodies) = c.add_condition(g, &[], h, WHILE, 1);
    let k = c.node(bodies[0], &[], "count_down", &[C(h), P(m)]);
    c.node(bodies[0], &[k], "add", &[P(m + 4), N(1)]);
    let (_, bodies) = c.add_condition(g, &[n], i, IF, 1);
    c.node(bodies[0], &[], "add", &[P(m + 8), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn switch_of_one(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0, 0]));
    let h = c.condition(g, 0, 0);
    let set = c.node(g, &[], "set_from", &[C(h), P(m)]);
    let (_, bodies) = c.add_condition(g, &[set], h, SWITCH, 1);
    c.node(bodies[0], &[], "add", &[P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    for value in [0, 1, 0] {
        c.write(m, &[value]);
        c.run_once(x, s);
        c.read(m, 2);
    }
}
