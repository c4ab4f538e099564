//! Data through graphs: kernels, copies, sets, host functions, child graphs, in chains and diamonds.

use super::super::case::{Case, HostAct};
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Fill};

super::list! { "data";
    chain_of_kernels, diamond, copy_1d, copy_rows_on_the_device, copy_rows_to_the_host, copy_rows_from_pageable, copy_layers,
    copy_with_offsets, copy_between_places_unnamed, copy_host_to_host, pageable_source_is_read_at_launch,
    pinned_source_is_read_at_launch, copy_onto_itself, set_bytes, set_halves, set_words, set_rows_of_bytes, set_rows_of_words,
    set_value_wider_than_element, host_nodes_in_a_chain, host_stores_then_copy, host_node_between_kernels, child_graph,
    child_of_a_child, same_child_twice, child_is_a_copy, many_roots_one_join, long_chain, wide_fan, empty_node_joins,
    node_shapes, node_dynamic_shared, params_read_back, destroyed_node_is_skipped, edge_added_later, edge_removed,
    clone_runs_alone, graph_changed_after_instantiate, two_execs_of_one_graph,
}

fn chain_of_kernels(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1]), c.graph());
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let b = c.node(g, &[a], "mad1", &[P(m), N(5), N(2)]);
    c.node(g, &[b], "mad1", &[P(m), N(7), N(3)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
    c.run_once(x, s);
    c.read(m, 1);
}

fn diamond(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1, 0, 0, 0]), c.graph());
    let top = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let left = c.node(g, &[top], "carry", &[P(m + 4), P(m), N(10)]);
    let right = c.node(g, &[top], "carry", &[P(m + 8), P(m), N(20)]);
    let low = c.node(g, &[left, right], "carry", &[P(m + 12), P(m + 4), N(100)]);
    c.node(g, &[low], "count", &[P(m + 12), N(1)]);
    let x = c.instantiate(g, 0);
    for _ in 0..3 {
        c.run_once(x, s);
        c.read(m, 4);
    }
}

fn copy_1d(c: &mut Case<'_>) {
    let (s, from, to, g) = (c.stream(1), c.words(&[1, 2, 3, 4]), c.words(&[0; 4]), c.graph());
    let host = c.pinned(16, 0);
    let a = c.add_copy(g, &[], &Copy3::flat(CopyEnd::Dev(to + 4), CopyEnd::Dev(from), 8));
    let b = c.add_copy(g, &[a], &Copy3::flat(CopyEnd::Host(host), CopyEnd::Dev(to), 16));
    let f = c.add_fill(g, &[b], &Fill::flat(to, 0xabcd, 2, 3));
    c.add_host(g, &[f], HostAct::Read(host + 4));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.peek(host, 4);
    c.read(to, 4);
    c.log("host");
}

fn counting(words: u32) -> Vec<u32> {
    (0..words).collect()
}

fn copy_rows_on_the_device(c: &mut Case<'_>) {
    let (s, from, to, g) = (c.stream(1), c.words(&counting(16)), c.words(&[0; 24]), c.graph());
    // Three words of each of four rows, from rows of four words to rows of six.
    c.add_copy(g, &[], &Copy3::rows(CopyEnd::Dev(to), 24, CopyEnd::Dev(from), 16, 12, 4));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(to, 24);
}

fn copy_rows_to_the_host(c: &mut Case<'_>) {
    let (s, from, g, host) = (c.stream(1), c.words(&counting(16)), c.graph(), c.pinned(64, 0));
    c.add_copy(g, &[], &Copy3::rows(CopyEnd::Host(host), 8, CopyEnd::Dev(from), 16, 8, 4));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.peek(host, 16);
}

fn copy_rows_from_pageable(c: &mut Case<'_>) {
    let (s, to, g, host) = (c.stream(1), c.words(&[0; 16]), c.graph(), c.pageable(64));
    c.poke(host, &counting(16));
    c.add_copy(g, &[], &Copy3::rows(CopyEnd::Dev(to), 16, CopyEnd::Host(host), 8, 8, 4));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(to, 16);
}

