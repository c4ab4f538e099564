//! The order of recorded nodes, level by level.
//!
//! A level is the recording itself, or one body inside it. Each is ordered alone: what is inside a branch touches, to those
//! beside the branch, what the branch touches.
//!
//! A body with a branch in it is a line, whatever its data would allow. NVIDIA's driver 580.159.04 never ends the second round
//! of a WHILE whose body has two conditional nodes before its last kernel and a third beside it; as a line it does.

use crate::arrange::edges::{self, Edge, EdgeChoice, EdgeKinds, Pair};
use crate::plan::{self, Order, Shape, TouchedBytes, What};
use crate::record::{Node, Told, Work};

/// The order of a recording and of all bodies in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrangement {
    /// The recording itself, then the bodies in the order in which they were begun.
    levels: Vec<Level>,
}

/// The order of the recording itself, or of one body.
#[derive(Debug, Clone, Default)]
pub(crate) struct Level {
    /// The body; 0 is the recording itself.
    pub(crate) scope: u32,
    /// The order of its ops, which it counts from 0.
    pub(crate) order: Order,
    /// Which of its edges are programmatic.
    pub(crate) edges: EdgeKinds,
    /// Which node of the recording each op is. None where all are, each its own.
    nodes: Option<Vec<u32>>,
}

impl Level {
    /// The node of an op.
    pub(crate) fn node(&self, op: u32) -> usize {
        match &self.nodes {
            Some(nodes) => nodes[op as usize] as usize,
            None => op as usize,
        }
    }

    /// The kind of an edge, by its number and the step before it.
    pub(crate) fn kind(&self, nodes: &[Node], edge: usize, before: u32) -> Edge {
        match self.order.steps()[before as usize].what {
            What::Op(op) => self.edges.kind(edge, self.node(op)).of(&nodes[self.node(op)]),
            What::Join => Edge::Full,
        }
    }

    /// All nodes, as recorded; an op is its place here.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = usize> {
        let ops = self.order.steps().iter().filter_map(|step| match step.what {
            What::Op(op) => Some(op),
            What::Join => None,
        });
        ops.map(|op| self.node(op))
    }
}

/// Two arrangements are the same if the same nodes stand at the same places. What bodies are called does not count.
impl PartialEq for Arrangement {
    fn eq(&self, other: &Arrangement) -> bool {
        fn parts(level: &Level) -> (&Order, &Option<Vec<u32>>, &EdgeKinds) {
            (&level.order, &level.nodes, &level.edges)
        }
        self.levels.len() == other.levels.len()
            && self.levels.iter().zip(&other.levels).all(|(one, other)| parts(one) == parts(other))
    }
}

impl Arrangement {
    /// The recording itself.
    pub(crate) fn top(&self) -> &Level {
        &self.levels[0]
    }

    /// One body.
    pub(crate) fn body(&self, scope: u32) -> &Level {
        &self.levels[self.place(scope)]
    }

    /// Where a body is among the levels.
    pub(crate) fn place(&self, scope: u32) -> usize {
        let found = self.levels.binary_search_by_key(&scope, |level| level.scope);
        found.expect("every body of a recording is arranged with it")
    }

    /// With edges of kinds that are chosen; all were full before.
    /// `told` is what was recorded of the nodes; empty where they are lowered.
    pub(crate) fn with_edges(mut self, nodes: &[Node], told: &[Told], choice: &EdgeChoice) -> Arrangement {
        for level in &mut self.levels {
            level.edges = EdgeKinds::choose(level, nodes, told, choice);
        }
        self
    }

    /// Calls back for each edge whose kind can be chosen, with the numbers of its nodes.
    pub(crate) fn each_choice(&self, nodes: &[Node], mut call: impl FnMut(usize, usize)) {
        self.each_kind(nodes, |before, after, _| call(before, after));
    }

