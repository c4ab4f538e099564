//! Memory nodes across launches: who allocates, who uses, who frees.

use super::super::case::Case;
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Fill};
use dacapo_driver::types::*;

const MIB: usize = 1 << 20;

super::list! { "memory_node";
    used_and_freed_in_one_graph, allocated_used_freed_by_three_graphs, second_launch_while_it_lives, freed_by_a_stream_then_again,
    freed_by_the_host_then_again, auto_free_lets_it_launch_again, auto_free_keeps_the_address, address_is_the_same_each_launch,
    two_live_ones_lie_apart, params_read_back, free_params_read_back, attributes_over_launches, attributes_with_large_memory,
    trim_while_in_use, high_marks_reset, captured_alloc_and_free, captured_alloc_left_alive, exec_destroyed_memory_lives,
    freed_in_a_graph_that_did_not_allocate, freed_twice_in_one_graph, freed_twice_by_graphs, not_in_a_child, not_cloned,
    instantiated_again_after_destroy, pointer_attributes_before_and_after, range_before_and_after, set_and_copied_inside,
    chain_of_allocations, size_zero_and_size_one, used_from_another_stream_by_event, disabled_node, destroyed_graph_keeps_exec,
    parallel_branches_allocate, free_node_of_live_memory_of_a_stream, updated_exec,
}

fn used_and_freed_in_one_graph(c: &mut Case<'_>) {
    let (s, out, g) = (c.stream(1), c.words(&[0]), c.graph());
    let (a, m) = c.add_alloc(g, &[], 4096);
    let b = c.add_fill(g, &[a], &Fill::flat(m, 5, 4, 1024));
    let d = c.node(g, &[b], "mad1", &[P(m), N(3), N(1)]);
    let e = c.node(g, &[d], "carry", &[P(out), P(m), N(100)]);
    c.add_free(g, &[e], m);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(out, 1);
    c.run_once(x, s);
    c.read(out, 1);
}

fn allocated_used_freed_by_three_graphs(c: &mut Case<'_>) {
    let (s, out) = (c.stream(1), c.words(&[0]));
    let (one, two, three) = (c.graph(), c.graph(), c.graph());
    let (a, m) = c.add_alloc(one, &[], 4096);
    c.add_fill(one, &[a], &Fill::flat(m, 7, 4, 1));
    let b = c.node(two, &[], "mad1", &[P(m), N(10), N(1)]);
    c.node(two, &[b], "carry", &[P(out), P(m), N(0)]);
    c.add_free(three, &[], m);
    let (x, y, z) = (c.instantiate(one, 0), c.instantiate(two, 0), c.instantiate(three, 0));
    for _ in 0..2 {
        c.run(x, s);
        c.run(y, s);
        c.run(y, s);
        c.run(z, s);
        c.sync(s);
        c.read(out, 1);
    }
}

fn second_launch_while_it_lives(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (_, m) = c.add_alloc(g, &[], 4096);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run(x, s);
    c.free(m);
    c.run(x, s);
    c.sync(s);
    c.free(m);
    c.free(m);
}

fn freed_by_a_stream_then_again(c: &mut Case<'_>) {
    let (s, out, g) = (c.stream(1), c.words(&[0]), c.graph());
    let (a, m) = c.add_alloc(g, &[], 4096);
    c.add_fill(g, &[a], &Fill::flat(m, 9, 4, 1));
    let x = c.instantiate(g, 0);
    for _ in 0..3 {
        c.run(x, s);
        let carry = c.kernel("carry", &[P(out), P(m), N(1)]);
        c.launch(&carry, s);
        c.free_async(m, s);
    }
    c.sync(s);
    c.read(out, 1);
}

fn freed_by_the_host_then_again(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 64);
    c.add_fill(g, &[a], &Fill::flat(m, 9, 4, 16));
    let x = c.instantiate(g, 0);
    for _ in 0..2 {
        c.run_once(x, s);
        c.read(m, 16);
        c.free(m);
    }
}

fn auto_free_lets_it_launch_again(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 4096);
    c.add_fill(g, &[a], &Fill::flat(m, 3, 4, 1));
    let x = c.instantiate(g, u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    c.exec_flags(x);
    for _ in 0..3 {
        c.run_once(x, s);
        c.read(m, 1);
    }
    c.graph_memory();
    c.destroy(x);
    c.read(m, 1);
    c.free(m);
}

