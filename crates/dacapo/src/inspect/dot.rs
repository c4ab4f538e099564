//! Reports as drawings for Graphviz (`dot -Tsvg`).
//!
//! Nodes that share the beginning of a label are drawn in one box, boxes in boxes; a box around a single node is left out.
//! The critical path is bold. Edges are solid where they are full; the others are labelled: dashed where the second waits, dotted
//! where the first signals. Texts are quoted, so that a label cannot end the drawing.

use super::homes::homes;
use super::table::body_name;
use super::{Inside, Kind, Node, Report};
use crate::arrange::Edge;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

impl Report {
    /// The report as a Graphviz graph (`dot -Tsvg`).
    pub fn to_dot(&self) -> String {
        self.orderly().dot()
    }

    fn dot(&self) -> String {
        let mut dot = Drawing { text: String::new(), boxes: 0, homes: homes(self) };
        let title = if self.label.is_empty() { "graph" } else { &self.label };
        dot.line(0, &format!("digraph {} {{", quoted(title)));
        dot.line(
            1,
            &format!("label={}; labelloc=t; fontname=\"Helvetica\";", quoted(&format!("{title} on {}", self.device))),
        );
        dot.line(1, "node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11]; edge [color=gray40];");
        let root = Group::of(self, &dot.homes, None);
        let path = &self.critical_path.nodes;
        dot.group(1, self, &root, "", &path.iter().copied().collect());
        let bold: HashSet<(usize, usize)> = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
        for (before, after, kind) in &self.edges {
            let bold = bold.contains(&(*before, *after)).then_some("penwidth=2.5, color=black");
            let kind = match kind {
                Edge::Full => None,
                Edge::Waits => Some("style=dashed, label=waits, fontsize=9"),
                Edge::Signals => Some("style=dotted, label=signals, fontsize=9"),
            };
            let style: Vec<&str> = bold.into_iter().chain(kind).collect();
            let style = if style.is_empty() { String::new() } else { format!(" [{}]", style.join(", ")) };
            dot.line(1, &format!("n{before} -> n{after}{style};"));
        }
        dot.line(0, "}");
        dot.text
    }
}

/// How many parts of a label have a box of their own; the rest is one. Fewer inside bodies: the boxes of a body are inside
/// those of its branch.
const BOXES_MAX: usize = 32;

/// Nodes below one beginning of their labels.
#[derive(Default)]
struct Group<'a> {
    nodes: Vec<&'a Node>,
    /// In the order of their names: the same graph gives the same text.
    groups: BTreeMap<&'a str, Group<'a>>,
    count: usize,
}

impl<'a> Group<'a> {
    /// The nodes in the box of one body, or of none.
    fn of(report: &'a Report, homes: &[(Option<Inside>, usize)], inside: Option<Inside>) -> Group<'a> {
        let mut group = Group::default();
        for (node, (home, depth)) in report.nodes.iter().zip(homes) {
            if *home == inside {
                group.add(node, (BOXES_MAX / (depth + 1)).max(1));
            }
        }
        group
    }

    fn add(&mut self, node: &'a Node, boxes: usize) {
        let mut group = self;
        group.count += 1;
        // A box in a box in a box: as deep as a person can follow, and the stack.
        for part in node.label.splitn(boxes, '/').filter(|part| !part.is_empty()) {
            group = group.groups.entry(part).or_default();
            group.count += 1;
        }
        group.nodes.push(node);
    }
}

struct Drawing {
    text: String,
    boxes: usize,
    homes: Vec<(Option<Inside>, usize)>,
}

impl Drawing {
    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{:1$}{line}", "", 2 * depth).expect("writing to a string");
    }

    /// `rest` is the part of the label that no box around shows.
    fn group(&mut self, depth: usize, report: &Report, group: &Group<'_>, rest: &str, bold: &HashSet<usize>) {
        for node in &group.nodes {
            self.node(depth, report, node, rest, bold.contains(&node.index));
        }
        for (name, inner) in &group.groups {
            if inner.count < 2 {
                let rest = if rest.is_empty() { name.to_string() } else { format!("{rest}/{name}") };
                self.group(depth, report, inner, &rest, bold);
                continue;
            }
            self.line(depth, &format!("subgraph cluster_{} {{", self.boxes));
            self.boxes += 1;
            self.line(depth + 1, &format!("label={}; style=dashed; color=gray60;", quoted(name)));
            self.group(depth + 1, report, inner, "", bold);
            self.line(depth, "}");
        }
    }

    fn node(&mut self, depth: usize, report: &Report, node: &Node, rest: &str, is_bold: bool) {
        let index = node.index;
        if node.kind == Kind::Join {
            return self.line(depth, &format!("n{index} [shape=point, width=0.12];"));
        }
        let mut text = format!("{index}  {}", node.name);
        if !rest.is_empty() {
            write!(text, "\n{rest}").expect("writing to a string");
        }
        if let Some(geometry) = node.geometry {
            write!(text, "\n{geometry}").expect("writing to a string");
        }
        for argument in &node.arguments {
            write!(text, "\n{} = {}", argument.name, report.describe(argument)).expect("writing to a string");
        }
        let style = if is_bold { ", penwidth=2.5" } else { "" };
        let shape = match node.kind {
            Kind::Kernel => "",
            _ if node.has_bodies() => ", shape=diamond",
            _ => ", shape=ellipse",
        };
        self.line(depth, &format!("n{index} [label={}{shape}{style}];", quoted(&text)));
        if node.has_bodies() {
            self.bodies(depth, report, node);
        }
    }

    /// The bodies of a branch or a loop, each in a box of its own.
    fn bodies(&mut self, depth: usize, report: &Report, node: &Node) {
        let of_it = report.nodes.iter().filter_map(|other| other.inside).filter(|inside| inside.node == node.index);
        let mut bodies: Vec<usize> = of_it.map(|inside| inside.body).collect();
        bodies.dedup();
        let are_several = bodies.iter().any(|body| *body > 0);
        for body in bodies {
            let inside = Inside::new(node.index, body);
            let group = Group::of(report, &self.homes, Some(inside));
            if group.count > 0 {
                self.body(depth, report, &group, &format!("{} {}", node.name, body_name(inside, are_several)));
            }
            if let Some(first) = report.nodes.iter().find(|other| other.inside == Some(inside)) {
                self.line(depth, &format!("n{} -> n{} [style=dotted];", node.index, first.index));
            }
        }
    }

    /// The box of one body.
    fn body(&mut self, depth: usize, report: &Report, group: &Group<'_>, title: &str) {
        self.line(depth, &format!("subgraph cluster_{} {{", self.boxes));
        self.boxes += 1;
        self.line(depth + 1, &format!("label={}; style=dotted; color=gray40;", quoted(title)));
        self.group(depth + 1, report, group, "", &HashSet::new());
        self.line(depth, "}");
    }
}

/// A text as the DOT language quotes it; lines are set to the left.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\l"),
            other => quoted.push(other),
        }
    }
    if text.contains('\n') {
        quoted.push_str("\\l");
    }
    quoted.push('"');
    quoted
}
