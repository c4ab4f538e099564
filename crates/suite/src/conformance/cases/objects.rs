//! User objects: who holds a reference, and when the destructor runs.

use super::super::case::Case;
use super::super::verbs::Arg::*;
use dacapo_driver::types::*;

super::list! { "object";
    released, held_by_a_graph, held_by_an_exec, moved_to_a_graph, clone_holds_it_too, child_holds_it_too, held_while_a_launch_runs, released_from_the_graph,
    many_references, update_swaps_them, wrong_counts, two_objects_of_a_graph, exec_keeps_it_after_the_graph,
}

fn released(c: &mut Case<'_>) {
    let o = c.object(1, 3);
    c.release(o, 1);
    c.log("destroyed");
    c.retain(o, 2);
    c.release(o, 3);
    c.log("destroyed");
    c.release(o, 1);
    c.log_comes("destroyed", 1);
}

fn held_by_a_graph(c: &mut Case<'_>) {
    let (g, o) = (c.graph(), c.object(1, 1));
    c.graph_retain(g, o, 1, 0);
    c.release(o, 1);
    c.log("destroyed");
    c.destroy(g);
    c.log_comes("destroyed", 1);
}

fn held_by_an_exec(c: &mut Case<'_>) {
    let (s, g, m, o) = (c.stream(1), c.graph(), c.words(&[1]), c.object(1, 1));
    c.node(g, &[], "add", &[P(m), N(1)]);
    c.graph_retain(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE);
    let x = c.instantiate(g, 0);
    c.destroy(g);
    c.run_once(x, s);
    c.log("destroyed");
    c.destroy(x);
    c.log_comes("destroyed", 1);
}

fn moved_to_a_graph(c: &mut Case<'_>) {
    let (g, o) = (c.graph(), c.object(1, 2));
    c.graph_retain(g, o, 2, CU_GRAPH_USER_OBJECT_MOVE);
    c.log("destroyed");
    c.graph_release(g, o, 1);
    c.log("destroyed");
    c.destroy(g);
    c.log_comes("destroyed", 1);
}

fn clone_holds_it_too(c: &mut Case<'_>) {
    let (g, o) = (c.graph(), c.object(1, 1));
    c.graph_retain(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE);
    let h = c.clone_graph(g);
    c.destroy(g);
    c.log("destroyed");
    c.destroy(h);
    c.log_comes("destroyed", 1);
}

fn child_holds_it_too(c: &mut Case<'_>) {
    let (g, child, m, o) = (c.graph(), c.graph(), c.words(&[1]), c.object(1, 1));
    c.node(child, &[], "add", &[P(m), N(1)]);
    c.graph_retain(child, o, 1, CU_GRAPH_USER_OBJECT_MOVE);
    let n = c.add_child(g, &[], child);
    c.destroy(child);
    c.log("destroyed");
    c.destroy_node(n);
    c.log_comes("destroyed", 1);
}

fn held_while_a_launch_runs(c: &mut Case<'_>) {
    let (s, g, o) = (c.stream(1), c.graph(), c.object(1, 1));
    let flag = c.flag();
    c.node(g, &[], "gate", &[P(flag)]);
    c.graph_retain(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.destroy(g);
    c.destroy(x);
    c.log("destroyed");
    c.open(flag);
    c.sync(s);
    c.log_comes("destroyed", 1);
}

fn released_from_the_graph(c: &mut Case<'_>) {
    let (g, o) = (c.graph(), c.object(1, 1));
    c.graph_retain(g, o, 2, 0);
    c.graph_release(g, o, 2);
    c.log("destroyed");
    c.release(o, 1);
    c.log_comes("destroyed", 1);
}

fn many_references(c: &mut Case<'_>) {
    let o = c.object(1, 1000);
    c.release(o, 999);
    c.log("destroyed");
    c.release(o, 1);
    c.log_comes("destroyed", 1);
}

fn update_swaps_them(c: &mut Case<'_>) {
    let (m, mut graphs) = (c.words(&[1]), vec![]);
    for number in [1, 2] {
        let (g, o) = (c.graph(), c.object(number, 1));
        c.node(g, &[], "add", &[P(m), N(1)]);
        c.graph_retain(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE);
        graphs.push(g);
    }
    let x = c.instantiate(graphs[0], 0);
    c.destroy(graphs[0]);
    c.log("destroyed");
    c.update(x, graphs[1]);
    c.log_comes("destroyed", 1);
    c.destroy(graphs[1]);
    c.log("destroyed");
    c.destroy(x);
    c.log_comes("destroyed", 1);
}

fn wrong_counts(c: &mut Case<'_>) {
    c.object(1, 0);
    let (g, o) = (c.graph(), c.object(2, 1));
    c.retain(o, 0);
    c.release(o, 0);
    c.graph_retain(g, o, 0, 0);
    c.graph_retain(g, o, 1, 2);
    c.log("destroyed");
    c.release(o, 1);
    c.log_comes("destroyed", 1);
}

fn two_objects_of_a_graph(c: &mut Case<'_>) {
    let (g, o, p) = (c.graph(), c.object(1, 1), c.object(2, 1));
    c.graph_retain(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE);
    c.graph_retain(g, p, 1, 0);
    c.destroy(g);
    c.log_comes("destroyed", 1);
    c.release(p, 1);
    c.log_comes("destroyed", 1);
}

fn exec_keeps_it_after_the_graph(c: &mut Case<'_>) {
    let (s, g, m, o) = (c.stream(1), c.graph(), c.words(&[1]), c.object(1, 1));
    c.node(g, &[], "add", &[P(m), N(1)]);
    c.graph_retain(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE);
    let (x, y) = (c.instantiate(g, 0), c.instantiate(g, 0));
    c.graph_release(g, o, 1);
    c.destroy(x);
    c.log("destroyed");
    c.run_once(y, s);
    c.destroy(y);
    c.log_comes("destroyed", 1);
}
