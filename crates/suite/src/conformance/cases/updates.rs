//! Updates: parameters between launches and while a launch is held, whole-graph updates, nodes switched off and on.

use super::super::case::{Case, HostAct};
use super::super::verbs::{Arg::*, Copy3, CopyEnd, Fill};
use dacapo_driver::types::*;

super::list! { "update";
    kernel_between_launches, kernel_while_held, kernel_function_and_shape, copy_source_and_size, copy_to_pinned_other_place, copy_to_a_longer_size,
    fill_value_and_width, fill_to_rows, host_function, child_graph, child_of_other_shape, event_of_a_record_node, event_of_a_wait_node,
    exec_from_changed_template, exec_while_held, exec_refused_keeps_the_old, exec_order_of_nodes_made, exec_of_a_diamond, exec_edges_swapped,
    exec_node_types_swapped, exec_from_empty, exec_twice, exec_with_child, exec_of_child_contents_of_other_shape, switched_off_in_the_middle,
    switched_off_and_on_while_held, switched_off_survives_update, switched_off_copy_and_fill, switched_off_join, node_of_another_graph,
    template_set_then_instantiated, clone_node_for_exec, attribute_after_instantiate, kernel_parameters_are_copied, wrong_kind_of_node,
    fill_of_memory_freed_meanwhile, exec_update_with_memcpy_kinds, node_destroyed_in_template,
}

fn kernel_between_launches(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    c.node(g, &[a], "mad1", &[P(m), N(2), N(0)]);
    let x = c.instantiate(g, 0);
    for b in [1, 5, 9] {
        let k = c.kernel("mad1", &[P(m), N(3), N(b)]);
        c.exec_kernel(x, a, &k);
        c.run_once(x, s);
        c.read(m, 1);
    }
}

fn kernel_while_held(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let gate = c.gate(s);
    for value in [10, 100, 1000] {
        c.run(x, s);
        let k = c.kernel("add", &[P(m), N(value)]);
        c.exec_kernel(x, a, &k);
    }
    c.run(x, s);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.read(m, 1);
}

fn kernel_function_and_shape(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1; 8]));
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let wide = c.kernel("add", &[P(m), N(5)]).shaped(2, 4);
    let other = c.kernel("mad1", &[P(m), N(10), N(7)]);
    let bad = c.kernel("add", &[P(m), N(5)]).shaped(1, 2000);
    for k in [wide, other, bad] {
        c.exec_kernel(x, a, &k);
        c.run_once(x, s);
        c.read(m, 8);
    }
    c.kernel_params(a);
}

fn copy_source_and_size(c: &mut Case<'_>) {
    let (s, g, m, n) = (c.stream(1), c.graph(), c.words(&[1, 2, 3, 4]), c.words(&[0; 4]));
    let a = c.add_copy(g, &[], &Copy3::flat(CopyEnd::Dev(n), CopyEnd::Dev(m), 4));
    let x = c.instantiate(g, 0);
    for (from, bytes) in [(0, 4), (8, 8), (4, 12)] {
        c.exec_copy(x, a, &Copy3::flat(CopyEnd::Dev(n), CopyEnd::Dev(m + from), bytes));
        c.run_once(x, s);
        c.read(n, 4);
    }
    c.exec_copy(x, a, &Copy3::flat(CopyEnd::Dev(n), CopyEnd::Dev(m), 17));
    c.exec_copy(x, a, &Copy3::flat(CopyEnd::Dev(n), CopyEnd::Dev(m), 0));
    c.run_once(x, s);
    c.read(n, 4);
}

fn copy_to_pinned_other_place(c: &mut Case<'_>) {
    let (s, g, m, host) = (c.stream(1), c.graph(), c.words(&[1, 2]), c.pinned(16, 0));
    let other = c.pinned(16, 0);
    let a = c.add_copy(g, &[], &Copy3::flat(CopyEnd::Host(host), CopyEnd::Dev(m), 8));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.exec_copy(x, a, &Copy3::flat(CopyEnd::Host(other + 8), CopyEnd::Dev(m), 8));
    c.run_once(x, s);
    c.exec_copy(x, a, &Copy3::flat(CopyEnd::Dev(m), CopyEnd::Host(host), 8));
    c.peek(host, 4);
    c.peek(other, 4);
}

