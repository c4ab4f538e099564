//! Contexts: the stack of a thread, several of them, limits and flags; the names of codes.

use super::super::case::{Case, HostAct};
use super::super::verbs::Arg::*;
use dacapo_driver::types::*;

super::list! { "context";
    stack_of_contexts, set_current_replaces_the_top, popped_to_nothing, no_context, two_contexts_and_a_stream, memory_across_contexts, destroyed_while_current,
    destroyed_from_elsewhere, primary_counts, primary_flags, flags_read_back, limits_set, limits_refused, api_versions, per_thread_current,
    event_of_another_context, names_and_texts_of_codes, stream_of_another_context, graph_across_contexts, device_of_a_context,
}

fn stack_of_contexts(c: &mut Case<'_>) {
    let primary = c.context;
    c.current();
    let one = c.new_context(0);
    let two = c.new_context(0);
    c.current();
    c.push(primary);
    c.current();
    for _ in 0..4 {
        c.pop();
        c.current();
    }
    c.set_current(primary);
    c.destroy(one);
    c.destroy(two);
    c.current();
}

fn set_current_replaces_the_top(c: &mut Case<'_>) {
    let primary = c.context;
    let one = c.new_context(0);
    c.set_current(primary);
    c.pop();
    c.current();
    c.pop();
    c.set_current(primary);
    c.destroy(one);
}

fn popped_to_nothing(c: &mut Case<'_>) {
    let primary = c.context;
    c.pop();
    c.current();
    c.pop();
    c.context_device();
    c.push(primary);
    c.current();
}

fn no_context(c: &mut Case<'_>) {
    let primary = c.context;
    c.set_current(CUcontext::NULL);
    c.current();
    c.alloc(64);
    c.stream(1);
    c.event(0);
    c.context_sync();
    c.limit(0);
    c.context_flags();
    let g = c.graph();
    c.add_empty(g, &[]);
    c.instantiate(g, 0);
    c.default_pool();
    c.set_current(primary);
}

fn two_contexts_and_a_stream(c: &mut Case<'_>) {
    let (primary, m, s) = (c.context, c.words(&[1]), c.stream(1));
    let add = c.kernel("add", &[P(m), N(1)]);
    let other = c.new_context(0);
    // The stream's context is not current.
    c.launch(&add, s);
    c.get_context(s);
    c.sync(s);
    c.query(s);
    c.set_current(primary);
    c.read(m, 1);
    c.destroy(other);
}

fn memory_across_contexts(c: &mut Case<'_>) {
    let (primary, m) = (c.context, c.words(&[7]));
    let other = c.new_context(0);
    let n = c.words(&[9]);
    c.read(m, 1);
    c.attribute(CU_POINTER_ATTRIBUTE_CONTEXT, m);
    c.attribute(CU_POINTER_ATTRIBUTE_CONTEXT, n);
    c.copy_now(n, m, 4);
    c.read(n, 1);
    c.free(n);
    c.set_current(primary);
    c.destroy(other);
}

fn destroyed_while_current(c: &mut Case<'_>) {
    let primary = c.context;
    let other = c.new_context(0);
    c.destroy(other);
    c.current();
    c.set_current(primary);
    c.current();
}

fn destroyed_from_elsewhere(c: &mut Case<'_>) {
    let primary = c.context;
    let other = c.new_context(0);
    c.set_current(primary);
    c.destroy(other);
    c.current();
    c.alloc(64);
}

fn primary_counts(c: &mut Case<'_>) {
    c.primary_state();
    c.primary_retain();
    c.primary_retain();
    c.primary_state();
    c.primary_release();
    c.primary_release();
    c.primary_state();
    c.current();
}

fn primary_flags(c: &mut Case<'_>) {
    c.primary_state();
    c.primary_set_flags(CU_CTX_SCHED_YIELD);
    c.primary_state();
    c.primary_set_flags(0x80);
    c.primary_set_flags(0);
    c.primary_state();
}

