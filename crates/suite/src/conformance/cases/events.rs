//! Events: flags, what a query says before and after, times' signs, reuse.

use super::super::case::Case;
use super::super::verbs::Arg::*;

super::list! { "event";
    never_recorded, query_before_and_after, elapsed_forwards_and_backwards, elapsed_while_held, elapsed_without_timing, elapsed_of_one_event,
    recorded_again_while_held, recorded_in_two_streams, flags, destroyed_while_waited_for, sync_from_another_thread, record_on_the_legacy_stream,
    waits_in_a_chain, external_flags_outside_a_capture, wait_flags, waited_twice, recorded_by_a_graph_twice, node_event_changed_in_template,
    context_record_and_wait, blocking_sync_event,
}

fn never_recorded(c: &mut Case<'_>) {
    let (s, e, f) = (c.stream(1), c.event(0), c.event(2));
    for event in [e, f] {
        c.event_query(event);
        c.event_sync(event);
        c.wait(s, event);
    }
    c.elapsed(e, e);
    c.sync(s);
}

fn query_before_and_after(c: &mut Case<'_>) {
    let (s, e) = (c.stream(1), c.event(0));
    let gate = c.gate(s);
    c.record(e, s);
    c.event_query(e);
    c.event_query(e);
    c.open(gate);
    c.event_sync(e);
    c.event_query(e);
}

fn elapsed_forwards_and_backwards(c: &mut Case<'_>) {
    let (s, e, f, m) = (c.stream(1), c.event(0), c.event(0), c.words(&[0; 64]));
    let add = c.kernel("add", &[P(m), N(1)]).shaped(1, 64);
    c.record(e, s);
    for _ in 0..20 {
        c.launch(&add, s);
    }
    c.record(f, s);
    c.sync(s);
    c.elapsed(e, f);
    c.elapsed(f, e);
}

fn elapsed_while_held(c: &mut Case<'_>) {
    let (s, e, f) = (c.stream(1), c.event(0), c.event(0));
    c.record(e, s);
    let gate = c.gate(s);
    c.record(f, s);
    c.elapsed(e, f);
    c.elapsed(f, e);
    c.open(gate);
    c.sync(s);
    c.elapsed(e, f);
}

fn elapsed_without_timing(c: &mut Case<'_>) {
    let (s, e, f) = (c.stream(1), c.event(0), c.event(2));
    c.record(e, s);
    c.record(f, s);
    c.sync(s);
    c.elapsed(e, f);
    c.elapsed(f, e);
    c.elapsed(f, f);
}

fn elapsed_of_one_event(c: &mut Case<'_>) {
    let (s, e) = (c.stream(1), c.event(0));
    c.record(e, s);
    c.sync(s);
    c.elapsed(e, e);
}

fn recorded_again_while_held(c: &mut Case<'_>) {
    let (s, t, u, e, m) = (c.stream(1), c.stream(1), c.stream(1), c.event(2), c.words(&[0]));
    let gate = c.gate(s);
    c.record(e, s);
    c.wait(u, e);
    c.record(e, t);
    // Its latest record is done; the wait before it is still held.
    c.event_sync(e);
    c.event_query(e);
    let add = c.kernel("add", &[P(m), N(1)]);
    c.launch(&add, u);
    c.query(u);
    c.open(gate);
    c.sync(u);
    c.read(m, 1);
}

fn recorded_in_two_streams(c: &mut Case<'_>) {
    let (s, t, e) = (c.stream(1), c.stream(1), c.event(2));
    c.record(e, t);
    let gate = c.gate(s);
    c.record(e, s);
    c.event_query(e);
    c.sync(t);
    c.event_query(e);
    c.open(gate);
    c.event_sync(e);
}

fn flags(c: &mut Case<'_>) {
    for flags in [0, 1, 2, 3, 4, 7, 8, 0x10] {
        c.event(flags);
    }
}

fn destroyed_while_waited_for(c: &mut Case<'_>) {
    let (s, t, e, m) = (c.stream(1), c.stream(1), c.event(2), c.words(&[0]));
    let gate = c.gate(s);
    c.record(e, s);
    c.wait(t, e);
    c.destroy(e);
    let add = c.kernel("add", &[P(m), N(1)]);
    c.launch(&add, t);
    c.query(t);
    c.open(gate);
    c.sync(t);
    c.read(m, 1);
}