fn auto_free_keeps_the_address(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 4096);
    let (b, n) = c.add_alloc(g, &[a], 4096);
    c.add_fill(g, &[b], &Fill::flat(m, 3, 4, 1));
    c.same("two live allocations", m, n);
    let x = c.instantiate(g, 1);
    c.run(x, s);
    c.run(x, s);
    c.free_async(m, s);
    c.run(x, s);
    c.sync(s);
    c.free(m);
    c.free(n);
}

fn address_is_the_same_each_launch(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 64);
    let f = c.add_fill(g, &[a], &Fill::flat(m, 1, 4, 16));
    c.node(g, &[f], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 1);
    for _ in 0..3 {
        c.run_once(x, s);
        // The address that the node told at first, every time.
        c.read(m, 2);
    }
    c.free(m);
}

fn two_live_ones_lie_apart(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 64);
    let (b, n) = c.add_alloc(g, &[], 64);
    let f = c.add_fill(g, &[a, b], &Fill::flat(m, 1, 4, 16));
    c.add_fill(g, &[f], &Fill::flat(n, 2, 4, 16));
    c.same("two", m, n);
    c.say(format!("aligned to 512: {} {}", m.is_multiple_of(512), n.is_multiple_of(512)));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 16);
    c.read(n, 16);
    c.free(m);
    c.free(n);
}

fn params_read_back(c: &mut Case<'_>) {
    let g = c.graph();
    for bytes in [1, 4096, 3 * MIB] {
        let (node, _) = c.add_alloc(g, &[], bytes);
        c.alloc_node_params(node);
        c.node_type(node);
    }
}

fn free_params_read_back(c: &mut Case<'_>) {
    let g = c.graph();
    let (a, m) = c.add_alloc(g, &[], 4096);
    let f = c.add_free(g, &[a], m);
    c.free_node_address(f);
    c.free_node_address(a);
    c.alloc_node_params(f);
    c.node_type(f);
}

fn attributes_over_launches(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    c.graph_memory();
    let (a, m) = c.add_alloc(g, &[], 4096);
    c.add_free(g, &[a], m);
    c.graph_memory();
    let x = c.instantiate(g, 0);
    c.graph_memory();
    for _ in 0..2 {
        c.run_once(x, s);
        c.graph_memory();
    }
    c.destroy(x);
    c.graph_memory();
    c.destroy(g);
    c.graph_memory();
    c.trim_graph_memory();
    c.graph_memory();
}

fn attributes_with_large_memory(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 40 * MIB);
    let (b, n) = c.add_alloc(g, &[a], 20 * MIB);
    let d = c.add_free(g, &[b], m);
    c.add_free(g, &[d], n);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.graph_memory();
    c.destroy(x);
    c.trim_graph_memory();
    c.graph_memory();
}

fn trim_while_in_use(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 4096);
    c.add_fill(g, &[a], &Fill::flat(m, 8, 4, 1));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.trim_graph_memory();
    c.graph_memory();
    c.read(m, 1);
    c.free(m);
    c.graph_memory();
    c.trim_graph_memory();
    c.graph_memory();
    c.destroy(x);
    c.trim_graph_memory();
    c.graph_memory();
}

fn high_marks_reset(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 4096);
    c.add_free(g, &[a], m);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.destroy(x);
    c.trim_graph_memory();
    c.graph_memory();
    c.set_graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, 0);
    c.set_graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, 0);
    c.set_graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, 0);
    c.graph_memory();
}

fn captured_alloc_and_free(c: &mut Case<'_>) {
    let (s, out) = (c.stream(1), c.words(&[0]));
    c.kernel("carry", &[]);
    c.begin(s, 0);
    let m = c.alloc_async(64, s);
    c.set32(m, 6, 16, s);
    let carry = c.kernel("carry", &[P(out), P(m), N(1)]);
    c.launch(&carry, s);
    c.free_async(m, s);
    let g = c.end_capture(s);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.read(out, 1);
}

fn captured_alloc_left_alive(c: &mut Case<'_>) {
    let s = c.stream(1);
    c.begin(s, 0);
    let m = c.alloc_async(64, s);
    c.set32(m, 6, 16, s);
    let g = c.end_capture(s);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 16);
    c.run(x, s);
    c.free_async(m, s);
    c.run(x, s);
    c.sync(s);
    c.free(m);
}

