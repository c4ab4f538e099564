//! Faults that break the context: each in a process of its own, or on a machine of its own.

use super::super::case::{Case, HostAct};
use super::super::verbs::Arg::*;

/// The cases of this file.
pub(super) fn all() -> Vec<super::Listed> {
    let cases: [(&str, super::Body); 9] = [
        ("illegal_address", illegal_address),
        ("misaligned_address", misaligned_address),
        ("trap", trap),
        ("in_a_graph", in_a_graph),
        ("in_a_branch_of_a_graph", in_a_branch_of_a_graph),
        ("seen_by_event", seen_by_event),
        ("seen_by_other_streams", seen_by_other_streams),
        ("callback_after_it", callback_after_it),
        ("what_still_works", what_still_works),
    ];
    cases.into_iter().map(|(name, body)| super::listed("fault", name, body, true)).collect()
}

fn faulty(c: &mut Case<'_>, name: &'static str) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let kernel = match name {
        "misaligned" => c.kernel(name, &[P(m)]),
        name => c.kernel(name, &[]),
    };
    c.launch(&kernel, s);
    c.sync(s);
    c.query(s);
    c.context_sync();
    let add = c.kernel("add", &[P(m), N(1)]);
    c.launch(&add, s);
    c.read(m, 1);
}

fn illegal_address(c: &mut Case<'_>) {
    faulty(c, "illegal");
}

fn misaligned_address(c: &mut Case<'_>) {
    faulty(c, "misaligned");
}

fn trap(c: &mut Case<'_>) {
    faulty(c, "traps");
}

fn in_a_graph(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    let b = c.node(g, &[a], "illegal", &[]);
    c.node(g, &[b], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.sync(s);
    c.run(x, s);
    c.destroy(x);
    c.destroy(g);
}

fn in_a_branch_of_a_graph(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    c.node(g, &[], "traps", &[]);
    c.node(g, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.sync(s);
    c.query(s);
    c.upload(x, s);
}

fn seen_by_event(c: &mut Case<'_>) {
    let (s, e) = (c.stream(1), c.event(0));
    let bad = c.kernel("illegal", &[]);
    // Held, so that the fault happens after the calls that queue behind it.
    let gate = c.gate(s);
    c.launch(&bad, s);
    c.record(e, s);
    c.open(gate);
    c.event_sync(e);
    c.event_query(e);
    c.elapsed(e, e);
    c.event(0);
}

fn seen_by_other_streams(c: &mut Case<'_>) {
    let (s, t) = (c.stream(1), c.stream(1));
    let bad = c.kernel("illegal", &[]);
    c.launch(&bad, s);
    c.sync(s);
    c.query(t);
    c.sync(t);
    c.stream(1);
    c.alloc(64);
}

fn callback_after_it(c: &mut Case<'_>) {
    let s = c.stream(1);
    let bad = c.kernel("illegal", &[]);
    let gate = c.gate(s);
    c.launch(&bad, s);
    c.callback(s, HostAct::Note(5));
    c.open(gate);
    c.sync(s);
    c.log_comes("status, note", 2);
}

fn what_still_works(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[0]), c.graph());
    let bad = c.kernel("illegal", &[]);
    c.launch(&bad, s);
    c.sync(s);
    c.current();
    c.context_device();
    c.attribute(2, m);
    c.limit(0);
    c.context_flags();
    c.get_priority(s);
    c.get_flags(s);
    c.status(s);
    c.graph();
    c.add_empty(g, &[]);
    c.instantiate(g, 0);
    c.primary_state();
    c.begin(s, 0);
    c.free(m);
}
