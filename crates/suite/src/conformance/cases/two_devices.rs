//! Two devices: who reaches whose memory, copies between them, order across them, and graphs of both.

use super::super::case::{Case, HostAct};
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Fill};
use super::super::verbs_texture::{Over, place};
use super::conditions::IF;
use dacapo_driver::types::*;

super::list! { "two";
    who_reaches_whom, access_by_contexts, kernel_with_access, access_comes_before_or_after_memory, variable_of_a_module, pool_that_gives_access,
    pool_access_by_its_owner, mapped_memory, copies_need_no_access, copy_between_contexts_by_name, copy_that_names_the_wrong_context,
    copies_wait_as_others_do, memory_of_a_stream_of_the_other, freed_while_the_other_is_current, pointer_attributes, pinned_memory_for_both,
    event_on_the_other_stream, wait_for_the_other, waits_of_the_host, legacy_streams_are_apart, function_on_the_other_stream,
    launch_while_the_other_is_current, stream_attributes, capture_over_both, capture_left_open_on_the_other, graph_of_both,
    graph_launched_on_the_other, sets_and_copies_as_nodes, update_to_the_other, body_of_both, memory_of_a_graph_for_the_other,
    texture_over_the_others_memory, host_functions_of_both, words_with_access,
}

const DEVICE: u32 = CU_MEM_LOCATION_TYPE_DEVICE;

/// Memory with this word in it on the other device.
pub(super) fn there(c: &mut Case<'_>, word: u32) -> u64 {
    c.on(1);
    let m = c.words(&[word]);
    c.on(0);
    m
}

/// Lets device 0 reach for memory of device 1.
pub(super) fn reach(c: &mut Case<'_>) {
    let other = c.context_of(1);
    c.enable_peer(other, 0);
}

/// A kernel of the device that the case is on adds to a word, which is read back.
pub(super) fn add_here(c: &mut Case<'_>, word: u64) {
    let (s, k) = (c.stream(1), c.kernel("add", &[P(word), N(1)]));
    c.launch(&k, s);
    c.sync(s);
    c.read(word, 1);
}

fn who_reaches_whom(c: &mut Case<'_>) {
    for (device, other) in [(0, 1), (1, 0), (0, 0), (1, 1), (0, 2)] {
        c.can_reach(device, other);
        for attribute in 0..=5 {
            c.p2p(attribute, device, other);
        }
    }
    c.context_device();
    c.on(1);
    c.context_device();
}

fn access_by_contexts(c: &mut Case<'_>) {
    let (here, other) = (c.context, c.context_of(1));
    c.enable_peer(here, 0);
    c.disable_peer(other);
    c.enable_peer(other, 1);
    c.enable_peer(other, 0);
    c.enable_peer(other, 0);
    c.disable_peer(other);
    c.disable_peer(other);
    // Another context of the same device.
    let second = c.new_context(0);
    c.enable_peer(here, 0);
    c.set_current(here);
    c.destroy(second);
}

fn kernel_with_access(c: &mut Case<'_>) {
    let m = there(c, 5);
    reach(c);
    add_here(c, m);
    c.on(1);
    add_here(c, m);
}

fn access_comes_before_or_after_memory(c: &mut Case<'_>) {
    let before = there(c, 1);
    reach(c);
    let after = there(c, 2);
    add_here(c, before);
    add_here(c, after);
}

fn variable_of_a_module(c: &mut Case<'_>) {
    const VARIABLE: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .u32 word = 9;\n";
    c.on(1);
    let module = c.load("a variable", VARIABLE);
    let word = c.global(module, "word");
    c.on(0);
    reach(c);
    add_here(c, word);
    c.on(1);
    c.destroy(module);
}

fn pool_that_gives_access(c: &mut Case<'_>) {
    c.on(1);
    let s = c.stream(1);
    let pool = c.default_pool_of(1);
    for device in [0, 1] {
        c.pool_access_at(pool, place(DEVICE, device));
    }
    let m = c.alloc_async(4, s);
    c.set32(m, 7, 1, s);
    c.sync(s);
    c.set_pool_access_at(pool, place(DEVICE, 0), 3);
    c.pool_access_at(pool, place(DEVICE, 0));
    c.on(0);
    add_here(c, m);
    c.set_pool_access_at(pool, place(DEVICE, 0), 1);
    c.set_pool_access_at(pool, place(DEVICE, 2), 3);
    c.set_pool_access_at(pool, place(DEVICE, 0), 0);
    c.pool_access_at(pool, place(DEVICE, 0));
    c.on(1);
    c.free_async(m, s);
    c.sync(s);
}