fn copy_layers(c: &mut Case<'_>) {
    let (s, from, to, g) = (c.stream(1), c.words(&counting(32)), c.words(&[0; 32]), c.graph());
    // Two layers of two rows of two words out of layers of four rows of four.
    let mut copy = Copy3::rows(CopyEnd::Dev(to), 8, CopyEnd::Dev(from), 16, 8, 2);
    (copy.source_pitch, copy.target_pitch, copy.extent) = ([16, 4], [8, 2], [8, 2, 2]);
    c.add_copy(g, &[], &copy);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(to, 32);
}

fn copy_with_offsets(c: &mut Case<'_>) {
    let (s, from, to, g) = (c.stream(1), c.words(&counting(32)), c.words(&[0; 32]), c.graph());
    let mut copy = Copy3::rows(CopyEnd::Dev(to), 16, CopyEnd::Dev(from), 16, 8, 2);
    (copy.source_pitch, copy.target_pitch) = ([16, 4], [16, 4]);
    (copy.source_at, copy.target_at) = ([4, 1, 1], [8, 2, 0]);
    c.add_copy(g, &[], &copy);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(to, 32);
}

fn copy_between_places_unnamed(c: &mut Case<'_>) {
    let (s, dev, g, host) = (c.stream(1), c.words(&[0; 4]), c.graph(), c.pinned(16, 0));
    c.poke(host, &[5, 6, 7, 8]);
    let a = c.add_copy(g, &[], &Copy3::flat(CopyEnd::Any(dev), CopyEnd::Any(host), 8));
    c.copy_params(a);
    let b = c.add_copy(g, &[a], &Copy3::flat(CopyEnd::Any(host + 8), CopyEnd::Any(dev), 8));
    c.copy_params(b);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(dev, 4);
    c.peek(host, 4);
}

fn copy_host_to_host(c: &mut Case<'_>) {
    let (s, g, one, other) = (c.stream(1), c.graph(), c.pinned(16, 0), c.pinned(16, 0));
    c.poke(one, &[1, 2, 3, 4]);
    c.add_copy(g, &[], &Copy3::flat(CopyEnd::Host(other), CopyEnd::Host(one), 12));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.peek(other, 4);
}

fn source_at_launch(c: &mut Case<'_>, host: u64) {
    let (s, to, g) = (c.stream(1), c.words(&[0]), c.graph());
    c.poke(host, &[1]);
    c.add_copy(g, &[], &Copy3::flat(CopyEnd::Dev(to), CopyEnd::Host(host), 4));
    c.poke(host, &[2]);
    let x = c.instantiate(g, 0);
    c.poke(host, &[3]);
    c.run_once(x, s);
    c.read(to, 1);
    c.poke(host, &[4]);
    c.run_once(x, s);
    c.read(to, 1);
}

fn pageable_source_is_read_at_launch(c: &mut Case<'_>) {
    let host = c.pageable(8);
    source_at_launch(c, host);
}

fn pinned_source_is_read_at_launch(c: &mut Case<'_>) {
    let host = c.pinned(8, 0);
    source_at_launch(c, host);
}

fn copy_onto_itself(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1, 2, 3, 4]), c.graph());
    c.add_copy(g, &[], &Copy3::flat(CopyEnd::Dev(m), CopyEnd::Dev(m), 16));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}

fn set(c: &mut Case<'_>, fill: impl FnOnce(u64) -> Fill) {
    let (s, m, g) = (c.stream(1), c.words(&[0x1111_1111; 16]), c.graph());
    let node = c.add_fill(g, &[], &fill(m));
    c.fill_params(node);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 16);
}

fn set_bytes(c: &mut Case<'_>) {
    set(c, |m| Fill::flat(m + 1, 0xab, 1, 9));
}

fn set_halves(c: &mut Case<'_>) {
    set(c, |m| Fill::flat(m + 2, 0xabcd, 2, 5));
}

fn set_words(c: &mut Case<'_>) {
    set(c, |m| Fill::flat(m + 8, 0xabcd_ef01, 4, 7));
}

fn set_rows_of_bytes(c: &mut Case<'_>) {
    set(c, |m| Fill { rows: 3, pitch: 16, ..Fill::flat(m + 1, 0xab, 1, 6) });
}

fn set_rows_of_words(c: &mut Case<'_>) {
    set(c, |m| Fill { rows: 4, pitch: 16, ..Fill::flat(m + 4, 7, 4, 2) });
}

fn set_value_wider_than_element(c: &mut Case<'_>) {
    set(c, |m| Fill::flat(m, 0x1234_5678, 1, 5));
    set(c, |m| Fill::flat(m, 0x1234_5678, 2, 5));
}

