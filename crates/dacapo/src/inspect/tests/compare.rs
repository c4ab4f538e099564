//! Differences, and values frozen differently.

use super::fixtures::*;
use crate::graph::Edge;
use crate::inspect::matching::{Key, nth_with_nth};
use crate::inspect::*;

fn line(nodes: Vec<Node>) -> Report {
    let edges = full((1..nodes.len()).map(|at| (at - 1, at)));
    let memories = (0..3).map(|i| Memory::new(MemoryKind::Buffer, format!("buffer {i}"), 64, 256)).collect();
    Report::new("a device", "", nodes, memories, edges)
}

#[test]
fn a_report_has_no_difference_from_itself_or_from_another_device() {
    let mut other = decode();
    other.device = "another device".to_string();
    other.nodes[1].location = Some(Place::new("examples/decode.rs", 41, 9));
    let difference = diff(&decode(), &other);
    assert!(difference.is_empty(), "{difference}");
    assert_eq!(difference.to_string(), "  device: a device -> another device\nno difference\n");
}

#[test]
fn a_difference_names_nodes_arguments_edges_and_memories() {
    let before = decode();
    let mut nodes = before.nodes.clone();
    nodes[1].arguments[2] = baked("eps", 1e-6);
    nodes[4].geometry = Some(Geometry::new([4, 16, 1], [16, 16, 1], 2048));
    nodes[3].arguments.push(baked("bias", 1.0));
    nodes.remove(2);
    nodes.insert(5, kernel("sample", "decode", vec![]));
    let mut memories = before.memories.clone();
    memories[2].bytes = 4096;
    let edges = full([(0, 1), (1, 2), (2, 3), (3, 6), (3, 5), (5, 6), (6, 7)]);
    let mut after = Report::new("a device", "decode", nodes, memories, edges);
    after.dacapo = before.dacapo.clone();
    expect("decode.diff", &diff(&before, &after).to_string());
}

#[test]
fn one_of_many_equal_nodes_that_went_is_one_difference() {
    let step = |i: usize| kernel("step", "loop", vec![baked("i", i as f64)]);
    let all: Vec<Node> = (0..20).map(step).collect();
    for gone in [0, 7, 19] {
        let mut fewer = all.clone();
        fewer.remove(gone);
        let difference = diff(&line(all.clone()), &line(fewer));
        assert_eq!(difference.removed.iter().map(|node| node.index).collect::<Vec<_>>(), [gone]);
        assert!(difference.added.is_empty() && difference.changed.is_empty(), "{difference}");
    }
}

#[test]
fn where_nodes_cannot_be_told_apart_they_stay_where_they_were() {
    // All arguments changed: only the position is left to go by.
    let step = |of: f64, i: usize| kernel("step", "", vec![baked("i", of + i as f64)]);
    let first = line((0..4).map(|i| step(0.0, i)).collect());
    let second = line((0..5).map(|i| step(100.0, i)).collect());
    let difference = diff(&first, &second);
    assert_eq!(
        difference.changed.iter().map(|node| (node.first, node.second.index)).collect::<Vec<_>>(),
        [(0, 0), (1, 1), (2, 2), (3, 3)]
    );
    assert_eq!(difference.added.len(), 1);
}

