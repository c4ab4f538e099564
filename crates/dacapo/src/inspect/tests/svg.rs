//! Drawings of reports.

use std::collections::BTreeMap;

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
fn a_drawing_has_every_op_once_and_a_line_between_any_two_boxes_with_an_edge() {
    let report = decode();
    let svg = report.to_svg();
    expect("decode.svg", &svg);
    expect_well_formed(&svg);
    for node in &report.nodes {
        assert_eq!(svg.matches(&format!("data-op=\"{}\"", node.index)).count(), 1);
    }
    // Four of the ops are in the frame of `layer0`: the two lines out of it are one, drawn as the one that waits longer.
    let lines: Vec<(&str, &str)> = svg.match_indices("<path class=\"edge").map(|(at, _)| line(&svg[at..])).collect();
    assert_eq!(
        lines,
        [
            ("0 f1", "edge bold"),
            ("f1 4", "edge bold"),
            ("4 6", "edge bold"),
            ("5 6", "edge"),
            ("6 7", "edge bold"),
            ("1 2", "edge waits"),
            ("1 3", "edge waits bold")
        ]
    );
}

/// Which boxes a line is between, and its classes.
fn line(tag: &str) -> (&str, &str) {
    let attribute = |name: &str| tag.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap();
    (attribute("data-line"), attribute("class"))
}

/// Where the box of each op and frame is, from the upper left corner of the drawing: x, y, width, height.
fn rects(svg: &str) -> BTreeMap<String, [f64; 4]> {
    let (mut rects, mut around, mut name) = (BTreeMap::new(), vec![[0.0, 0.0]], String::new());
    for tag in svg.split('<').skip(1) {
        let attribute = |name: &str| Some(tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next().unwrap());
        if tag.starts_with("g ") {
            let place = attribute("transform").unwrap().trim_start_matches("translate(").trim_end_matches(')');
            let place: Vec<f64> = place.split(' ').map(|number| number.parse().unwrap()).collect();
            let [x, y] = around.last().unwrap();
            around.push([x + place[0], y + place[1]]);
            name = attribute("data-op").map_or_else(String::new, String::from);
            name.extend(attribute("data-frame").map(|frame| format!("f{frame}")));
        } else if tag.starts_with("/g") {
            around.pop();
        } else if tag.starts_with("rect") && !name.is_empty() {
            let ([x, y], side) = (around.last().unwrap(), |name| attribute(name).unwrap().parse().unwrap());
            rects.insert(std::mem::take(&mut name), [*x, *y, side("width"), side("height")]);
        }
    }
    rects
}

#[test]
fn ops_under_one_label_are_in_a_frame_of_its_name() {
    let labels = ["a/x", "a/x", "a/y", "b", "a", "a", "a/z/deep", "a/z/deep", "c/d", "c/d", "", "c/d"];
    let nodes = labels.iter().map(|label| kernel("k", label, Vec::new())).collect();
    let edges = full((1..labels.len()).map(|to| (to - 1, to)));
    let report = Report::new("a device", "", nodes, Vec::new(), edges);
    let svg = report.to_svg();
    let frames: Vec<&str> =
        svg.split("class=\"label").skip(1).map(|frame| &frame[..frame.find("</text").unwrap()]).collect();
    let titles: Vec<&str> =
        frames.iter().map(|frame| frame.rsplit("\">").nth(1).unwrap().split(" <").next().unwrap()).collect();
    // A label of one op is none, the first `a` is over when `b` comes, and what has nothing beside it is one with it.
    assert_eq!(titles, ["a", "x", "a", "z/deep", "c/d"]);
    let (rects, inside) = (rects(&svg), |outer: [f64; 4], inner: [f64; 4]| {
        (0..2).all(|side| outer[side] < inner[side] && inner[side] + inner[side + 2] < outer[side] + outer[side + 2])
    });
    let of = |op: usize| rects[&op.to_string()];
    let holding =
        |op: usize| rects.iter().filter(|(name, rect)| name.starts_with('f') && inside(**rect, of(op))).count();
    assert_eq!((0..labels.len()).map(holding).collect::<Vec<_>>(), [2, 2, 1, 0, 1, 1, 2, 2, 1, 1, 0, 0]);
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
    let rects = rects(&svg);
    let rect = |op: usize| rects[&op.to_string()];
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
    assert!(!report.to_svg().contains("99"));
}

#[test]
fn ten_thousand_ops_are_drawn() {
    let nodes: Vec<Node> = (0..10_000).map(|at| kernel("step", &format!("layer{}", at / 100), Vec::new())).collect();
    let edges = (1..10_000).map(|to| (to - 1, to)).chain((0..9_900).step_by(50).map(|from| (from, from + 100)));
    let svg = Report::new("a device", "", nodes, Vec::new(), full(edges)).to_svg();
    assert_eq!(svg.matches("data-op=").count(), 10_000);
    assert!(svg.len() < 8 << 20, "{} bytes", svg.len());
}
