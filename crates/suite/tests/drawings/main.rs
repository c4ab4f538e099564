//! Drawings of random reports: what holds of every drawing, read from its text.
//!
//! - Every op is drawn once, in the body that it is in, within frames that bear its label; neighbours under one label share
//!   its frame.
//! - Every edge is part of exactly one line, in the innermost frame that both of its ops are in, between the boxes that they are
//!   in there; unless that is one box, of an op with bodies. No line is without an edge. Where its edges are of one kind, it is
//!   drawn as that.
//! - Places: [`held`].

mod held;
mod svg;

use std::collections::BTreeMap;

use dacapo::graph::Edge;
use dacapo::inspect::{Kind, Node, Report};
use dacapo_suite::scenes::random;

use held::Drawing;

#[test]
fn a_thousand_random_reports_are_drawn_as_they_are() {
    let (mut bodies, mut labels, mut lines) = (0, 0, 0);
    for seed in 0..1000 {
        let report = random(seed);
        // A panic within tells what is wrong, and this of which report.
        let held = std::panic::catch_unwind(|| {
            let drawing = Drawing::read(&report.to_svg());
            expect_ops(&report, &drawing);
            expect_labels(&report, &drawing);
            expect_edges(&report, &drawing);
            drawing
        });
        let drawing = held.unwrap_or_else(|_| panic!("of seed {seed}"));
        bodies += drawing.bodies.len();
        labels += drawing.labels.len();
        lines += drawing.lines.len();
    }
    // Of all that is claimed there is something to see.
    assert!(bodies > 1_000 && labels > 1_000 && lines > 5_000, "{bodies} bodies, {labels} labels, {lines} lines");
}

/// Each op once, and in its body.
fn expect_ops(report: &Report, drawing: &Drawing) {
    let drawn: Vec<usize> = drawing.ops.keys().copied().collect();
    assert_eq!(drawn, (0..report.nodes.len()).collect::<Vec<_>>(), "ops that are drawn");
    let mut numbers: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for node in &report.nodes {
        let body = drawing.ops[&node.index].iter().rev().find_map(|(frame, _)| drawing.bodies.get(frame));
        assert_eq!(body.map(|(op, _)| *op), node.inside.map(|inside| inside.node), "op {} is in", node.index);
        if let (Some((op, number)), Some(inside)) = (body, node.inside) {
            let known = *numbers.entry((*op, inside.body)).or_insert(*number);
            assert_eq!(known, *number, "op {} is among those of another body", node.index);
        }
    }
    let mut distinct: Vec<(usize, usize)> = numbers.iter().map(|((op, _), number)| (*op, *number)).collect();
    distinct.dedup();
    assert_eq!(distinct.len(), numbers.len(), "two bodies are one box");
}

/// Frames bear the labels of their ops, and neighbours share what their labels share.
fn expect_labels(report: &Report, drawing: &Drawing) {
    let mut last: BTreeMap<Option<(usize, usize)>, &Node> = BTreeMap::new();
    for node in report.nodes.iter().filter(|node| node.kind != Kind::Join) {
        let outer = node.inside.map_or(report.label.as_str(), |inside| report.nodes[inside.node].label.as_str());
        let own: Vec<&str> = parts(&node.label).skip(shared(&node.label, outer)).collect();
        let frames = named(drawing, node.index);
        let names: Vec<&str> = frames.iter().flat_map(|(_, name)| parts(name)).collect();
        assert!(own.starts_with(&names), "op {} of {own:?} is in {names:?}", node.index);
        let body = node.inside.map(|inside| (inside.node, inside.body));
        if let Some(before) = last.insert(body, node) {
            let wanted = shared(&before.label, &node.label).saturating_sub(shared(&node.label, outer));
            let others = named(drawing, before.index);
            let both = frames.iter().zip(&others).take_while(|(one, other)| one.0 == other.0);
            let both: usize = both.map(|((_, name), _)| parts(name).count()).sum();
            assert_eq!(both, wanted, "labels that ops {} and {} are in", before.index, node.index);
        }
    }
}

fn parts(label: &str) -> impl Iterator<Item = &str> {
    label.split('/').filter(|part| !part.is_empty())
}

/// How many parts two labels begin with.
fn shared(one: &str, other: &str) -> usize {
    parts(one).zip(parts(other)).take_while(|(a, b)| a == b).count()
}

/// The frames of labels that an op is in, within its body.
fn named(drawing: &Drawing, op: usize) -> Vec<(usize, &str)> {
    let path = &drawing.ops[&op];
    let own = path.iter().rposition(|(frame, _)| drawing.bodies.contains_key(frame)).unwrap_or(0);
    path[own..].iter().filter_map(|(frame, _)| Some((*frame, drawing.labels.get(frame)?.as_str()))).collect()
}

/// Each edge is part of one line, and each line has an edge.
fn expect_edges(report: &Report, drawing: &Drawing) {
    let mut kinds: BTreeMap<(usize, String), Vec<Edge>> = BTreeMap::new();
    for (before, after, kind) in &report.edges {
        let pairs = drawing.ops[before].iter().zip(&drawing.ops[after]);
        let ((frame, from), (_, to)) = pairs.take_while(|(one, other)| one.0 == other.0).last().expect("the top");
        if from != to {
            kinds.entry((*frame, format!("{from} {to}"))).or_default().push(*kind);
            continue;
        }
        // In one box: an op and what is in a body of it, or ops in two of its bodies.
        assert!(from.parse::<usize>().is_ok(), "ops {before} and {after} are in frame {from} and have no box there");
    }
    let (drawn, wanted): (Vec<_>, Vec<_>) = (drawing.lines.keys().collect(), kinds.keys().collect());
    assert_eq!(drawn, wanted, "lines that are drawn, and that edges want");
    for (line, kinds) in kinds {
        let is_one = kinds.iter().all(|kind| *kind == kinds[0]);
        let wanted = match kinds[0] {
            Edge::Waits if is_one => " waits",
            Edge::Signals if is_one => " signals",
            _ => "",
        };
        let classes = drawing.lines[&line].replace(" bold", "");
        assert_eq!(classes, format!("edge{wanted}"), "line {} of {kinds:?}", line.1);
    }
}