fn pool_access_by_its_owner(c: &mut Case<'_>) {
    let pool = c.default_pool_of(1);
    c.set_pool_access_at(pool, place(DEVICE, 1), 0);
    c.pool_access_at(pool, place(DEVICE, 1));
    c.set_pool_access_at(pool, place(DEVICE, 1), 3);
    let current = c.current_pool_of(1);
    c.say(format!("the current one: {}", pool == current));
}

fn mapped_memory(c: &mut Case<'_>) {
    c.on(1);
    let bytes = c.granularity(0);
    let (physical, at) = (c.physical(bytes), c.reserve(bytes, 0));
    c.map(at, bytes, 0, physical);
    c.access(at, bytes, 3);
    c.write(at, &[3]);
    c.on(0);
    c.access(at, bytes, 3);
    add_here(c, at);
    c.on(1);
    add_here(c, at);
    c.unmap(at, bytes);
    c.address_free(at, bytes);
    c.release_physical(physical);
}

fn copies_need_no_access(c: &mut Case<'_>) {
    let (far, near, s) = (there(c, 11), c.words(&[0]), c.stream(1));
    c.d_to_d(near, far, 4, s);
    c.sync(s);
    c.read(near, 1);
    c.write(near, &[12]);
    c.copy(far, near, 4, s);
    c.sync(s);
    c.read(far, 1);
    c.copy_now(near, far, 4);
    c.copy_3d(&Copy3::flat(CopyEnd::Dev(far), CopyEnd::Any(near), 4), s);
    c.sync(s);
    // On a stream of the other.
    c.on(1);
    let t = c.stream(1);
    c.d_to_d(far, near, 4, t);
    c.sync(t);
    c.read(far, 1);
    let host = c.pinned(4, 0);
    c.d_to_h(host, near, 4, t);
    c.sync(t);
    c.peek(host, 1);
}

fn copy_between_contexts_by_name(c: &mut Case<'_>) {
    let (here, other) = (c.context, c.context_of(1));
    let (far, near, s) = (there(c, 21), c.words(&[0, 0]), c.stream(1));
    c.copy_peer(near, here, far, other, 4, s);
    c.sync(s);
    c.read(near, 1);
    c.copy_peer_now(far, other, near, here, 4);
    c.copy_peer(near + 4, here, near, here, 4, s);
    c.sync(s);
    c.read(near, 2);
    // With access, and on a stream of the other.
    reach(c);
    c.on(1);
    let t = c.stream(1);
    c.copy_peer(far, other, near + 4, here, 4, t);
    c.sync(t);
    c.read(far, 1);
}

fn copy_that_names_the_wrong_context(c: &mut Case<'_>) {
    let (here, other) = (c.context, c.context_of(1));
    let (far, near, s) = (there(c, 31), c.words(&[0]), c.stream(1));
    c.copy_peer(near, other, far, here, 4, s);
    c.copy_peer(near, here, far, here, 4, s);
    c.copy_peer(near, CUcontext::NULL, far, other, 4, s);
    c.copy_peer(near, here, far, other, 8, s);
    c.sync(s);
    c.read(near, 1);
}

fn copies_wait_as_others_do(c: &mut Case<'_>) {
    let (here, other) = (c.context, c.context_of(1));
    c.on(1);
    let (far, t) = (c.words(&[1]), c.stream(1));
    let k = c.kernel("add", &[P(far), N(1)]);
    c.on(0);
    let (near, s) = (c.words(&[7]), c.stream(1));
    let gate = c.gate(s);
    c.copy_peer(far, other, near, here, 4, s);
    // The other's stream waits for nothing.
    c.on(1);
    c.launch(&k, t);
    c.sync(t);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.read(far, 1);
}

fn memory_of_a_stream_of_the_other(c: &mut Case<'_>) {
    c.on(1);
    let t = c.stream(1);
    c.on(0);
    let m = c.alloc_async(4, t);
    c.attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, m);
    c.set32(m, 5, 1, t);
    c.sync(t);
    c.read(m, 1);
    let s = c.stream(1);
    c.free_async(m, s);
    c.sync(s);
    let pool = c.default_pool_of(1);
    let n = c.alloc_from(4, pool, s);
    c.attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, n);
    c.free_async(n, s);
    c.sync(s);
}

fn freed_while_the_other_is_current(c: &mut Case<'_>) {
    let m = there(c, 1);
    c.free(m);
    c.free(m);
    let near = c.words(&[2]);
    c.on(1);
    c.free(near);
}

