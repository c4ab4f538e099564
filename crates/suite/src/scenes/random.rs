//! Random reports: what a drawing must be right for, without anybody having thought of it.

use dacapo::graph::Edge;
use dacapo::inspect::{Geometry, Inside, Kind, Node, Report};

use crate::chance::Dice;

/// How deep labels and bodies go.
const DEPTH_MAX: usize = 5;

/// Names and parts of labels: few of them, so that labels come again, next to each other and later.
const NAMES: [&str; 6] = ["a", "attend", "x", "mlp", "漢字", "a_name_that_is_longer_than_any_box_has_room_for_it"];

/// A report of this seed: ops and joins under labels (nested, in runs and single), branches and loops with bodies in bodies,
/// names of any length, and edges between any two of them, out of bodies and into them too.
///
/// What is inside a branch or a loop follows it, as in every report of a graph.
pub fn random(seed: u64) -> Report {
    let mut growing = Growing { dice: Dice::new(seed), nodes: Vec::new() };
    let most = if seed.is_multiple_of(10) { 40 } else { 12 };
    let around = if growing.dice.chance(30) { "step" } else { "" };
    let count = 1 + growing.dice.below(most);
    growing.stretch(count, None, around, 0);
    let Growing { mut dice, nodes } = growing;
    let (reach, each) = (1 + dice.below(nodes.len() as u64), 1 + dice.below(3));
    let mut edges = Vec::new();
    for to in 1..nodes.len() {
        for _ in 0..dice.below(each + 1) {
            let from = to - 1 - dice.below(reach.min(to as u64)) as usize;
            let kinds = [Edge::Full, Edge::Full, Edge::Waits, Edge::Signals];
            edges.push((from, to, dice.pick(&kinds).unwrap_or(Edge::Full)));
        }
    }
    Report::new("by chance", around, nodes, Vec::new(), edges)
}

struct Growing {
    dice: Dice,
    nodes: Vec<Node>,
}

impl Growing {
    /// So many things, one after the other.
    fn stretch(&mut self, count: u64, inside: Option<Inside>, label: &str, depth: usize) {
        for _ in 0..count {
            match self.dice.weighted([50, 8, 25, 10]) {
                2 if depth < DEPTH_MAX => {
                    let part = self.name();
                    let (label, count) = (joined(label, part), 1 + self.dice.below(5));
                    self.stretch(count, inside, &label, depth + 1);
                }
                3 if depth < DEPTH_MAX => self.with_bodies(inside, label, depth),
                1 => self.put(Kind::Join, "join", inside, ""),
                _ => {
                    let kinds = [Kind::Kernel, Kind::Kernel, Kind::Copy, Kind::Fill, Kind::Foreign];
                    let (kind, name) = (self.dice.pick(&kinds).unwrap_or_default(), self.name());
                    self.put(kind, name, inside, label);
                }
            }
        }
    }

    fn with_bodies(&mut self, inside: Option<Inside>, label: &str, depth: usize) {
        let kind = self.dice.pick(&[Kind::Loop, Kind::Branch, Kind::Guarded]).unwrap_or_default();
        let bodies = if kind == Kind::Loop { 1 } else { 1 + self.dice.below(3) as usize };
        let name = self.name();
        self.put(kind, name, inside, label);
        let node = self.nodes.len() - 1;
        for body in 0..bodies {
            // A body may be empty.
            let count = self.dice.below(5);
            self.stretch(count, Some(Inside::new(node, body)), label, depth + 1);
        }
    }

    fn put(&mut self, kind: Kind, name: &str, inside: Option<Inside>, label: &str) {
        let mut node = Node::new(kind, name);
        node.label = label.to_string();
        node.inside = inside;
        if kind == Kind::Kernel && self.dice.chance(70) {
            node.geometry = Some(Geometry::new([self.dice.below(1 << 20) as u32, 1, 1], [256, 1, 1], 0));
        }
        node.bytes_read = if self.dice.chance(50) { self.dice.below(1 << 30) } else { 0 };
        self.nodes.push(node);
    }

    fn name(&mut self) -> &'static str {
        self.dice.pick(&NAMES).unwrap_or_default()
    }
}

fn joined(label: &str, part: &str) -> String {
    if label.is_empty() { part.to_string() } else { format!("{label}/{part}") }
}
