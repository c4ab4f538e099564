//! Host functions and callbacks: their order, what they see, what they may not do.

use super::super::case::{Case, HostAct};
use super::super::verbs::{Arg::*, Copy3, CopyEnd};
use dacapo_driver::types::*;

super::list! { "host";
    order_in_a_stream, sees_the_kernel_before, kernel_sees_its_store, not_before_a_gate, callbacks_and_functions_in_order, callback_gets_success,
    on_the_legacy_stream, on_the_per_thread_stream, calls_the_driver, callback_calls_the_driver, joins_two_streams, event_after_it, copy_after_it_pageable,
    in_a_graph_launched_twice, two_graphs_in_two_streams, function_between_graphs, stream_destroyed_before_it_runs,
}

fn order_in_a_stream(c: &mut Case<'_>) {
    let s = c.stream(1);
    for number in 1..=6 {
        c.host(s, HostAct::Note(number));
    }
    c.sync(s);
    c.log("host");
}

fn sees_the_kernel_before(c: &mut Case<'_>) {
    let (s, host) = (c.stream(1), c.pinned(8, 0));
    for value in [5, 6, 7] {
        let add = c.kernel("add", &[P(host), N(value)]);
        c.launch(&add, s);
        c.host(s, HostAct::Read(host));
    }
    c.sync(s);
    c.log("host");
}

fn kernel_sees_its_store(c: &mut Case<'_>) {
    let (s, host, m) = (c.stream(1), c.pinned(8, 0), c.words(&[0]));
    let carry = c.kernel("carry", &[P(m), P(host), N(1)]);
    c.host(s, HostAct::Store(host, 41));
    c.launch(&carry, s);
    c.sync(s);
    c.read(m, 1);
}

fn not_before_a_gate(c: &mut Case<'_>) {
    let s = c.stream(1);
    let gate = c.gate(s);
    c.host(s, HostAct::Note(1));
    c.query(s);
    c.log("held");
    c.open(gate);
    c.sync(s);
    c.log("after");
}

fn callbacks_and_functions_in_order(c: &mut Case<'_>) {
    let s = c.stream(1);
    c.host(s, HostAct::Note(1));
    c.callback(s, HostAct::Note(2));
    c.host(s, HostAct::Note(3));
    c.callback(s, HostAct::Note(4));
    c.sync(s);
    c.log("host");
}

fn callback_gets_success(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.launch(&add, s);
    c.callback(s, HostAct::Note(77));
    c.launch(&add, s);
    c.sync(s);
    c.log("status, note");
    c.read(m, 1);
}

fn on_the_legacy_stream(c: &mut Case<'_>) {
    let s = c.stream(0);
    let gate = c.gate(s);
    c.host(CUstream::NULL, HostAct::Note(1));
    c.host(CUstream::LEGACY, HostAct::Note(2));
    c.query(CUstream::NULL);
    c.log("held");
    c.open(gate);
    c.sync(CUstream::NULL);
    c.log("after");
}

fn on_the_per_thread_stream(c: &mut Case<'_>) {
    c.host(CUstream::PER_THREAD, HostAct::Note(1));
    c.callback(CUstream::PER_THREAD, HostAct::Note(2));
    c.sync(CUstream::PER_THREAD);
    c.log("host");
}

fn calls_the_driver(c: &mut Case<'_>) {
    let s = c.stream(1);
    c.host(s, HostAct::CallDriver);
    c.sync(s);
    c.log("codes");
    c.query(s);
}

fn callback_calls_the_driver(c: &mut Case<'_>) {
    let s = c.stream(1);
    c.callback(s, HostAct::CallDriver);
    c.sync(s);
    c.log("status, codes");
    c.query(s);
}

fn joins_two_streams(c: &mut Case<'_>) {
    let (s, t, e) = (c.stream(1), c.stream(1), c.event(2));
    let gate = c.gate(t);
    c.host(t, HostAct::Note(1));
    c.record(e, t);
    c.wait(s, e);
    c.host(s, HostAct::Note(2));
    c.open(gate);
    c.sync(s);
    c.log("host");
}

fn event_after_it(c: &mut Case<'_>) {
    let (s, e) = (c.stream(1), c.event(0));
    let gate = c.gate(s);
    c.host(s, HostAct::Note(1));
    c.record(e, s);
    c.event_query(e);
    c.open(gate);
    c.event_sync(e);
    c.log("host");
}

fn copy_after_it_pageable(c: &mut Case<'_>) {
    let (s, host, m) = (c.stream(1), c.pinned(8, 0), c.words(&[9]));
    c.host(s, HostAct::Store(host, 5));
    c.copy_3d(&Copy3::flat(CopyEnd::Dev(m), CopyEnd::Host(host), 4), s);
    c.sync(s);
    c.read(m, 1);
}

fn in_a_graph_launched_twice(c: &mut Case<'_>) {
    let (s, g, host) = (c.stream(1), c.graph(), c.pinned(8, 0));
    let a = c.node(g, &[], "add", &[P(host), N(1)]);
    let b = c.add_host(g, &[a], HostAct::Read(host));
    c.node(g, &[b], "mad1", &[P(host), N(10), N(0)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.run(x, s);
    c.run(x, s);
    c.sync(s);
    c.log("host");
}

fn two_graphs_in_two_streams(c: &mut Case<'_>) {
    let (s, t, g, h) = (c.stream(1), c.stream(1), c.graph(), c.graph());
    let flag = c.flag();
    let a = c.node(g, &[], "gate", &[P(flag)]);
    c.add_host(g, &[a], HostAct::Note(1));
    c.add_host(h, &[], HostAct::Note(2));
    let (x, y) = (c.instantiate(g, 0), c.instantiate(h, 0));
    c.run(x, s);
    c.run(y, t);
    c.sync(t);
    c.log("held");
    c.open(flag);
    c.sync(s);
    c.log("after");
}

fn function_between_graphs(c: &mut Case<'_>) {
    let (s, g, host) = (c.stream(1), c.graph(), c.pinned(8, 0));
    c.node(g, &[], "add", &[P(host), N(1)]);
    let x = c.instantiate(g, 0);
    for _ in 0..3 {
        c.run(x, s);
        c.host(s, HostAct::Read(host));
    }
    c.sync(s);
    c.log("host");
}

fn stream_destroyed_before_it_runs(c: &mut Case<'_>) {
    let (s, e) = (c.stream(1), c.event(2));
    let gate = c.gate(s);
    c.host(s, HostAct::Note(1));
    c.record(e, s);
    c.destroy(s);
    c.open(gate);
    c.event_sync(e);
    c.log("host");
}