fn pointer_attributes(c: &mut Case<'_>) {
    let (far, near) = (there(c, 1), c.words(&[1]));
    for at in [far, near] {
        for attribute in
            [CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL]
        {
            c.attribute(attribute, at);
        }
        c.range(at);
    }
}

fn pinned_memory_for_both(c: &mut Case<'_>) {
    let host = c.pinned(4, 0);
    c.poke(host, &[1]);
    add_here(c, host);
    c.on(1);
    add_here(c, host);
    c.peek(host, 1);
}

fn event_on_the_other_stream(c: &mut Case<'_>) {
    let (e, s) = (c.event(0), c.stream(1));
    c.on(1);
    let (f, t) = (c.event(0), c.stream(1));
    c.record(e, t);
    c.record(f, t);
    c.record(e, s);
    c.event_sync(e);
    c.event_sync(f);
    c.elapsed(e, f);
    c.event_query(e);
}

fn wait_for_the_other(c: &mut Case<'_>) {
    c.on(1);
    let (m, t) = (c.words(&[1]), c.stream(1));
    let k = c.kernel("mad1", &[P(m), N(3), N(0)]);
    c.on(0);
    let (s, e) = (c.stream(1), c.event(2));
    let gate = c.gate(s);
    c.record(e, s);
    c.wait(t, e);
    c.on(1);
    c.launch(&k, t);
    c.query(t);
    c.open(gate);
    c.sync(t);
    c.read(m, 1);
}

fn waits_of_the_host(c: &mut Case<'_>) {
    c.on(1);
    let t = c.stream(1);
    let gate = c.gate(t);
    c.on(0);
    // Waits for its own device alone.
    c.context_sync();
    c.query(t);
    c.open(gate);
    c.sync(t);
    c.query(t);
}

fn legacy_streams_are_apart(c: &mut Case<'_>) {
    c.on(1);
    // Both of streams that wait for the legacy stream.
    let t = c.stream(0);
    let gate = c.gate(t);
    c.on(0);
    let m = c.words(&[1]);
    let k = c.kernel("add", &[P(m), N(1)]);
    c.launch(&k, CUstream::NULL);
    c.sync(CUstream::NULL);
    c.query(t);
    c.read(m, 1);
    c.open(gate);
    c.sync(t);
}

fn function_on_the_other_stream(c: &mut Case<'_>) {
    let m = c.words(&[1]);
    let k = c.kernel("add", &[P(m), N(1)]);
    c.on(1);
    let t = c.stream(1);
    c.launch(&k, t);
    c.on(0);
    c.launch(&k, t);
    c.sync(t);
    c.read(m, 1);
}

fn launch_while_the_other_is_current(c: &mut Case<'_>) {
    let (m, s, e) = (c.words(&[1]), c.stream(1), c.event(2));
    let k = c.kernel("add", &[P(m), N(1)]);
    c.on(1);
    c.launch(&k, s);
    c.set32(m, 5, 1, s);
    c.launch(&k, s);
    c.record(e, s);
    c.get_context(s);
    c.get_device(s);
    c.sync(s);
    c.event_query(e);
    c.read(m, 1);
}

fn stream_attributes(c: &mut Case<'_>) {
    let s = c.stream(1);
    c.on(1);
    let t = c.stream(1);
    c.copy_stream_attributes(t, s);
    c.get_device(t);
}

fn capture_over_both(c: &mut Case<'_>) {
    c.on(1);
    let (far, t, back) = (c.words(&[1]), c.stream(1), c.event(2));
    let k = c.kernel("add", &[P(far), N(10)]);
    c.on(0);
    let (near, s, e) = (c.words(&[1]), c.stream(1), c.event(2));
    let l = c.kernel("add", &[P(near), N(1)]);
    c.begin(s, 0);
    c.launch(&l, s);
    c.record(e, s);
    c.wait(t, e);
    c.status(t);
    c.launch(&k, t);
    c.record(back, t);
    c.d_to_d(near, near, 0, s);
    c.wait(s, back);
    c.launch(&l, s);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    for _ in 0..2 {
        c.run_once(x, s);
    }
    c.read(near, 1);
    c.read(far, 1);
}

fn capture_left_open_on_the_other(c: &mut Case<'_>) {
    c.on(1);
    let t = c.stream(1);
    let k = c.kernel("nothing", &[]);
    c.on(0);
    let (s, e) = (c.stream(1), c.event(2));
    c.begin(s, 0);
    c.record(e, s);
    c.wait(t, e);
    c.launch(&k, t);
    c.end_capture(s);
    c.status(t);
    c.sync(t);
}