fn copy_to_a_longer_size(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let (m, n) = (c.words(&[7; 1024]), c.words(&[0; 1024]));
    let a = c.add_copy(g, &[], &Copy3::flat(CopyEnd::Dev(n), CopyEnd::Dev(m), 4));
    let x = c.instantiate(g, 0);
    c.exec_copy(x, a, &Copy3::flat(CopyEnd::Dev(n), CopyEnd::Dev(m), 4096));
    c.run_once(x, s);
    c.read(n, 1024);
    c.exec_copy(x, a, &Copy3::rows(CopyEnd::Dev(n), 64, CopyEnd::Dev(m), 64, 32, 4));
    c.copy_params(a);
}

fn fill_value_and_width(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let a = c.add_fill(g, &[], &Fill::flat(m, 1, 4, 4));
    let x = c.instantiate(g, 0);
    for fill in
        [Fill::flat(m, 2, 4, 4), Fill::flat(m + 8, 3, 4, 6), Fill::flat(m, 0xab, 1, 3), Fill::flat(m + 4, 9, 2, 1)]
    {
        c.exec_fill(x, a, &fill);
        c.run_once(x, s);
        c.read(m, 8);
    }
}

fn fill_to_rows(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 8]));
    let a = c.add_fill(g, &[], &Fill::flat(m, 1, 4, 2));
    let b = c.add_fill(g, &[a], &Fill { rows: 2, pitch: 16, ..Fill::flat(m, 2, 4, 1) });
    let x = c.instantiate(g, 0);
    c.exec_fill(x, a, &Fill { rows: 2, pitch: 16, ..Fill::flat(m, 1, 4, 2) });
    c.exec_fill(x, b, &Fill { rows: 2, pitch: 16, ..Fill::flat(m + 4, 5, 4, 2) });
    c.exec_fill(x, b, &Fill { rows: 1, pitch: 16, ..Fill::flat(m + 4, 6, 4, 2) });
    c.run_once(x, s);
    c.read(m, 8);
}

fn host_function(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    let a = c.add_host(g, &[], HostAct::Note(1));
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.exec_host(x, a, HostAct::Note(2));
    c.run_once(x, s);
    let gate = c.gate(s);
    c.run(x, s);
    c.exec_host(x, a, HostAct::Note(3));
    c.run(x, s);
    c.open(gate);
    c.sync(s);
    c.log("host");
}

fn child_graph(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let (one, two) = (c.graph(), c.graph());
    c.node(one, &[], "mad1", &[P(m), N(3), N(1)]);
    c.node(two, &[], "mad1", &[P(m), N(10), N(7)]);
    let a = c.add_child(g, &[], one);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
    c.exec_child(x, a, two);
    c.run_once(x, s);
    c.read(m, 1);
    c.exec_child(x, a, one);
    c.run_once(x, s);
    c.read(m, 1);
}

fn child_of_other_shape(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let (one, two, three) = (c.graph(), c.graph(), c.graph());
    c.node(one, &[], "mad1", &[P(m), N(3), N(1)]);
    let b = c.node(two, &[], "mad1", &[P(m), N(10), N(7)]);
    c.node(two, &[b], "mad1", &[P(m), N(10), N(7)]);
    c.add_fill(three, &[], &Fill::flat(m, 1, 4, 1));
    let a = c.add_child(g, &[], one);
    let x = c.instantiate(g, 0);
    c.exec_child(x, a, two);
    c.exec_child(x, a, three);
    c.run_once(x, s);
    c.read(m, 1);
}

fn event_of_a_record_node(c: &mut Case<'_>) {
    let (s, t, g, e, f) = (c.stream(1), c.stream(1), c.graph(), c.event(2), c.event(2));
    let flag = c.flag();
    let held = c.node(g, &[], "gate", &[P(flag)]);
    let a = c.add_record(g, &[held], e);
    c.record_node_event(a);
    let x = c.instantiate(g, 0);
    c.exec_record(x, a, f);
    c.record_node_event(a);
    c.run(x, s);
    c.event_query(e);
    c.event_query(f);
    c.wait(t, f);
    c.query(t);
    c.open(flag);
    c.sync(t);
    c.event_query(f);
}

fn event_of_a_wait_node(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[0]));
    let (e, f) = (c.event(2), c.event(2));
    let a = c.add_wait(g, &[], e);
    c.node(g, &[a], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let gate = c.gate(t);
    c.record(e, t);
    c.exec_wait(x, a, f);
    c.run_once(x, s);
    c.read(m, 1);
    c.exec_wait(x, a, e);
    c.run(x, s);
    c.query(s);
    c.open(gate);
    c.sync(s);
    c.read(m, 1);
}