fn exec_destroyed_memory_lives(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 64);
    c.add_fill(g, &[a], &Fill::flat(m, 4, 4, 16));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.destroy(x);
    c.destroy(g);
    c.read(m, 16);
    let add = c.kernel("add", &[P(m), N(1)]).shaped(1, 16);
    c.launch(&add, s);
    c.sync(s);
    c.read(m, 16);
    c.free(m);
}

fn freed_in_a_graph_that_did_not_allocate(c: &mut Case<'_>) {
    let (s, one, two) = (c.stream(1), c.graph(), c.graph());
    let (_, m) = c.add_alloc(one, &[], 64);
    c.add_free(two, &[], m);
    let (x, y) = (c.instantiate(one, 0), c.instantiate(two, 0));
    c.run(y, s);
    c.run(x, s);
    c.run(y, s);
    c.run(y, s);
    c.run(x, s);
    c.run(y, s);
    c.sync(s);
}

fn freed_twice_in_one_graph(c: &mut Case<'_>) {
    let g = c.graph();
    let (a, m) = c.add_alloc(g, &[], 64);
    let b = c.add_free(g, &[a], m);
    c.add_free(g, &[b], m);
    c.add_free(g, &[a], m);
    c.shape(g);
    c.instantiate(g, 0);
}

fn freed_twice_by_graphs(c: &mut Case<'_>) {
    let (s, one, two) = (c.stream(1), c.graph(), c.graph());
    let (a, m) = c.add_alloc(one, &[], 64);
    c.add_free(one, &[a], m);
    c.add_free(two, &[], m);
    let (x, y) = (c.instantiate(one, 0), c.instantiate(two, 0));
    c.run(x, s);
    c.run(y, s);
    c.sync(s);
}

fn not_in_a_child(c: &mut Case<'_>) {
    let (child, g) = (c.graph(), c.graph());
    let (a, m) = c.add_alloc(child, &[], 64);
    c.add_free(child, &[a], m);
    c.add_child(g, &[], child);
    c.shape(g);
}

fn not_cloned(c: &mut Case<'_>) {
    let g = c.graph();
    let (a, m) = c.add_alloc(g, &[], 64);
    c.add_free(g, &[a], m);
    c.clone_graph(g);
    c.destroy_node(a);
    let e = c.add_empty(g, &[]);
    c.connect(g, &[e], &[a]);
    c.disconnect(g, &[e], &[a]);
    c.shape(g);
}

fn instantiated_again_after_destroy(c: &mut Case<'_>) {
    let (s, out, g) = (c.stream(1), c.words(&[0]), c.graph());
    let (a, m) = c.add_alloc(g, &[], 64);
    let f = c.add_fill(g, &[a], &Fill::flat(m, 4, 4, 16));
    let k = c.node(g, &[f], "carry", &[P(out), P(m), N(1)]);
    c.add_free(g, &[k], m);
    let x = c.instantiate(g, 0);
    c.instantiate(g, 0);
    c.run_once(x, s);
    c.destroy(x);
    let y = c.instantiate(g, 0);
    c.run_once(y, s);
    c.read(out, 1);
}

fn pointer_attributes_before_and_after(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (_, m) = c.add_alloc(g, &[], 4096);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m);
    let x = c.instantiate(g, 0);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m);
    c.run_once(x, s);
    for number in [2, 3, 8, 9, 11, 12, 13] {
        c.attribute(number, m);
    }
    c.free(m);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m);
}

fn range_before_and_after(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (_, m) = c.add_alloc(g, &[], 1000);
    c.range(m);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.range(m);
    c.range(m + 999);
    c.free(m);
    c.range(m);
}

fn set_and_copied_inside(c: &mut Case<'_>) {
    let (s, g, host) = (c.stream(1), c.graph(), c.pinned(64, 0));
    let (a, m) = c.add_alloc(g, &[], 64);
    let f = c.add_fill(g, &[a], &Fill::flat(m, 0x5a, 1, 64));
    let k = c.add_copy(g, &[f], &Copy3::flat(CopyEnd::Host(host), CopyEnd::Dev(m), 32));
    c.add_free(g, &[k], m);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.peek(host, 16);
}

