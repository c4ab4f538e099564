//! Streams: what waits for what, priorities, attributes.

use super::super::case::Case;
use super::super::verbs::Arg::*;
use dacapo_driver::types::*;

super::list! { "stream";
    query_while_held, two_streams_do_not_wait, legacy_waits_for_blocking, blocking_waits_for_legacy, per_thread_stream_is_one,
    priority_is_clamped, priority_range, priority_of_defaults, flags_read_back, context_and_device, attribute_priority,
    attribute_sync_policy, attributes_copied, destroyed_with_work, event_orders_two_streams, wait_takes_the_record_before_it,
    wait_on_own_event, three_streams_in_a_ring, context_sync_sees_all, wait_for_event_of_destroyed_stream,
    priority_reaches_captured_nodes, priority_attribute_of_nodes, node_attributes_copied, priority_in_a_launch,
    bad_flags, per_thread_on_two_threads,
}

fn query_while_held(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let gate = c.gate(s);
    let add = c.kernel("add", &[P(m), N(4)]);
    c.launch(&add, s);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.query(s);
    c.read(m, 1);
}

fn two_streams_do_not_wait(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(1), c.stream(1), c.words(&[1]));
    let gate = c.gate(s);
    let add = c.kernel("add", &[P(m), N(4)]);
    c.launch(&add, t);
    c.sync(t);
    c.query(s);
    c.query(t);
    c.read(m, 1);
    c.open(gate);
    c.sync(s);
}

fn legacy_waits_for_blocking(c: &mut Case<'_>) {
    let (s, m, e) = (c.stream(0), c.words(&[1]), c.event(2));
    let gate = c.gate(s);
    let add = c.kernel("add", &[P(m), N(4)]);
    c.launch(&add, CUstream::NULL);
    c.record(e, CUstream::LEGACY);
    c.query(CUstream::NULL);
    c.event_query(e);
    c.open(gate);
    c.event_sync(e);
    c.query(s);
    c.read(m, 1);
}

fn blocking_waits_for_legacy(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(0), c.stream(1), c.words(&[1]));
    let gate = c.gate(CUstream::NULL);
    let (add, mad) = (c.kernel("add", &[P(m), N(4)]), c.kernel("mad1", &[P(m), N(10), N(1)]));
    c.launch(&add, t);
    c.sync(t);
    c.launch(&mad, s);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.read(m, 1);
}

fn per_thread_stream_is_one(c: &mut Case<'_>) {
    let (m, e) = (c.words(&[1]), c.event(2));
    let gate = c.gate(CUstream::PER_THREAD);
    let add = c.kernel("add", &[P(m), N(4)]);
    c.launch(&add, CUstream::PER_THREAD);
    c.record(e, CUstream::PER_THREAD);
    c.event_query(e);
    c.query(CUstream::PER_THREAD);
    c.open(gate);
    c.sync(CUstream::PER_THREAD);
    c.event_query(e);
    c.read(m, 1);
}

fn priority_is_clamped(c: &mut Case<'_>) {
    for wanted in [-100, -6, -5, -3, 0, 1, 100] {
        let s = c.stream_with(1, wanted);
        c.get_priority(s);
    }
}

fn priority_range(c: &mut Case<'_>) {
    c.priority_range();
}

fn priority_of_defaults(c: &mut Case<'_>) {
    let s = c.stream(0);
    for stream in [s, CUstream::NULL, CUstream::LEGACY, CUstream::PER_THREAD] {
        c.get_priority(stream);
    }
}

fn flags_read_back(c: &mut Case<'_>) {
    let (s, t) = (c.stream(0), c.stream(1));
    for stream in [s, t, CUstream::NULL, CUstream::LEGACY, CUstream::PER_THREAD] {
        c.get_flags(stream);
    }
}

fn context_and_device(c: &mut Case<'_>) {
    let s = c.stream(1);
    for stream in [s, CUstream::NULL, CUstream::PER_THREAD] {
        c.get_context(stream);
        c.get_device(stream);
    }
}