fn sync_from_another_thread(c: &mut Case<'_>) {
    let (s, e, m) = (c.stream(1), c.event(0), c.words(&[0]));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.launch(&add, s);
    c.record(e, s);
    c.on_another_thread(|c| {
        c.event_sync(e);
        c.event_query(e);
        c.read(m, 1);
    });
}

fn record_on_the_legacy_stream(c: &mut Case<'_>) {
    use dacapo_driver::types::CUstream;
    let (s, t, e) = (c.stream(0), c.stream(1), c.event(2));
    let gate = c.gate(s);
    c.record(e, CUstream::NULL);
    c.event_query(e);
    c.wait(t, e);
    c.query(t);
    c.open(gate);
    c.sync(t);
    c.event_query(e);
}

fn waits_in_a_chain(c: &mut Case<'_>) {
    let m = c.words(&[1]);
    let streams: Vec<_> = (0..5).map(|_| c.stream(1)).collect();
    let gate = c.gate(streams[0]);
    for at in 0..5usize {
        let mad = c.kernel("mad1", &[P(m), N(2), N(at as u32)]);
        c.launch(&mad, streams[at]);
        if at < 4 {
            let e = c.event(2);
            c.record(e, streams[at]);
            c.wait(streams[at + 1], e);
        }
    }
    c.query(streams[4]);
    c.open(gate);
    c.sync(streams[4]);
    c.read(m, 1);
}

fn external_flags_outside_a_capture(c: &mut Case<'_>) {
    let (s, e) = (c.stream(1), c.event(0));
    c.record_with(e, s, 0);
    c.record_with(e, s, 1);
    c.record_with(e, s, 2);
    c.wait_with(s, e, 1);
    c.sync(s);
    c.event_query(e);
}

fn wait_flags(c: &mut Case<'_>) {
    let (s, e) = (c.stream(1), c.event(0));
    c.record(e, s);
    for flags in [0, 1, 2, 4] {
        c.wait_with(s, e, flags);
    }
    c.sync(s);
}

fn waited_twice(c: &mut Case<'_>) {
    let (s, t, e, m) = (c.stream(1), c.stream(1), c.event(2), c.words(&[0]));
    let gate = c.gate(s);
    c.record(e, s);
    c.wait(t, e);
    c.wait(t, e);
    let add = c.kernel("add", &[P(m), N(1)]);
    c.launch(&add, t);
    c.open(gate);
    c.sync(t);
    c.read(m, 1);
}

fn recorded_by_a_graph_twice(c: &mut Case<'_>) {
    let (s, g, e, f, m) = (c.stream(1), c.graph(), c.event(0), c.event(0), c.words(&[0]));
    let a = c.add_record(g, &[], e);
    let b = c.node(g, &[a], "add", &[P(m), N(1)]);
    c.add_record(g, &[b], f);
    let x = c.instantiate(g, 0);
    for _ in 0..2 {
        c.run_once(x, s);
        c.event_query(e);
        c.event_query(f);
        c.elapsed(e, f);
    }
    c.record(e, s);
    c.sync(s);
    c.elapsed(f, e);
}

fn node_event_changed_in_template(c: &mut Case<'_>) {
    let (s, g, e, f) = (c.stream(1), c.graph(), c.event(0), c.event(0));
    let a = c.add_record(g, &[], e);
    c.node_record_set(a, f);
    c.record_node_event(a);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.elapsed(f, f);
    c.elapsed(e, e);
    c.wait_node_event(a);
}

fn context_record_and_wait(c: &mut Case<'_>) {
    let (s, e, context) = (c.stream(1), c.event(2), c.context);
    let gate = c.gate(s);
    c.context_record(context, e);
    c.event_query(e);
    c.open(gate);
    c.event_sync(e);
    c.context_wait(context, e);
    c.sync(s);
}

fn blocking_sync_event(c: &mut Case<'_>) {
    let (s, e, m) = (c.stream(1), c.event(3), c.words(&[0]));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.launch(&add, s);
    c.record(e, s);
    c.event_sync(e);
    c.event_query(e);
    c.read(m, 1);
}