fn chain_of_allocations(c: &mut Case<'_>) {
    let (s, out, g) = (c.stream(1), c.words(&[0; 4]), c.graph());
    let (mut after, mut first) = (vec![], 0);
    for at in 0..4u32 {
        let (a, m) = c.add_alloc(g, &after, 4096);
        let f = c.add_fill(g, &[a], &Fill::flat(m, at + 1, 4, 4));
        let k = c.node(g, &[f], "carry", &[P(out + 4 * u64::from(at)), P(m), N(10)]);
        let free = c.add_free(g, &[k], m);
        after = vec![free];
        first = if at == 0 { m } else { first };
        c.same("as the first", first, m);
    }
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(out, 4);
    c.graph_memory();
}

fn size_zero_and_size_one(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    c.add_alloc(g, &[], 0);
    let (a, m) = c.add_alloc(g, &[], 1);
    c.add_fill(g, &[a], &Fill::flat(m, 7, 1, 1));
    c.add_fill(g, &[a], &Fill::flat(m, 7, 1, 2));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.range(m);
    c.free(m);
}

fn used_from_another_stream_by_event(c: &mut Case<'_>) {
    let (s, t, g, e, out) = (c.stream(1), c.stream(1), c.graph(), c.event(2), c.words(&[0]));
    let (a, m) = c.add_alloc(g, &[], 64);
    c.add_fill(g, &[a], &Fill::flat(m, 4, 4, 16));
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.record(e, s);
    c.wait(t, e);
    let carry = c.kernel("carry", &[P(out), P(m), N(1)]);
    c.launch(&carry, t);
    c.free_async(m, t);
    c.sync(t);
    c.read(out, 1);
    c.run(x, t);
    c.sync(t);
    c.free(m);
}

fn disabled_node(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (a, m) = c.add_alloc(g, &[], 64);
    let f = c.add_fill(g, &[a], &Fill::flat(m, 4, 4, 16));
    let d = c.add_free(g, &[f], m);
    let x = c.instantiate(g, 0);
    c.enable(x, a, 0);
    c.enable(x, d, 0);
    c.is_enabled(x, a);
    c.enable(x, f, 0);
    c.run_once(x, s);
}

fn destroyed_graph_keeps_exec(c: &mut Case<'_>) {
    let (s, out, g) = (c.stream(1), c.words(&[0]), c.graph());
    let (a, m) = c.add_alloc(g, &[], 64);
    let f = c.add_fill(g, &[a], &Fill::flat(m, 4, 4, 16));
    let k = c.node(g, &[f], "carry", &[P(out), P(m), N(1)]);
    c.add_free(g, &[k], m);
    let x = c.instantiate(g, 0);
    c.destroy(g);
    c.run_once(x, s);
    c.run_once(x, s);
    c.read(out, 1);
}

fn parallel_branches_allocate(c: &mut Case<'_>) {
    let (s, out, g) = (c.stream(1), c.words(&[0; 4]), c.graph());
    let mut frees = vec![];
    for at in 0..4u32 {
        let (a, m) = c.add_alloc(g, &[], 4096);
        let f = c.add_fill(g, &[a], &Fill::flat(m, at + 1, 4, 4));
        let k = c.node(g, &[f], "carry", &[P(out + 4 * u64::from(at)), P(m), N(10)]);
        frees.push(c.add_free(g, &[k], m));
    }
    let add = c.kernel("add", &[P(out), N(100)]).shaped(1, 4);
    c.add_kernel(g, &frees, &add);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(out, 4);
}

fn free_node_of_live_memory_of_a_stream(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let m = c.alloc_async(64, s);
    c.sync(s);
    c.add_free(g, &[], m);
    let n = c.alloc(64);
    c.add_free(g, &[], n);
    c.shape(g);
}

fn updated_exec(c: &mut Case<'_>) {
    let (s, g, other) = (c.stream(1), c.graph(), c.graph());
    let (a, m) = c.add_alloc(g, &[], 64);
    let f = c.add_fill(g, &[a], &Fill::flat(m, 4, 4, 16));
    let (b, n) = c.add_alloc(other, &[], 64);
    c.add_fill(other, &[b], &Fill::flat(n, 5, 4, 16));
    let x = c.instantiate(g, 0);
    c.exec_fill(x, f, &Fill::flat(m, 6, 4, 16));
    c.run_once(x, s);
    c.read(m, 16);
    c.free(m);
    // Not launched afterwards: whose memory it would then be is not said anywhere.
    c.update(x, other);
}