fn flags_read_back(c: &mut Case<'_>) {
    let primary = c.context;
    for flags in [0, 1, 2, 4, 8, 16, 3, 0x100] {
        let context = c.new_context(flags);
        if !context.is_null() {
            c.context_flags();
            c.set_current(primary);
            c.destroy(context);
        }
    }
}

fn limits_set(c: &mut Case<'_>) {
    let primary = c.context;
    // In a context of its own: limits stay.
    let other = c.new_context(0);
    for (limit, values) in
        [(0, [2048, 2049, 1]), (1, [1 << 20, 2 << 20, 1]), (2, [16 << 20, 8 << 20, 1]), (5, [32, 128, 64])]
    {
        c.limit(limit);
        for value in values {
            c.set_limit(limit, value);
            c.limit(limit);
        }
    }
    c.set_current(primary);
    c.destroy(other);
}

fn limits_refused(c: &mut Case<'_>) {
    let primary = c.context;
    let other = c.new_context(0);
    for limit in [3, 4, 6, 9, 10, 99] {
        c.limit(limit);
        c.set_limit(limit, 1);
    }
    c.set_current(primary);
    c.destroy(other);
}

fn api_versions(c: &mut Case<'_>) {
    let primary = c.context;
    c.api_version(primary);
    c.api_version(CUcontext::NULL);
    let other = c.new_context(0);
    c.api_version(other);
    c.set_current(primary);
    c.destroy(other);
}

fn per_thread_current(c: &mut Case<'_>) {
    let primary = c.context;
    c.on_another_thread(|c| {
        c.current();
        c.set_current(CUcontext::NULL);
        c.current();
        c.alloc(64);
    });
    c.current();
    c.say(format!("the primary context: {}", primary == c.context));
}

fn event_of_another_context(c: &mut Case<'_>) {
    let (primary, s) = (c.context, c.stream(1));
    let other = c.new_context(0);
    let e = c.event(0);
    let t = c.stream(1);
    c.record(e, s);
    c.record(e, t);
    c.wait(s, e);
    c.sync(s);
    c.event_query(e);
    c.destroy(e);
    c.destroy(t);
    c.set_current(primary);
    c.destroy(other);
}

fn names_and_texts_of_codes(c: &mut Case<'_>) {
    for code in [
        0, 1, 2, 3, 4, 35, 100, 101, 200, 201, 218, 222, 400, 401, 500, 600, 700, 701, 710, 716, 719, 720, 800, 801,
        900, 901, 906, 910, 999, 9999,
    ] {
        c.code_text(code);
    }
}

fn stream_of_another_context(c: &mut Case<'_>) {
    let (primary, m) = (c.context, c.words(&[1]));
    let add = c.kernel("add", &[P(m), N(1)]);
    let other = c.new_context(0);
    let t = c.stream(1);
    c.set_current(primary);
    // The function belongs to this context, the stream to the other.
    c.launch(&add, t);
    c.set32(m, 5, 1, t);
    c.sync(t);
    c.host(t, HostAct::Note(1));
    c.sync(t);
    c.log("host");
    c.read(m, 1);
    c.destroy(t);
    c.destroy(other);
}

fn graph_across_contexts(c: &mut Case<'_>) {
    let (primary, m, g) = (c.context, c.words(&[1]), c.graph());
    c.node(g, &[], "add", &[P(m), N(1)]);
    let other = c.new_context(0);
    let t = c.stream(1);
    let x = c.instantiate(g, 0);
    if !x.is_null() {
        c.run(x, t);
        c.sync(t);
    }
    c.destroy(t);
    c.set_current(primary);
    c.read(m, 1);
    if !x.is_null() {
        c.destroy(x);
    }
    c.destroy(other);
}

fn device_of_a_context(c: &mut Case<'_>) {
    let primary = c.context;
    c.context_device();
    let other = c.new_context(0);
    c.context_device();
    c.set_current(primary);
    c.destroy(other);
}