fn host_nodes_in_a_chain(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let mut after = vec![];
    for number in 1..=5 {
        let node = c.add_host(g, &after, HostAct::Note(number));
        after = vec![node];
    }
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.run(x, s);
    c.sync(s);
    c.log("host");
}

fn host_stores_then_copy(c: &mut Case<'_>) {
    let (s, m, g, host) = (c.stream(1), c.words(&[0]), c.graph(), c.pinned(8, 0));
    let a = c.add_host(g, &[], HostAct::Store(host, 41));
    let b = c.add_copy(g, &[a], &Copy3::flat(CopyEnd::Dev(m), CopyEnd::Host(host), 4));
    let d = c.node(g, &[b], "add", &[P(m), N(1)]);
    let e = c.add_copy(g, &[d], &Copy3::flat(CopyEnd::Host(host + 4), CopyEnd::Dev(m), 4));
    c.add_host(g, &[e], HostAct::Read(host + 4));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.log("host");
}

fn host_node_between_kernels(c: &mut Case<'_>) {
    let (s, g, host) = (c.stream(1), c.graph(), c.pinned(8, 2));
    c.poke(host, &[1]);
    let a = c.node(g, &[], "mad1", &[P(host), N(10), N(1)]);
    let b = c.add_host(g, &[a], HostAct::Read(host));
    let d = c.add_host(g, &[b], HostAct::Store(host, 100));
    let e = c.node(g, &[d], "mad1", &[P(host), N(10), N(2)]);
    c.add_host(g, &[e], HostAct::Read(host));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.log("host");
}

fn child_graph(c: &mut Case<'_>) {
    let (s, m, child, g) = (c.stream(1), c.words(&[1]), c.graph(), c.graph());
    let a = c.node(child, &[], "mad1", &[P(m), N(2), N(3)]);
    c.node(child, &[a], "mad1", &[P(m), N(5), N(7)]);
    let first = c.node(g, &[], "mad1", &[P(m), N(10), N(1)]);
    let middle = c.add_child(g, &[first], child);
    c.node(g, &[middle], "mad1", &[P(m), N(10), N(2)]);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn child_of_a_child(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1]));
    let (inner, middle, outer) = (c.graph(), c.graph(), c.graph());
    c.node(inner, &[], "mad1", &[P(m), N(3), N(1)]);
    let a = c.add_child(middle, &[], inner);
    c.node(middle, &[a], "mad1", &[P(m), N(5), N(2)]);
    let b = c.add_child(outer, &[], middle);
    c.add_child(outer, &[b], middle);
    let x = c.instantiate(outer, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn same_child_twice(c: &mut Case<'_>) {
    let (s, m, child, g) = (c.stream(1), c.words(&[1]), c.graph(), c.graph());
    c.node(child, &[], "mad1", &[P(m), N(3), N(1)]);
    let a = c.add_child(g, &[], child);
    let b = c.add_child(g, &[a], child);
    let (one, other) = (c.child_graph(a), c.child_graph(b));
    c.say(format!("one graph: {}", one == other));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn child_is_a_copy(c: &mut Case<'_>) {
    let (s, m, child, g) = (c.stream(1), c.words(&[1]), c.graph(), c.graph());
    c.node(child, &[], "mad1", &[P(m), N(3), N(1)]);
    let node = c.add_child(g, &[], child);
    // Too late for the copy in `g`; the copy itself can still be changed.
    c.node(child, &[], "count", &[P(m), N(1000)]);
    let copy = c.child_graph(node);
    let inside = c.shape(copy);
    c.node(copy, &inside, "mad1", &[P(m), N(5), N(2)]);
    c.destroy(child);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn many_roots_one_join(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[0; 9]), c.graph());
    let roots: Vec<_> = (0..8).map(|at| c.node(g, &[], "mad1", &[P(m + 4 * at), N(2), N(at as u32 + 1)])).collect();
    let add = c.kernel("add", &[P(m), N(100)]).shaped(1, 8);
    c.add_kernel(g, &roots, &add);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.run_once(x, s);
    c.read(m, 9);
}

fn long_chain(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[0]), c.graph());
    let mut after = vec![];
    for step in 0..40 {
        let node = c.node(g, &after, "mad1", &[P(m), N(3), N(step)]);
        after = vec![node];
    }
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn wide_fan(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[0]), c.graph());
    let root = c.add_empty(g, &[]);
    let leaves: Vec<_> = (0..40).map(|at| c.node(g, &[root], "count", &[P(m), N(1 << (at % 8))])).collect();
    c.node(g, &leaves, "mad1", &[P(m), N(2), N(1)]);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn empty_node_joins(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[0, 0]), c.graph());
    let a = c.node(g, &[], "count", &[P(m), N(1)]);
    let b = c.node(g, &[], "count", &[P(m), N(2)]);
    let join = c.add_empty(g, &[a, b]);
    c.node(g, &[join], "carry", &[P(m + 4), P(m), N(10)]);
    c.node(g, &[join], "count", &[P(m + 4), N(0)]);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn node_shapes(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[0; 6]), c.graph());
    let mut kernel = c.kernel("shape", &[P(m)]);
    (kernel.grid, kernel.block) = ([3, 2, 4], [8, 4, 2]);
    let node = c.add_kernel(g, &[], &kernel);
    c.kernel_params(node);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 6);
}

