//! Drawings of reports.

use super::fixtures::{decode, expect, full, kernel};
use crate::inspect::*;

/// Every tag is closed, in the order in which it was opened, and no text is markup.
fn expect_well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "a loose > before {:?}", &rest[start..rest.len().min(start + 40)]);
        let end = start + rest[start..].find('>').expect("a tag that ends");
        let tag = &rest[start + 1..end];
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "closed"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split([' ', '\n']).next().unwrap()),
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?} are never closed");
}

#[test]
fn a_drawing_has_every_op_and_every_edge_once() {
    let report = decode();
    let svg = report.to_svg();
    expect("decode.svg", &svg);
    expect_well_formed(&svg);
    for node in &report.nodes {
        assert_eq!(svg.matches(&format!("data-op=\"{}\"", node.index)).count(), 1);
    }
    for (before, after, _) in &report.edges {
        assert_eq!(svg.matches(&format!("data-edge=\"{before} {after}\"")).count(), 1);
    }
    assert_eq!(svg.matches("edge waits").count(), report.totals.edges_waiting);
    assert_eq!(svg.matches("edge signals").count(), report.totals.edges_signalling);
}

#[test]
fn texts_are_texts_whatever_is_in_them() {
    let long = "n".repeat(10_000);
    for hostile in [
        "<script>alert(1)</script>",
        "\"/><rect onload='x'>",
        "]]>",
        "&amp;",
        "שלום\u{202e}abc",
        "a\u{0}b\u{1b}",
        &long,
    ] {
        let nodes = vec![kernel(hostile, hostile, Vec::new()), kernel("after", "", Vec::new())];
        let svg = Report::new(hostile, hostile, nodes, Vec::new(), full([(0, 1)])).to_svg();
        expect_well_formed(&svg);
        assert!(!svg.contains("<script") && !svg.contains("onload='"), "{hostile}");
        assert!(!svg.contains('\u{0}') && !svg.contains('\u{1b}'), "{hostile}");
        assert!(svg.len() < 12_000, "{} bytes for a name of {}", svg.len(), hostile.len());
    }
}

#[test]
fn bodies_are_boxes_in_the_box_of_their_branch() {
    let inside = |node, body, of: Node| Node { inside: Some(Inside::new(node, body)), ..of };
    let nodes = vec![
        kernel("decide", "", Vec::new()),
        Node::new(Kind::Loop, "repeat"),
        inside(1, 0, kernel("first", "", Vec::new())),
        inside(1, 0, Node::new(Kind::Branch, "when")),
        inside(3, 0, kernel("then", "", Vec::new())),
        inside(3, 1, kernel("otherwise", "", Vec::new())),
        inside(1, 0, kernel("last", "", Vec::new())),
        kernel("behind", "", Vec::new()),
    ];
    let report = Report::new("a device", "", nodes, Vec::new(), full([(0, 1), (2, 3), (3, 6), (1, 7)]));
    let svg = report.to_svg();
    expect("bodies.svg", &svg);
    expect_well_formed(&svg);
    let rect = |op: usize| {
        let at = svg.find(&format!("data-op=\"{op}\"")).expect("every op is drawn");
        let tag = &svg[at + svg[at..].find("<rect").unwrap()..];
        ["x", "y", "width", "height"].map(|name| {
            let value = tag.split(&format!(" {name}=\"")).nth(1).unwrap();
            value.split('"').next().unwrap().parse::<f64>().unwrap()
        })
    };
    for (outer, inner) in [(1, 2), (1, 3), (1, 6), (3, 4), (3, 5)] {
        let ([x, y, width, height], [in_x, in_y, in_width, in_height]) = (rect(outer), rect(inner));
        assert!(x < in_x && in_x + in_width < x + width, "{inner} in {outer}: {svg}");
        assert!(y < in_y && in_y + in_height < y + height, "{inner} in {outer}: {svg}");
    }
    assert!(svg.contains("case 0") && svg.contains("case 1"), "two bodies are told apart");
}

#[test]
fn edges_of_a_stranger_s_report_are_drawn_between_what_both_are_in() {
    // A report from a file may have edges into bodies, and bodies of what has none.
    let inside = |node, of: Node| Node { inside: Some(Inside::new(node, 0)), ..of };
    let nodes = vec![
        Node::new(Kind::Loop, "repeat"),
        inside(0, kernel("in", "", Vec::new())),
        inside(1, kernel("in a kernel", "", Vec::new())),
        kernel("behind", "", Vec::new()),
        inside(0, kernel("also in", "", Vec::new())),
    ];
    let mut report = Report::new("a device", "", nodes, Vec::new(), full([(0, 1), (1, 3), (2, 3), (3, 4)]));
    expect_well_formed(&report.to_svg());
    assert_eq!(report.to_svg().matches("data-op=").count(), 5);
    // Its fields are everybody's, too.
    report.edges.push((7, 99, crate::graph::Edge::Full));
    (report.totals.nodes, report.totals.joins) = (0, 5);
    assert_eq!(report.to_svg().matches("data-edge=\"7 99\"").count(), 0);
}

#[test]
fn ten_thousand_ops_are_drawn() {
    let nodes: Vec<Node> = (0..10_000).map(|at| kernel("step", &format!("layer{}", at / 100), Vec::new())).collect();
    let edges = (1..10_000).map(|to| (to - 1, to)).chain((0..9_900).step_by(50).map(|from| (from, from + 100)));
    let svg = Report::new("a device", "", nodes, Vec::new(), full(edges)).to_svg();
    assert_eq!(svg.matches("data-op=").count(), 10_000);
    assert!(svg.len() < 8 << 20, "{} bytes", svg.len());
}