fn exec_from_changed_template(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let x = c.instantiate(g, 0);
    let k = c.kernel("mad1", &[P(m), N(10), N(0)]);
    c.node_kernel(a, &k);
    c.run_once(x, s);
    c.read(m, 1);
    c.update(x, g);
    c.run_once(x, s);
    c.read(m, 1);
}

fn exec_while_held(c: &mut Case<'_>) {
    let (s, g, h, m) = (c.stream(1), c.graph(), c.graph(), c.words(&[1]));
    c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    c.node(h, &[], "mad1", &[P(m), N(10), N(7)]);
    let x = c.instantiate(g, 0);
    let gate = c.gate(s);
    c.run(x, s);
    c.update(x, h);
    c.run(x, s);
    c.update(x, g);
    c.run(x, s);
    c.open(gate);
    c.sync(s);
    c.read(m, 1);
}

fn exec_refused_keeps_the_old(c: &mut Case<'_>) {
    let (s, g, h, m) = (c.stream(1), c.graph(), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    c.node(g, &[a], "mad1", &[P(m), N(2), N(0)]);
    // The first node could be updated, the second is of another type.
    let b = c.node(h, &[], "mad1", &[P(m), N(100), N(1)]);
    c.add_fill(h, &[b], &Fill::flat(m, 0, 4, 1));
    let x = c.instantiate(g, 0);
    c.update(x, h);
    c.run_once(x, s);
    c.read(m, 1);
}

fn exec_order_of_nodes_made(c: &mut Case<'_>) {
    let (s, g, h, m) = (c.stream(1), c.graph(), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    c.node(g, &[a], "mad1", &[P(m), N(5), N(2)]);
    let d = c.node(h, &[], "mad1", &[P(m), N(7), N(3)]);
    let b = c.node(h, &[], "mad1", &[P(m), N(11), N(4)]);
    c.connect(h, &[b], &[d]);
    let x = c.instantiate(g, 0);
    c.update(x, h);
    c.run_once(x, s);
    c.read(m, 1);
}

fn exec_of_a_diamond(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1, 0, 0, 0]));
    let mut graphs = vec![];
    for base in [1, 10] {
        let g = c.graph();
        let top = c.node(g, &[], "add", &[P(m), N(base)]);
        let left = c.node(g, &[top], "carry", &[P(m + 4), P(m), N(2 * base)]);
        let right = c.node(g, &[top], "carry", &[P(m + 8), P(m), N(3 * base)]);
        c.node(g, &[left, right], "carry", &[P(m + 12), P(m + 4), N(4 * base)]);
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    c.run_once(x, s);
    c.read(m, 4);
    c.update(x, graphs[1]);
    c.run_once(x, s);
    c.read(m, 4);
}