    /// The same, and with its kind.
    pub(crate) fn each_kind(&self, nodes: &[Node], mut call: impl FnMut(usize, usize, Edge)) {
        for level in &self.levels {
            let mut edge = 0;
            edges::each(level, nodes, &[], |pair| {
                if let Some(Pair { numbers: (before, after), .. }) = pair {
                    call(before, after, level.edges.kind(edge, before).of(&nodes[before]));
                }
                edge += 1;
            });
        }
    }

    /// All levels: each behind the one that it is inside of.
    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Edges between nodes as `(before, after)`, sorted, in all levels.
    pub(crate) fn edges(&self) -> Vec<(usize, usize)> {
        let of = |level: &Level| {
            let edges = level.order.op_edges().into_iter();
            edges.map(|(before, after)| (level.node(before as u32), level.node(after as u32))).collect::<Vec<_>>()
        };
        let mut edges: Vec<(usize, usize)> = self.levels.iter().flat_map(of).collect();
        if self.levels.len() > 1 {
            edges.sort_unstable();
        }
        edges
    }

    /// Steps that only stand between others.
    pub(crate) fn joins(&self) -> usize {
        let steps = self.levels.iter().flat_map(|level| level.order.steps());
        steps.filter(|step| step.what == What::Join).count()
    }
}

/// The order that the data of some nodes demands.
pub(crate) fn arranged(nodes: &[Node], shape: Shape) -> Arrangement {
    by(nodes, |nodes| order_of(nodes, shape))
}

/// One node after the other, in every level.
pub(crate) fn in_a_line(nodes: &[Node]) -> Arrangement {
    by(nodes, |nodes| plan::in_a_line(nodes.len()))
}

fn by(nodes: &[Node], order: impl Fn(&mut dyn ExactSizeIterator<Item = &Node>) -> Order) -> Arrangement {
    if !nodes.iter().any(|node| matches!(node.work, Work::Branch(_))) {
        let level = Level { scope: 0, order: order(&mut nodes.iter()), edges: EdgeKinds::default(), nodes: None };
        return Arrangement { levels: vec![level] };
    }
    let mut inside: Vec<(u32, Vec<u32>)> = Vec::new();
    list(nodes, 0, 0..nodes.len(), &mut inside);
    let level = |(scope, numbers): (u32, Vec<u32>)| {
        let mut inside = numbers.iter().map(|&number| &nodes[number as usize]);
        let order = match scope != 0 && inside.clone().any(|node| matches!(node.work, Work::Branch(_))) {
            true => plan::in_a_line(numbers.len()),
            false => order(&mut inside),
        };
        Level { scope, order, edges: EdgeKinds::default(), nodes: Some(numbers) }
    };
    Arrangement { levels: inside.into_iter().map(level).collect() }
}

/// Lists the nodes of a level, then those of the bodies in it.
fn list(nodes: &[Node], scope: u32, range: std::ops::Range<usize>, into: &mut Vec<(u32, Vec<u32>)>) {
    let level = into.len();
    into.push((scope, Vec::new()));
    let mut number = range.start;
    while number < range.end {
        into[level].1.push(number as u32);
        let node = &nodes[number];
        if let Work::Branch(branch) = &node.work {
            for (scope, body) in branch.bodies(number) {
                list(nodes, scope, body, into);
            }
        }
        number = node.next(number);
    }
}

fn order_of(nodes: &mut dyn ExactSizeIterator<Item = &Node>, shape: Shape) -> Order {
    let count = nodes.len();
    if shape == Shape::Line || count < 2 {
        return plan::in_a_line(count);
    }
    let mut touches = Vec::with_capacity(count * 2);
    // Where those of each op end, and before them where the first begins.
    let mut ends = Vec::with_capacity(count + 1);
    ends.push(0);
    for node in nodes {
        for access in &node.access {
            touches.push(TouchedBytes {
                memory: access.place.allocation.number(),
                start: access.place.start as u64,
                end: (access.place.start + access.place.bytes) as u64,
                write: access.mode.writes(),
            });
        }
        ends.push(touches.len());
    }
    plan::order(ends.windows(2).map(|ends| &touches[ends[0]..ends[1]]), shape)
}
