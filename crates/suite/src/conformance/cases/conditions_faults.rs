//! Faults of kernels in bodies: each case breaks its context, so it has a process, or a machine, of its own.

use super::super::case::Case;
use super::super::verbs::Arg::*;
use super::conditions::{IF, SWITCH, down};
use dacapo_driver::types::*;

/// The cases of this file.
pub(super) fn all() -> Vec<super::Listed> {
    let cases: [(&str, super::Body); 6] = [
        ("illegal_in_an_if", illegal_in_an_if),
        ("trap_in_a_later_round", trap_in_a_later_round),
        ("misaligned_in_a_switch", misaligned_in_a_switch),
        ("two_levels_down", two_levels_down),
        ("not_taken", not_taken),
        ("before_the_node", before_the_node),
    ];
    cases.into_iter().map(|(name, body)| super::listed("condition_fault", name, body, true)).collect()
}

/// Launches, waits, and asks what is left.
fn after(c: &mut Case<'_>, g: CUgraph, host: u64) {
    let s = c.stream(1);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.sync(s);
    // Written by what stands behind the conditional node.
    c.peek(host, 2);
    c.query(s);
    c.run(x, s);
    c.context_sync();
    c.stream(1);
    c.instantiate(g, 0);
    c.update(x, g);
    c.destroy(x);
    c.destroy(g);
}

/// A graph, memory, and two words of pinned memory that are 0.
fn start(c: &mut Case<'_>) -> (CUgraph, u64, u64) {
    let (g, m, host) = (c.graph(), c.words(&[4, 0]), c.pinned(8, 0));
    c.poke(host, &[0, 0]);
    (g, m, host)
}

fn illegal_in_an_if(c: &mut Case<'_>) {
    let (g, _, host) = start(c);
    let h = c.condition(g, 1, 1);
    let (n, bodies) = c.add_condition(g, &[], h, IF, 1);
    let a = c.node(bodies[0], &[], "add", &[P(host), N(1)]);
    c.node(bodies[0], &[a], "illegal", &[]);
    c.node(g, &[n], "add", &[P(host + 4), N(1)]);
    after(c, g, host);
}

fn trap_in_a_later_round(c: &mut Case<'_>) {
    let (g, m, host) = start(c);
    let (n, body, k) = down(c, g, &[], m);
    let add = c.node(body, &[k], "add", &[P(host), N(1)]);
    let h = c.condition(g, 0, 0);
    let set = c.node(body, &[add], "while_below", &[C(h), P(m), N(2)]);
    let (_, inner) = c.add_condition(body, &[set], h, IF, 1);
    c.node(inner[0], &[], "traps", &[]);
    c.node(g, &[n], "add", &[P(host + 4), N(1)]);
    after(c, g, host);
}

fn misaligned_in_a_switch(c: &mut Case<'_>) {
    let (g, m, host) = start(c);
    let h = c.condition(g, 2, 1);
    let (n, bodies) = c.add_condition(g, &[], h, SWITCH, 3);
    c.node(bodies[2], &[], "misaligned", &[P(m)]);
    c.node(g, &[n], "add", &[P(host + 4), N(1)]);
    after(c, g, host);
}

fn two_levels_down(c: &mut Case<'_>) {
    let (g, _, host) = start(c);
    let (h, i) = (c.condition(g, 1, 1), c.condition(g, 0, 1));
    let (n, outer) = c.add_condition(g, &[], h, IF, 1);
    let (o, inner) = c.add_condition(outer[0], &[], i, IF, 2);
    c.node(inner[1], &[], "illegal", &[]);
    c.node(outer[0], &[o], "add", &[P(host), N(1)]);
    c.node(g, &[n], "add", &[P(host + 4), N(1)]);
    after(c, g, host);
}

fn not_taken(c: &mut Case<'_>) {
    let (g, _, host) = start(c);
    let h = c.condition(g, 0, 1);
    let (n, bodies) = c.add_condition(g, &[], h, IF, 1);
    c.node(bodies[0], &[], "illegal", &[]);
    c.node(g, &[n], "add", &[P(host + 4), N(1)]);
    after(c, g, host);
}

fn before_the_node(c: &mut Case<'_>) {
    let (g, _, host) = start(c);
    let h = c.condition(g, 1, 1);
    let bad = c.node(g, &[], "illegal", &[]);
    let (n, bodies) = c.add_condition(g, &[bad], h, IF, 1);
    c.node(bodies[0], &[], "add", &[P(host), N(1)]);
    c.node(g, &[n], "add", &[P(host + 4), N(1)]);
    after(c, g, host);
}