fn node_dynamic_shared(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[0; 4]), c.graph());
    let kernel = c.kernel("shared_sum", &[P(m)]).shaped(4, 64).with_shared(256);
    let node = c.add_kernel(g, &[], &kernel);
    c.kernel_params(node);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}

fn params_read_back(c: &mut Case<'_>) {
    let (m, g) = (c.words(&[0; 16]), c.graph());
    let kernel = c.kernel("add", &[P(m), N(1)]).shaped(2, 8);
    let k = c.add_kernel(g, &[], &kernel);
    let f = c.add_fill(g, &[], &Fill { rows: 2, pitch: 32, ..Fill::flat(m, 5, 2, 4) });
    let w = c.add_copy(g, &[], &Copy3::rows(CopyEnd::Dev(m), 16, CopyEnd::Dev(m + 32), 16, 8, 2));
    c.kernel_params(k);
    c.fill_params(f);
    c.copy_params(w);
    let other = c.kernel("count", &[P(m), N(1)]);
    c.node_kernel(k, &other);
    c.kernel_params(k);
}

fn destroyed_node_is_skipped(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1]), c.graph());
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let b = c.node(g, &[a], "mad1", &[P(m), N(5), N(2)]);
    let d = c.node(g, &[b], "mad1", &[P(m), N(7), N(3)]);
    c.destroy_node(b);
    c.shape(g);
    c.connect(g, &[a], &[d]);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn edge_added_later(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1]), c.graph());
    let b = c.node(g, &[], "mad1", &[P(m), N(5), N(2)]);
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    c.connect(g, &[a], &[b]);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn edge_removed(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1, 1]), c.graph());
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let b = c.node(g, &[a], "mad1", &[P(m + 4), N(5), N(2)]);
    c.disconnect(g, &[a], &[b]);
    c.disconnect(g, &[a], &[b]);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 2);
}

fn clone_runs_alone(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1]), c.graph());
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let clone = c.clone_graph(g);
    let in_clone = c.find_in_clone(a, clone);
    let other = c.kernel("mad1", &[P(m), N(10), N(0)]);
    c.node_kernel(in_clone, &other);
    let (x, y) = (c.instantiate(g, 0), c.instantiate(clone, 0));
    c.destroy(g);
    c.run_once(x, s);
    c.read(m, 1);
    c.run_once(y, s);
    c.read(m, 1);
    c.shape(clone);
}

fn graph_changed_after_instantiate(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1]), c.graph());
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    c.node(g, &[a], "mad1", &[P(m), N(5), N(2)]);
    c.run_once(x, s);
    c.read(m, 1);
    let y = c.instantiate(g, 0);
    c.run_once(y, s);
    c.read(m, 1);
    c.run_once(x, s);
    c.read(m, 1);
}

fn two_execs_of_one_graph(c: &mut Case<'_>) {
    let (s, m, g) = (c.stream(1), c.words(&[1]), c.graph());
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let (x, y) = (c.instantiate(g, 0), c.instantiate(g, 0));
    let other = c.kernel("mad1", &[P(m), N(10), N(7)]);
    c.exec_kernel(y, a, &other);
    c.run(x, s);
    c.run(y, s);
    c.run(x, s);
    c.sync(s);
    c.read(m, 1);
}
