//! The table, the drawing, the file, the critical path.

use super::fixtures::*;
use crate::graph::Edge;
use crate::inspect::*;

#[test]
fn a_report_prints_as_a_table() {
    expect("decode.table", &decode().to_string());
}

#[test]
fn a_report_is_drawn_with_boxes_for_labels_and_a_bold_path() {
    expect("decode.dot", &decode().to_dot());
}

#[test]
fn the_json_of_version_2_stays_as_it_is() {
    expect("decode.json", &decode().to_json());
}

#[test]
fn a_report_that_was_saved_before_it_had_all_fields_is_read() {
    let saved = include_str!("../../../tests/inspect/decode.json");
    let later = ["calls", "patched_by", "declaration", "offset", "across"];
    assert!(later.iter().all(|field| !saved.contains(&format!("\"{field}\":"))));
    assert_eq!(Report::from_json(saved), Ok(decode()));
}

#[test]
fn an_empty_report_prints_draws_and_reads() {
    let empty = Report::new("a device", "", vec![], vec![], vec![]);
    assert!(empty.to_string().contains("0 nodes, 0 edges, 0 memories"));
    assert!(empty.to_dot().starts_with("digraph \"graph\" {"));
    assert_eq!(Report::from_json(&empty.to_json()), Ok(empty));
}

#[test]
fn nodes_and_memories_are_numbered_and_edges_sorted_once_and_forward() {
    let report = decode();
    assert!(report.nodes.iter().enumerate().all(|(at, node)| node.index == at));
    assert!(report.memories.iter().enumerate().all(|(at, memory)| memory.index == at));
    let pairs: Vec<_> = report.edges.iter().map(|(before, after, _)| (*before, *after)).collect();
    assert_eq!(pairs, [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 6), (5, 6), (6, 7)]);
    let Totals { edges, edges_waiting, edges_signalling, .. } = report.totals;
    assert_eq!((edges, edges_waiting, edges_signalling), (8, 2, 1), "of two kinds, the one that waits longer");
}

#[test]
fn the_critical_path_goes_where_most_is_moved_and_costs_its_nodes() {
    let report = decode();
    assert_eq!(report.critical_path.nodes, [0, 1, 3, 4, 6, 7]);
    let sum: u64 = report.critical_path.nodes.iter().map(|node| report.nodes[*node].cost()).sum();
    assert_eq!(report.critical_path.cost, sum);
}

#[test]
fn a_long_way_of_small_nodes_outweighs_a_short_way_of_one_that_moves_little_more() {
    let mut nodes: Vec<Node> = (0..4).map(|_| kernel("small", "", vec![])).collect();
    nodes[3].bytes_read = NODE_BYTES;
    //   0 ──► 1 ──► 2      0 ──► 3
    let report = Report::new("a device", "", nodes.clone(), vec![], full([(0, 1), (1, 2), (0, 3)]));
    assert_eq!(report.critical_path.nodes, [0, 1, 2]);
    nodes[3].bytes_read = 2 * NODE_BYTES;
    let report = Report::new("a device", "", nodes, vec![], full([(0, 1), (1, 2), (0, 3)]));
    assert_eq!(report.critical_path.nodes, [0, 3]);
}

#[test]
fn sums_of_absurd_sizes_stay_at_the_largest_number() {
    let node = Node { bytes_read: u64::MAX, bytes_written: u64::MAX, ..Node::new(Kind::Copy, "copy") };
    let report = Report::new("a device", "", vec![node.clone(), node], vec![], full([(0, 1)]));
    assert_eq!((report.totals.bytes_read, report.critical_path.cost), (u64::MAX, u64::MAX));
}

#[test]
fn another_version_is_refused_as_that() {
    let text = decode().to_json().replacen("\"version\": 2", "\"version\": 1", 1);
    let error = Report::from_json(&text).expect_err("another version");
    assert_eq!(error, ReadError::Version { found: 1 });
    assert!(error.to_string().contains("version 1") && error.to_string().contains("reads version 2"), "{error}");
    // Also when nothing else of it can be understood.
    assert_eq!(
        Report::from_json("{\"version\": 70000000000, \"knots\": 3}"),
        Err(ReadError::Version { found: 70_000_000_000 })
    );
}