fn attribute_priority(c: &mut Case<'_>) {
    let s = c.stream_with(1, -2);
    c.stream_attribute(s, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    c.set_stream_attribute(s, CU_LAUNCH_ATTRIBUTE_PRIORITY, 0);
    c.stream_attribute(s, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    c.get_priority(s);
}

fn attribute_sync_policy(c: &mut Case<'_>) {
    let s = c.stream(1);
    c.stream_attribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
    for policy in [2, 4, 1, 3, 9] {
        c.set_stream_attribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, policy);
        c.stream_attribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
    }
    c.set_stream_attribute(s, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
    c.stream_attribute(s, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
}

fn attributes_copied(c: &mut Case<'_>) {
    let (s, t) = (c.stream(1), c.stream(1));
    c.set_stream_attribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, 3);
    c.copy_stream_attributes(t, s);
    c.stream_attribute(t, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
}

fn destroyed_with_work(c: &mut Case<'_>) {
    let (s, m, e) = (c.stream(1), c.words(&[1]), c.event(2));
    let gate = c.gate(s);
    let add = c.kernel("add", &[P(m), N(4)]);
    c.launch(&add, s);
    c.record(e, s);
    c.destroy(s);
    c.event_query(e);
    c.open(gate);
    c.event_sync(e);
    c.read(m, 1);
}

fn event_orders_two_streams(c: &mut Case<'_>) {
    let (s, t, m, e) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(2));
    let gate = c.gate(s);
    let (first, second) = (c.kernel("mad1", &[P(m), N(3), N(1)]), c.kernel("mad1", &[P(m), N(5), N(2)]));
    c.launch(&first, s);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&second, t);
    c.query(t);
    c.open(gate);
    c.sync(t);
    c.read(m, 1);
}

fn wait_takes_the_record_before_it(c: &mut Case<'_>) {
    let (s, t, u, m, e) = (c.stream(1), c.stream(1), c.stream(1), c.words(&[1]), c.event(2));
    c.record(e, s);
    c.wait(t, e);
    let gate = c.gate(u);
    c.record(e, u);
    let add = c.kernel("add", &[P(m), N(4)]);
    // The wait was for the first record, so the gate does not hold this.
    c.launch(&add, t);
    c.sync(t);
    c.event_query(e);
    c.read(m, 1);
    c.open(gate);
    c.sync(u);
}

fn wait_on_own_event(c: &mut Case<'_>) {
    let (s, m, e) = (c.stream(1), c.words(&[1]), c.event(2));
    let add = c.kernel("add", &[P(m), N(4)]);
    c.launch(&add, s);
    c.record(e, s);
    c.wait(s, e);
    c.launch(&add, s);
    c.sync(s);
    c.read(m, 1);
}

fn three_streams_in_a_ring(c: &mut Case<'_>) {
    let (m, streams) = (c.words(&[1]), [c.stream(1), c.stream(1), c.stream(0)]);
    let events = [c.event(2), c.event(2), c.event(2)];
    for round in 0..6u32 {
        let at = round as usize % 3;
        let mad = c.kernel("mad1", &[P(m), N(3), N(round)]);
        c.launch(&mad, streams[at]);
        c.record(events[at], streams[at]);
        c.wait(streams[(at + 1) % 3], events[at]);
    }
    c.sync(streams[0]);
    c.read(m, 1);
}

fn context_sync_sees_all(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(1), c.stream(0), c.words(&[1, 1]));
    let (a, b) = (c.kernel("add", &[P(m), N(4)]), c.kernel("add", &[P(m + 4), N(5)]));
    c.launch(&a, s);
    c.launch(&b, t);
    c.context_sync();
    c.query(s);
    c.query(t);
    c.read(m, 2);
}

fn wait_for_event_of_destroyed_stream(c: &mut Case<'_>) {
    let (s, t, m, e) = (c.stream(1), c.stream(1), c.words(&[1]), c.event(2));
    let gate = c.gate(s);
    c.record(e, s);
    c.destroy(s);
    c.wait(t, e);
    let add = c.kernel("add", &[P(m), N(4)]);
    c.launch(&add, t);
    c.query(t);
    c.open(gate);
    c.sync(t);
    c.read(m, 1);
}

fn priority_reaches_captured_nodes(c: &mut Case<'_>) {
    let (s, m) = (c.stream_with(1, -3), c.words(&[1]));
    let add = c.kernel("add", &[P(m), N(4)]);
    c.begin(s, 0);
    c.launch(&add, s);
    let g = c.end_capture(s);
    let nodes = c.shape(g);
    c.node_attribute(nodes[0], CU_LAUNCH_ATTRIBUTE_PRIORITY);
    let x = c.instantiate(g, u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    c.exec_flags(x);
    c.run_once(x, s);
    c.read(m, 1);
}

fn priority_attribute_of_nodes(c: &mut Case<'_>) {
    let (m, g) = (c.words(&[1]), c.graph());
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    c.node_attribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    for priority in [-3i32, -5, -6, 1] {
        c.set_node_attribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, u64::from(priority as u32));
        c.node_attribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    }
    let clone = c.clone_graph(g);
    let in_clone = c.find_in_clone(a, clone);
    c.node_attribute(in_clone, CU_LAUNCH_ATTRIBUTE_PRIORITY);
}

fn node_attributes_copied(c: &mut Case<'_>) {
    let (m, g) = (c.words(&[1]), c.graph());
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    let b = c.node(g, &[], "count", &[P(m), N(1)]);
    c.set_node_attribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, u64::from(-2i32 as u32));
    c.set_node_attribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
    c.node_attribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    c.copy_node_attributes(b, a);
    c.node_attribute(b, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    c.node_attribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
}

fn priority_in_a_launch(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let add = c.kernel("add", &[P(m), N(4)]);
    for priority in [-4i32, 0, -40, 40] {
        c.launch_ex(&add, s, &[(CU_LAUNCH_ATTRIBUTE_PRIORITY, u64::from(priority as u32))]);
    }
    c.sync(s);
    c.read(m, 1);
}

fn bad_flags(c: &mut Case<'_>) {
    for flags in [2, 3, 0x80] {
        c.stream(flags);
        c.stream_with(flags, 0);
    }
}

fn per_thread_on_two_threads(c: &mut Case<'_>) {
    let m = c.words(&[1]);
    let gate = c.gate(CUstream::PER_THREAD);
    let add = c.kernel("add", &[P(m), N(4)]);
    c.on_another_thread(|c| {
        c.launch(&add, CUstream::PER_THREAD);
        c.sync(CUstream::PER_THREAD);
        c.query(CUstream::PER_THREAD);
    });
    c.query(CUstream::PER_THREAD);
    c.open(gate);
    c.sync(CUstream::PER_THREAD);
    c.read(m, 1);
}