#[test]
fn another_parameter_is_one_that_went_and_one_that_came() {
    let first = line(vec![kernel("f", "", vec![baked("a", 1.0)])]);
    let second = line(vec![kernel("f", "", vec![baked("b", 1.0), slice("x", 0, 0, 4, Access::Read)])]);
    let text = diff(&first, &second).to_string();
    for part in ["a: 1.0 (baked) -> nothing", "b: nothing -> 1.0 (baked)", "x: nothing -> reads buffer 0 [0..4]"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn memories_are_told_by_their_names_and_uses_and_not_by_their_numbers() {
    let of = |memories: &[(MemoryKind, &str, u64)], first: usize, second: usize| {
        let word = |at: usize, (kind, name, bytes): (MemoryKind, &str, u64)| {
            let name = if name.is_empty() { format!("{kind} {at}") } else { name.to_string() };
            Memory::new(kind, name, bytes, 256)
        };
        let memories = memories.iter().enumerate().map(|(at, memory)| word(at, *memory)).collect();
        let nodes = vec![
            kernel("a", "", vec![slice("x", first, 0, 4, Access::Read)]),
            kernel("b", "", vec![slice("x", second, 0, 4, Access::Read)]),
        ];
        Report::new("a device", "", nodes, memories, full([(0, 1)]))
    };
    let (buffer, temp) = ((MemoryKind::Buffer, "weights", 64), (MemoryKind::Temp, "", 32));
    let before = of(&[temp, buffer], 0, 1);
    // The same in another order, with other numbers.
    let difference = diff(&before, &of(&[buffer, temp], 1, 0));
    assert!(difference.is_empty(), "{difference}");
    // One memory more, and a temp that another took the place of.
    let difference = diff(&before, &of(&[temp, temp, buffer], 1, 2));
    assert_eq!(difference.to_string(), "~ memory 0: nothing -> temp 0 (temp, 32 bytes)\n");
    // Both use one temp now, where each used its own.
    let apart = of(&[temp, temp], 0, 1);
    let text = diff(&apart, &of(&[temp, temp], 0, 0)).to_string();
    assert!(text.contains("~ node 1 `b`\n    x: reads temp 1 [0..4] -> reads temp 0 [0..4]\n"), "{text}");
    // Another one that is called the same.
    let text = diff(&of(&[temp, temp], 1, 0), &of(&[temp, temp], 0, 0)).to_string();
    assert!(text.contains("x: reads temp 0 [0..4] -> reads temp 0 [0..4], another one of this name"), "{text}");
    // A name is worth more than a use: two ops read each other's memory, and none was renamed.
    let both = [buffer, (MemoryKind::Buffer, "", 64)];
    let difference = diff(&of(&both, 0, 1), &of(&both, 1, 0));
    assert!(difference.memories.is_empty(), "{difference}");
    assert!(difference.to_string().contains("x: reads weights [0..4] -> reads buffer 1 [0..4]"), "{difference}");
    // Another size.
    let text = diff(&before, &of(&[temp, (MemoryKind::Buffer, "weights", 128)], 0, 1)).to_string();
    assert_eq!(text, "~ memory 1: weights (buffer, 64 bytes) -> weights (buffer, 128 bytes)\n");
}

#[test]
fn an_order_that_changed_is_an_edge_that_went_and_one_that_came() {
    let nodes = || ["a", "b", "c"].map(|name| kernel(name, "", vec![])).to_vec();
    let of = |edges| Report::new("a device", "", nodes(), vec![], full(edges));
    let difference = diff(&of([(0, 1), (1, 2)]), &of([(0, 1), (0, 2)]));
    assert_eq!(difference.to_string(), "- edge from node 1 `b` to node 2 `c`\n+ edge from node 0 `a` to node 2 `c`\n");
}

#[test]
fn another_kind_of_edge_is_said_and_is_no_difference_by_itself() {
    let of = |first: &[&str], kinds: [Edge; 2]| {
        let names = first.iter().copied().chain(["a", "b", "c"]);
        let nodes: Vec<Node> = names.map(|name| kernel(name, "", vec![])).collect();
        let edges = kinds.iter().enumerate().map(|(at, kind)| (first.len() + at, first.len() + at + 1, *kind));
        Report::new("a device", "", nodes, vec![], edges.collect())
    };
    let (plain, tuned) = ([Edge::Full; 2], [Edge::Full, Edge::Signals]);
    let difference = diff(&of(&[], plain), &of(&[], tuned));
    assert_eq!(difference.to_string(), "  edge from node 1 `b` to node 2 `c`: full -> signals\nno difference\n",);
    assert!(difference.is_empty() && diff(&of(&[], tuned), &of(&[], tuned)).edges_changed.is_empty());
    // Also where the nodes have other numbers, and behind a node that the first one lacks.
    let difference = diff(&of(&[], tuned), &of(&["new"], plain));
    let changed: Vec<_> = difference.edges_changed.iter().map(|one| (one.edge.after.index, one.from, one.to)).collect();
    assert_eq!(changed, [(3, Edge::Signals, Edge::Full)]);
    assert!(difference.edges_added.is_empty() && difference.edges_removed.is_empty(), "{difference}");
}

#[test]
fn long_reports_are_compared_too() {
    // Nothing is the same at either end, and the product is above the limit for comparing all pairs.
    let step = |of: usize, i: usize| kernel(["a", "b", "b"][i % 3], "", vec![baked("i", (of + i) as f64)]);
    let first = line((0..2_000).map(|i| step(0, i)).collect());
    let second = line((0..2_000).map(|i| step(5_000, i)).collect());
    let difference = diff(&first, &second);
    assert_eq!(difference.changed.len(), 2_000);
    assert!(difference.edges_added.is_empty() && difference.edges_removed.is_empty());
}

#[test]
fn above_the_limit_matches_still_ascend() {
    let keys = |names: &[usize]| names.iter().map(|name| Key { name: *name, content: 0 }).collect::<Vec<_>>();
    assert_eq!(nth_with_nth(&keys(&[1, 2, 3, 1]), &keys(&[2, 1, 3, 1])), [(1, 0), (2, 2), (3, 3)]);
    assert_eq!(nth_with_nth(&keys(&[1]), &keys(&[2])), []);
}

#[test]
fn a_frozen_value_that_changed_is_named_with_its_place_and_a_way_out() {
    let of = |step: f64, rate: f64| {
        let slot = Argument::new("position", How::Slot { value: number(step) });
        line(vec![
            kernel("saxpy", "net/skip", vec![baked("a", step), slice("x", 0, 0, 4, Access::Read)]),
            kernel("saxpy", "net/skip", vec![baked("a", 1.0), slot]),
            kernel("adam", "", vec![baked("rate", rate)]),
        ])
    };
    let found = frozen_changes(&of(1.0, 0.5), &of(2.0, 0.25));
    assert_eq!(found.iter().map(|one| (one.node, one.argument.as_str())).collect::<Vec<_>>(), [(0, "a"), (2, "rate")]);
    assert_eq!((found[1].first.as_str(), found[1].second.as_str()), ("0.5", "0.25"));
    let text: Vec<String> = found.iter().map(|one| format!("{one}\n")).collect();
    expect("frozen.stderr", &text.join("\n"));
    assert!(frozen_changes(&of(1.0, 0.5), &of(1.0, 0.5)).is_empty(), "what is the same is not reported");
}

#[test]
fn a_frozen_value_is_found_beside_nodes_that_came_and_went() {
    let saxpy = |a: f64| kernel("saxpy", "", vec![baked("a", a)]);
    let first = line(vec![kernel("load", "", vec![]), saxpy(1.0)]);
    let second = line(vec![saxpy(2.0), kernel("store", "", vec![])]);
    let found = frozen_changes(&first, &second);
    assert_eq!((found.len(), found[0].node), (1, 1));
}