#[test]
fn what_is_no_report_is_refused_with_the_reason() {
    for text in ["", "{", "[]", "{}", "{\"version\": \"2\"}", "{\"version\": 2}", "{\"version\": -1}"] {
        assert!(matches!(Report::from_json(text), Err(ReadError::Syntax(_))), "{text}");
    }
    let unknown = decode().to_json().replacen("\"waits\"", "\"sometimes\"", 1);
    assert!(matches!(Report::from_json(&unknown), Err(ReadError::Syntax(why)) if why.contains("sometimes")));
    type Break = fn(&mut Report);
    let broken = |break_it: Break| {
        let mut report = decode();
        break_it(&mut report);
        Report::from_json(&report.to_json()).expect_err("it contradicts itself").to_string()
    };
    let cases: [(Break, &str); 9] = [
        (|r| r.edges.push((6, 99, Edge::Full)), "from node 6 to node 99"),
        (|r| r.edges.push((7, 6, Edge::Full)), "from node 7 to node 6"),
        (|r| r.edges.swap(0, 1), "not sorted"),
        (|r| r.edges.insert(1, (0, 1, Edge::Waits)), "there twice"),
        (|r| r.nodes[3].index = 4, "node 3 says that it is node 4"),
        (|r| r.memories[3].index = 4, "memory 3 says that it is memory 4"),
        (|r| r.memories.truncate(2), "there are 2"),
        (|r| r.nodes[4].kernel = Some(2), "node 4 launches kernel 2, and there are 0"),
        (|r| r.critical_path.nodes.push(8), "through node 8"),
    ];
    for (break_it, expected) in cases {
        let message = broken(break_it);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn bodies_are_drawn_however_deep_they_are() {
    let depth = 500;
    let inside = |node: usize| node.checked_sub(1).map(|outer| Inside::new(outer, 0));
    let nested = |at: usize| Node { inside: inside(at), label: "a/b/c".into(), ..Node::new(Kind::Loop, "repeat") };
    let report = Report::new("device", "", (0..depth).map(nested).collect(), vec![], vec![]);
    let dot = report.to_dot();
    assert_eq!((0..depth).filter(|node| !dot.contains(&format!("n{node} [label"))).count(), 0);
    assert_eq!(dot.matches("label=\"repeat ").count(), 64); // boxes in boxes; deeper ones share the innermost
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
}

#[test]
fn totals_count_each_body_once() {
    let moving = |kind, inside| Node { bytes_read: 8, bytes_written: 4, inside, ..Node::new(kind, "op") };
    let body = Some(Inside::new(1, 0));
    let nodes = vec![moving(Kind::Kernel, None), moving(Kind::Loop, None), moving(Kind::Copy, body)];
    let report = Report::new("device", "", nodes, vec![], vec![]);
    assert_eq!((report.totals.bytes_read, report.totals.bytes_written), (16, 8));
    assert!(report.to_string().contains("one replay reads 16 B and writes 8 B, each body counted once"));
}

#[test]
fn a_finding_is_written_with_its_ops_and_read_back() {
    let at = |location| FoundAt::new("saxpy", "layer0", location);
    let ops = vec![at(Some(Place::new("src/main.rs", 12, 9))), at(None)];
    let finding = Finding::new("unordered", "what", "error[unordered]: what", ops);
    let text = serde_json::to_string(&finding).unwrap();
    assert_eq!(
        text,
        r#"{"code":"unordered","what":"what","report":"error[unordered]: what","ops":["#.to_string()
            + r#"{"name":"saxpy","label":"layer0","location":{"file":"src/main.rs","line":12,"column":9}},"#
            + r#"{"name":"saxpy","label":"layer0","location":null}]}"#
    );
    assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding);
}

#[test]
fn a_finding_is_at_a_node_of_the_same_name_label_and_place() {
    let place = || Some(Place::new("src/main.rs", 12, 9));
    let node =
        |name: &str, label: &str, location| Node { label: label.into(), location, ..Node::new(Kind::Kernel, name) };
    let finding = Finding::new("c", "w", "r", vec![FoundAt::new("a", "x", None), FoundAt::new("b", "y", place())]);
    assert!(finding.is_at(&node("a", "x", None)) && finding.is_at(&node("b", "y", place())));
    let others = [node("a", "x", place()), node("b", "x", place()), node("a", "y", None), node("b", "y", None)];
    assert!(others.iter().all(|node| !finding.is_at(node)));
}