fn exec_edges_swapped(c: &mut Case<'_>) {
    let (m, mut graphs) = (c.words(&[1]), vec![]);
    for cross in [false, true] {
        let g = c.graph();
        let nodes: Vec<_> = (0..4).map(|at| c.node(g, &[], "count", &[P(m), N(at)])).collect();
        c.connect(g, &[nodes[0], nodes[1]], &if cross { [nodes[3], nodes[2]] } else { [nodes[2], nodes[3]] });
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    c.update(x, graphs[1]);
}

fn exec_node_types_swapped(c: &mut Case<'_>) {
    let (s, g, h, m) = (c.stream(1), c.graph(), c.graph(), c.words(&[1]));
    c.node(g, &[], "add", &[P(m), N(1)]);
    c.add_fill(g, &[], &Fill::flat(m, 5, 4, 1));
    c.add_fill(h, &[], &Fill::flat(m, 5, 4, 1));
    c.node(h, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.update(x, h);
    c.run_once(x, s);
}

fn exec_from_empty(c: &mut Case<'_>) {
    let (s, g, h, m) = (c.stream(1), c.graph(), c.graph(), c.words(&[1]));
    c.node(g, &[], "add", &[P(m), N(1)]);
    let (x, y) = (c.instantiate(g, 0), c.instantiate(h, 0));
    c.update(x, h);
    c.update(y, g);
    c.update(y, h);
    c.run_once(y, s);
    c.run_once(x, s);
    c.read(m, 1);
}

fn exec_twice(c: &mut Case<'_>) {
    let (s, m, mut graphs) = (c.stream(1), c.words(&[1]), vec![]);
    for b in [1, 2, 3] {
        let g = c.graph();
        c.node(g, &[], "mad1", &[P(m), N(10), N(b)]);
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    c.update(x, graphs[1]);
    c.update(x, graphs[2]);
    c.destroy(graphs[2]);
    c.run_once(x, s);
    c.read(m, 1);
}

fn exec_with_child(c: &mut Case<'_>) {
    let (s, m, mut graphs) = (c.stream(1), c.words(&[1]), vec![]);
    for b in [1, 2] {
        let (child, g) = (c.graph(), c.graph());
        c.node(child, &[], "mad1", &[P(m), N(10), N(b)]);
        let a = c.add_child(g, &[], child);
        c.node(g, &[a], "mad1", &[P(m), N(2), N(b)]);
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    c.update(x, graphs[1]);
    c.run_once(x, s);
    c.read(m, 1);
}

fn exec_of_child_contents_of_other_shape(c: &mut Case<'_>) {
    let (s, m, mut graphs) = (c.stream(1), c.words(&[1]), vec![]);
    for twice in [false, true] {
        let (child, g) = (c.graph(), c.graph());
        let a = c.node(child, &[], "mad1", &[P(m), N(10), N(1)]);
        if twice {
            c.node(child, &[a], "mad1", &[P(m), N(10), N(1)]);
        }
        c.add_child(g, &[], child);
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    c.update(x, graphs[1]);
    c.run_once(x, s);
    c.read(m, 1);
}

fn switched_off_in_the_middle(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let b = c.node(g, &[a], "mad1", &[P(m), N(5), N(2)]);
    c.node(g, &[b], "mad1", &[P(m), N(7), N(3)]);
    let x = c.instantiate(g, 0);
    c.enable(x, b, 0);
    c.is_enabled(x, b);
    c.run_once(x, s);
    c.read(m, 1);
    c.enable(x, b, 1);
    c.run_once(x, s);
    c.read(m, 1);
}

fn switched_off_and_on_while_held(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    c.node(g, &[a], "add", &[P(m), N(100)]);
    let x = c.instantiate(g, 0);
    let gate = c.gate(s);
    c.run(x, s);
    c.enable(x, a, 0);
    c.run(x, s);
    c.enable(x, a, 1);
    c.run(x, s);
    c.open(gate);
    c.sync(s);
    c.read(m, 1);
}

fn switched_off_survives_update(c: &mut Case<'_>) {
    let (s, g, h, m) = (c.stream(1), c.graph(), c.graph(), c.words(&[0]));
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    c.node(g, &[a], "add", &[P(m), N(100)]);
    let b = c.node(h, &[], "add", &[P(m), N(2)]);
    c.node(h, &[b], "add", &[P(m), N(200)]);
    let x = c.instantiate(g, 0);
    c.enable(x, a, 0);
    c.update(x, h);
    c.is_enabled(x, a);
    c.is_enabled(x, b);
    c.run_once(x, s);
    c.read(m, 1);
    c.enable(x, a, 1);
    c.run_once(x, s);
    c.read(m, 1);
}

fn switched_off_copy_and_fill(c: &mut Case<'_>) {
    let (s, g, m, n) = (c.stream(1), c.graph(), c.words(&[1, 2]), c.words(&[0; 4]));
    let a = c.add_copy(g, &[], &Copy3::flat(CopyEnd::Dev(n), CopyEnd::Dev(m), 8));
    let b = c.add_fill(g, &[], &Fill::flat(n + 8, 9, 4, 2));
    let x = c.instantiate(g, 0);
    c.enable(x, a, 0);
    c.run_once(x, s);
    c.read(n, 4);
    c.enable(x, a, 1);
    c.enable(x, b, 0);
    c.write(n, &[0; 4]);
    c.run_once(x, s);
    c.read(n, 4);
}

fn switched_off_join(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1, 1, 1]));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let b = c.node(g, &[], "mad1", &[P(m + 4), N(3), N(2)]);
    let join = c.node(g, &[a, b], "add", &[P(m + 8), N(100)]);
    let last = c.kernel("add", &[P(m), N(1000)]).shaped(1, 3);
    c.add_kernel(g, &[join], &last);
    let x = c.instantiate(g, 0);
    c.enable(x, join, 0);
    c.run_once(x, s);
    c.read(m, 3);
}

fn node_of_another_graph(c: &mut Case<'_>) {
    let (g, h, m) = (c.graph(), c.graph(), c.words(&[1]));
    c.node(g, &[], "add", &[P(m), N(1)]);
    let b = c.node(h, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    let k = c.kernel("add", &[P(m), N(5)]);
    c.exec_kernel(x, b, &k);
    c.enable(x, b, 0);
    c.is_enabled(x, b);
    c.update(x, h);
    c.exec_kernel(x, b, &k);
}

fn template_set_then_instantiated(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    for b in [2, 3] {
        let k = c.kernel("mad1", &[P(m), N(10), N(b)]);
        c.node_kernel(a, &k);
        let x = c.instantiate(g, 0);
        c.run_once(x, s);
        c.read(m, 1);
    }
}

fn clone_node_for_exec(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    let h = c.clone_graph(g);
    let b = c.find_in_clone(a, h);
    let x = c.instantiate(h, 0);
    let k = c.kernel("add", &[P(m), N(5)]);
    c.exec_kernel(x, a, &k);
    c.exec_kernel(x, b, &k);
    c.run_once(x, s);
    c.read(m, 1);
}

fn attribute_after_instantiate(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    let x = c.instantiate(g, 0);
    c.set_node_attribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, u64::from(-3i32 as u32));
    c.update(x, g);
    c.set_node_attribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
    c.update(x, g);
    c.run_once(x, s);
    c.read(m, 1);
}

fn kernel_parameters_are_copied(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let mut kernel = c.kernel("add", &[P(m), N(1)]);
    c.add_kernel(g, &[], &kernel);
    let x = c.instantiate(g, 0);
    // The arrays of the first call are gone, and the values of this one are others.
    kernel.arguments[1] = N(50);
    c.launch(&kernel, s);
    c.run_once(x, s);
    c.read(m, 1);
}

fn wrong_kind_of_node(c: &mut Case<'_>) {
    let (g, m) = (c.graph(), c.words(&[0]));
    let k = c.node(g, &[], "add", &[P(m), N(1)]);
    let f = c.add_fill(g, &[], &Fill::flat(m, 1, 4, 1));
    let h = c.add_host(g, &[], HostAct::Note(1));
    let x = c.instantiate(g, 0);
    c.exec_fill(x, k, &Fill::flat(m, 1, 4, 1));
    c.exec_host(x, k, HostAct::Note(2));
    c.exec_copy(x, f, &Copy3::flat(CopyEnd::Dev(m), CopyEnd::Dev(m), 4));
    let add = c.kernel("add", &[P(m), N(2)]);
    c.exec_kernel(x, h, &add);
    c.kernel_params(f);
    c.fill_params(k);
    c.copy_params(h);
}

fn fill_of_memory_freed_meanwhile(c: &mut Case<'_>) {
    let (s, g, m, n) = (c.stream(1), c.graph(), c.words(&[0]), c.words(&[0]));
    let f = c.add_fill(g, &[], &Fill::flat(m, 1, 4, 1));
    let x = c.instantiate(g, 0);
    c.free(m);
    c.exec_fill(x, f, &Fill::flat(n, 7, 4, 1));
    c.run_once(x, s);
    c.read(n, 1);
    c.exec_fill(x, f, &Fill::flat(m, 7, 4, 1));
}

fn exec_update_with_memcpy_kinds(c: &mut Case<'_>) {
    let (m, host, pageable) = (c.words(&[1, 2]), c.pinned(8, 0), c.pageable(8));
    let copies = [
        Copy3::flat(CopyEnd::Host(host), CopyEnd::Dev(m), 8),
        Copy3::flat(CopyEnd::Host(pageable), CopyEnd::Dev(m), 8),
        Copy3::flat(CopyEnd::Dev(m), CopyEnd::Host(host), 8),
        Copy3::flat(CopyEnd::Host(host), CopyEnd::Dev(m), 4),
        Copy3::flat(CopyEnd::Any(host), CopyEnd::Any(m), 4),
    ];
    let graphs = copies.map(|copy| {
        let g = c.graph();
        c.add_copy(g, &[], &copy);
        g
    });
    let x = c.instantiate(graphs[0], 0);
    for graph in graphs {
        c.update(x, graph);
    }
}

fn node_destroyed_in_template(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[1]));
    let a = c.node(g, &[], "mad1", &[P(m), N(3), N(1)]);
    let b = c.node(g, &[a], "mad1", &[P(m), N(5), N(2)]);
    let x = c.instantiate(g, 0);
    c.destroy_node(b);
    c.update(x, g);
    c.run_once(x, s);
    c.read(m, 1);
    let k = c.kernel("mad1", &[P(m), N(10), N(0)]);
    c.exec_kernel(x, a, &k);
    c.run_once(x, s);
    c.read(m, 1);
}