fn graph_of_both(c: &mut Case<'_>) {
    c.on(1);
    let far = c.words(&[1]);
    let k = c.kernel("mad1", &[P(far), N(2), N(1)]);
    c.on(0);
    let (s, g, near) = (c.stream(1), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad1", &[P(near), N(3), N(1)]);
    let b = c.add_kernel(g, &[a], &k);
    c.node(g, &[b], "mad1", &[P(near), N(5), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(near, 1);
    c.read(far, 1);
    // Launched on the other's stream too.
    c.on(1);
    let t = c.stream(1);
    c.run_once(x, t);
    c.read(near, 1);
    c.read(far, 1);
}

fn graph_launched_on_the_other(c: &mut Case<'_>) {
    let (g, near) = (c.graph(), c.words(&[1]));
    c.node(g, &[], "add", &[P(near), N(1)]);
    let x = c.instantiate(g, 0);
    c.on(1);
    let t = c.stream(1);
    c.upload(x, t);
    c.run_once(x, t);
    c.read(near, 1);
}

fn sets_and_copies_as_nodes(c: &mut Case<'_>) {
    let (far, near, s, g) = (there(c, 1), c.words(&[1]), c.stream(1), c.graph());
    c.on(1);
    let a = c.add_fill(g, &[], &Fill::flat(far, 9, 4, 1));
    c.on(0);
    c.add_copy(g, &[a], &Copy3::flat(CopyEnd::Dev(near), CopyEnd::Dev(far), 4));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(near, 1);
    c.read(far, 1);
}

fn update_to_the_other(c: &mut Case<'_>) {
    let (far, near, s) = (there(c, 1), c.words(&[1, 1]), c.stream(1));
    let g = c.graph();
    let a = c.node(g, &[], "add", &[P(near), N(1)]);
    let fill = c.add_fill(g, &[a], &Fill::flat(near + 4, 9, 4, 1));
    let x = c.instantiate(g, 0);
    c.on(1);
    let k = c.kernel("add", &[P(far), N(1)]);
    c.exec_kernel(x, a, &k);
    c.node_kernel(a, &k);
    c.exec_fill(x, fill, &Fill::flat(far, 8, 4, 1));
    let other = c.graph();
    let b = c.add_kernel(other, &[], &k);
    c.add_fill(other, &[b], &Fill::flat(far, 8, 4, 1));
    c.update(x, other);
    c.on(0);
    c.run_once(x, s);
    c.read(near, 2);
    c.read(far, 1);
}

fn body_of_both(c: &mut Case<'_>) {
    c.on(1);
    let far = c.words(&[1]);
    let k = c.kernel("add", &[P(far), N(1)]);
    c.on(0);
    let (s, g, near) = (c.stream(1), c.graph(), c.words(&[1]));
    let h = c.condition(g, 1, 1);
    let (_, bodies) = c.add_condition(g, &[], h, IF, 1);
    let a = c.node(bodies[0], &[], "add", &[P(near), N(1)]);
    c.add_kernel(bodies[0], &[a], &k);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(near, 1);
    c.read(far, 1);
}

fn memory_of_a_graph_for_the_other(c: &mut Case<'_>) {
    let (s, g, near) = (c.stream(1), c.graph(), c.words(&[4]));
    let (a, m) = c.add_alloc(g, &[], 4);
    let b = c.add_copy(g, &[a], &Copy3::flat(CopyEnd::Dev(m), CopyEnd::Dev(near), 4));
    c.add_free(g, &[b], m);
    let x = c.instantiate(g, 0);
    c.on(1);
    let t = c.stream(1);
    c.run_once(x, t);
    c.on(0);
    c.run_once(x, s);
}

fn texture_over_the_others_memory(c: &mut Case<'_>) {
    c.on(1);
    let far = c.alloc(1024);
    c.on(0);
    c.texture(Over::Linear(far, 1024, CU_AD_FORMAT_UNSIGNED_INT32, 1), 0, 0);
    reach(c);
    c.texture(Over::Linear(far, 1024, CU_AD_FORMAT_UNSIGNED_INT32, 1), 0, 0);
}

fn host_functions_of_both(c: &mut Case<'_>) {
    let (s, e) = (c.stream(1), c.event(2));
    c.on(1);
    let t = c.stream(1);
    c.host(s, HostAct::Note(1));
    c.record(e, s);
    c.wait(t, e);
    c.host(t, HostAct::Note(2));
    c.sync(t);
    c.log("in order");
}

fn words_with_access(c: &mut Case<'_>) {
    let (m, s) = (there(c, 1), c.stream(1));
    reach(c);
    c.write32(s, m, 5, 0);
    c.sync(s);
    c.read(m, 1);
}
