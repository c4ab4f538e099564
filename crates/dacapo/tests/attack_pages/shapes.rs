//! Graphs of shapes that nobody draws.

use dacapo::graph::Edge;
use dacapo::inspect::{Inside, Kind, Node, Report};
use dacapo::page::Page;

use crate::kit::{op, rich, show};

fn graph(nodes: Vec<Node>, edges: Vec<(usize, usize, Edge)>) -> Page {
    Page::new(Report::new("device", "odd", nodes, Vec::new(), edges))
}

#[test]
fn of_none_and_of_one_op() {
    show(&graph(Vec::new(), Vec::new()));
    show(&graph(vec![op("one", "", &[])], Vec::new()));
    show(&graph(vec![Node::new(Kind::Join, "")], Vec::new()));
}

#[test]
fn of_5000_independent_ops() {
    show(&graph((0..5000).map(|at| op(&format!("k{at}"), "", &[])).collect(), Vec::new()));
}

#[test]
fn of_a_star_and_of_a_sink() {
    let nodes = || (0..5001).map(|at| op(&format!("k{at}"), "", &[])).collect::<Vec<_>>();
    show(&graph(nodes(), (1..5001).map(|at| (0, at, Edge::Full)).collect()));
    show(&graph(nodes(), (0..5000).map(|at| (at, 5000, Edge::Full)).collect()));
}

#[test]
fn of_a_chain_and_of_all_to_all() {
    let nodes = |count| (0..count).map(|at| op(&format!("k{at}"), "", &[])).collect::<Vec<_>>();
    show(&graph(nodes(5000), (1..5000).map(|at| (at - 1, at, Edge::Full)).collect()));
    let all = (0..150).flat_map(|from| (from + 1..150).map(move |to| (from, to, Edge::Waits))).collect();
    show(&graph(nodes(150), all));
}

#[test]
fn of_joins_only() {
    let joins: Vec<Node> = (0..1000).map(|_| Node::new(Kind::Join, "join")).collect();
    let edges = (1..1000usize).flat_map(|at| (at.saturating_sub(5)..at).map(move |to| (to, at, Edge::Full)));
    show(&graph(joins, edges.collect()));
}

#[test]
fn of_bodies_200_deep() {
    let mut nodes: Vec<Node> = (0..200).map(|_| Node::new(Kind::Loop, "loop")).collect();
    nodes.push(op("inmost", "", &[]));
    (1..201).for_each(|at| nodes[at].inside = Some(Inside::new(at - 1, 0)));
    show(&graph(nodes, Vec::new()));
}

#[test]
fn of_200_branches_and_of_branches_without_bodies() {
    let mut nodes = Vec::new();
    for at in 0..200 {
        nodes.push(Node::new(Kind::Branch, "switch"));
        for body in 0..at % 5 {
            let mut inner = op("inner", "", &[]);
            inner.inside =
                Some(Inside::new(nodes.len() - 1 - body, if at % 7 == 0 { usize::MAX - body } else { body }));
            nodes.push(inner);
        }
    }
    let count = nodes.len();
    show(&graph(nodes, (1..count).map(|at| (at - 1, at, Edge::Full)).collect()));
    show(&graph(vec![Node::new(Kind::Guarded, "if"), Node::new(Kind::Branch, "")], vec![(0, 1, Edge::Full)]));
}

#[test]
fn against_one_that_shares_nothing() {
    let nodes = |name: &str| (0..2000).map(|at| op(&format!("{name}{}", at % 9), "", &[at])).collect::<Vec<_>>();
    let edges = || (1..2000).map(|at| (at - 1, at, Edge::Full)).collect::<Vec<_>>();
    let (one, other) = (graph(nodes("a"), edges()), graph(nodes("b"), edges()));
    show(&one.since(other.report));
    show(&Page::new(rich()).since(rich()));
}
