//! What is different between two reports.
//!
//! Compared are what the device does: nodes, their geometry and arguments, edges, and sizes of memories. Not compared are
//! places in the source (a line more at the top of a file is no difference), alignment, and who holds a memory. That device
//! or label differ is said, and is no difference by itself: the same graph on two devices has an empty one. So are kinds of
//! edges, which do not change what is done, and depend on the device.

use super::matching::{is_named, matched_memories, matches};
use super::{Argument, How, Node, Report};
use crate::arrange::Edge;
use std::collections::HashMap;
use std::fmt;

/// What differs between two reports, as [`diff`] returns it. `Display` lists one difference per line.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, copy, fill, inspect::{Difference, diff}};
/// # let device = dacapo::Device::software()?;
/// let (x, mut y) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
/// let first = device.graph().inspect(copy(&x, &mut y))?;
/// let second = device.graph().inspect(fill(&mut y, baked(1)))?;
/// let difference: Difference = diff(&first, &second);
/// assert!(!difference.is_empty() && difference.to_string().contains("fill"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Difference {
    /// Device, label and version, where they differ; not counted by [`is_empty`](Self::is_empty).
    pub about: Vec<Change>,
    /// Nodes that only the second one has.
    pub added: Vec<NodeOf>,
    /// Nodes that only the first one has.
    pub removed: Vec<NodeOf>,
    /// Nodes that both have, but that differ.
    pub changed: Vec<ChangedNode>,
    /// Edges that only the second one has.
    pub edges_added: Vec<EdgeOf>,
    /// Edges that only the first one has.
    pub edges_removed: Vec<EdgeOf>,
    /// Edges that both have, of different kinds; not counted by [`is_empty`](Self::is_empty).
    pub edges_changed: Vec<ChangedEdge>,
    /// Memories that differ, by index in the second report, or in the first if they are gone. Which is which goes by their
    /// names, or else by the ops that touch them.
    pub memories: Vec<Change>,
}

/// A node of one of the reports.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, copy, fill, inspect::diff};
/// # let device = dacapo::Device::software()?;
/// let (x, mut y) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
/// let first = device.graph().inspect(copy(&x, &mut y))?;
/// let second = device.graph().inspect(fill(&mut y, baked(1)))?;
/// let (gone, new) = (&diff(&first, &second).removed[0], &diff(&first, &second).added[0]);
/// assert_eq!((gone.name.as_str(), new.name.as_str()), ("copy", "fill"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeOf {
    /// Its index in that report.
    pub index: usize,
    /// The kernel's name, or the op's.
    pub name: String,
    /// The labels around it.
    pub label: String,
}

/// A node that both reports have, and what differs.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{copy, inspect::{ChangedNode, diff}};
/// # let device = dacapo::Device::software()?;
/// let (x, mut y) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
/// let first = device.graph().inspect(copy(&x, &mut y))?;
/// let second = device.graph().inspect(copy(&x[..2], &mut y[..2]))?;
/// let changed: &ChangedNode = &diff(&first, &second).changed[0];
/// assert_eq!((changed.second.name.as_str(), changed.changes[0].what.as_str()), ("copy", "source"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedNode {
    /// Its index in the first report.
    pub first: usize,
    /// The node in the second report.
    pub second: NodeOf,
    /// What is different: arguments by name, or `grid`.
    pub changes: Vec<Change>,
}

/// One thing whose value differs.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{copy, inspect::{Change, diff}};
/// # let device = dacapo::Device::software()?;
/// let (x, mut y) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
/// let first = device.graph().inspect(copy(&x, &mut y))?;
/// let second = device.graph().inspect(copy(&x[..2], &mut y[..2]))?;
/// let source: &Change = &diff(&first, &second).changed[0].changes[0];
/// assert!(source.from.ends_with("[0..16]") && source.to.ends_with("[0..8]"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What differs.
    pub what: String,
    /// Its value in the first report; "nothing" if absent.
    pub from: String,
    /// Its value in the second report; "nothing" if absent.
    pub to: String,
}

/// An edge of one of the reports.
///
/// ```
/// use dacapo::graph::Edge;
/// use dacapo::inspect::{EdgeOf, Kind, Node, Report, diff};
/// let nodes = || vec![Node::new(Kind::Fill, "clear"), Node::new(Kind::Kernel, "sum")];
/// let free = Report::new("device", "", nodes(), vec![], vec![]);
/// let ordered = Report::new("device", "", nodes(), vec![], vec![(0, 1, Edge::Full)]);
/// let edge: &EdgeOf = &diff(&free, &ordered).edges_added[0];
/// assert_eq!((edge.before.name.as_str(), edge.after.name.as_str()), ("clear", "sum"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EdgeOf {
    /// Where it begins.
    pub before: NodeOf,
    /// Where it leads.
    pub after: NodeOf,
}

/// An edge that both reports have, of different kinds.
///
/// ```
/// use dacapo::graph::Edge;
/// use dacapo::inspect::{Kind, Node, Report, diff};
/// let of = |kind| {
///     let nodes = vec![Node::new(Kind::Kernel, "norm"), Node::new(Kind::Kernel, "sum")];
///     Report::new("device", "", nodes, vec![], vec![(0, 1, kind)])
/// };
/// let difference = diff(&of(Edge::Waits), &of(Edge::Signals));
/// let changed = &difference.edges_changed[0];
/// assert_eq!((changed.edge.after.name.as_str(), changed.from, changed.to), ("sum", Edge::Waits, Edge::Signals));
/// assert!(difference.is_empty()); // the work is the same
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedEdge {
    /// The edge in the second report.
    pub edge: EdgeOf,
    /// Its kind in the first report.
    pub from: Edge,
    /// Its kind in the second report.
    pub to: Edge,
}

/// Compares two reports. Nodes are matched in order, by kind, name and label.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, copy, fill, inspect::diff};
/// # let device = dacapo::Device::software()?;
/// let (x, mut y) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
/// let first = device.graph().inspect(copy(&x, &mut y))?;
/// let second = device.graph().inspect(fill(&mut y, baked(1)))?;
/// assert!(diff(&first, &first).is_empty());
/// println!("{}", diff(&first, &second)); // one line for each node, edge and memory that differs
/// # Ok(()) }
/// ```
pub fn diff(first: &Report, second: &Report) -> Difference {
    let pairs = matches(first, second);
    let mut second_of = vec![None; first.nodes.len()];
    let mut first_of = vec![None; second.nodes.len()];
    for (i, j) in &pairs {
        second_of[*i] = Some(*j);
        first_of[*j] = Some(*i);
    }
    let unmatched = |report: &Report, other: &[Option<usize>]| {
        let nodes = report.nodes.iter().zip(other).filter(|(_, other)| other.is_none());
        nodes.map(|(node, _)| NodeOf::new(node)).collect::<Vec<_>>()
    };
    let memory_of = matched_memories(first, second, &pairs);
    let both = Both { first, second, memory_of: &memory_of };
    let changed = pairs.iter().filter_map(|(i, j)| {
        let changes = both.changes(&first.nodes[*i], &second.nodes[*j]);
        (!changes.is_empty()).then(|| ChangedNode { first: *i, second: NodeOf::new(&second.nodes[*j]), changes })
    });
    let kinds = kinds(first);
    let edges_changed = second.edges.iter().filter_map(|&(before, after, to)| {
        let peer = |node: usize| first_of.get(node).copied().flatten();
        let from = *kinds.get(&(peer(before)?, peer(after)?))?;
        let edge = || EdgeOf::new(&second.nodes[before], &second.nodes[after]);
        (from != to).then(|| ChangedEdge { edge: edge(), from, to })
    });
    let edges_changed = edges_changed.collect();
    Difference {
        about: about(first, second),
        added: unmatched(second, &first_of),
        removed: unmatched(first, &second_of),
        changed: changed.collect(),
        edges_added: edges_without_peer(second, &first_of, first),
        edges_removed: edges_without_peer(first, &second_of, second),
        edges_changed,
        memories: both.memories(),
    }
}

impl Difference {
    /// Whether both graphs do the same work.
    pub fn is_empty(&self) -> bool {
        let Difference { about: _, added, removed, changed, edges_added, edges_removed, edges_changed: _, memories } =
            self;
        added.is_empty()
            && removed.is_empty()
            && changed.is_empty()
            && edges_added.is_empty()
            && edges_removed.is_empty()
            && memories.is_empty()
    }
}

impl Change {
    fn new(what: &str, from: String, to: String) -> Option<Change> {
        (from != to).then(|| Change { what: what.to_string(), from, to })
    }
}

impl NodeOf {
    pub(crate) fn new(node: &Node) -> NodeOf {
        NodeOf { index: node.index, name: node.name.clone(), label: node.label.clone() }
    }
}

impl EdgeOf {
    fn new(before: &Node, after: &Node) -> EdgeOf {
        EdgeOf { before: NodeOf::new(before), after: NodeOf::new(after) }
    }
}

const NOTHING: &str = "nothing";

fn about(first: &Report, second: &Report) -> Vec<Change> {
    let one = |what, of: fn(&Report) -> &String| Change::new(what, of(first).clone(), of(second).clone());
    [one("device", |r| &r.device), one("label", |r| &r.label), one("dacapo", |r| &r.dacapo)]
        .into_iter()
        .flatten()
        .collect()
}

/// Two reports, and which memory of the first is which of the second.
struct Both<'r> {
    first: &'r Report,
    second: &'r Report,
    memory_of: &'r [Option<usize>],
}

impl Both<'_> {
    fn changes(&self, a: &Node, b: &Node) -> Vec<Change> {
        let Both { first, second, .. } = *self;
        let grid = |node: &Node| node.geometry.map_or_else(|| NOTHING.to_string(), |geometry| geometry.to_string());
        let mut changes: Vec<Change> = Change::new("grid", grid(a), grid(b)).into_iter().collect();
        let across = |node: &Node| node.across.map_or_else(|| "on one device".to_string(), |across| across.to_string());
        changes.extend(Change::new("way", across(a), across(b)));
        let describe = |report: &Report, argument: Option<&Argument>| {
            argument.map_or_else(|| NOTHING.to_string(), |argument| report.describe(argument))
        };
        for at in 0..a.arguments.len().max(b.arguments.len()) {
            match (a.arguments.get(at), b.arguments.get(at)) {
                // Not the same parameter: one went, another came.
                (Some(x), Some(y)) if x.name != y.name => {
                    changes.extend(Change::new(&x.name, first.describe(x), NOTHING.to_string()));
                    changes.extend(Change::new(&y.name, NOTHING.to_string(), second.describe(y)));
                }
                (Some(x), Some(y)) => changes.extend(self.argument(x, y)),
                (x, y) => {
                    let name = x.or(y).map_or("", |argument| &argument.name);
                    changes.extend(Change::new(name, describe(first, x), describe(second, y)));
                }
            }
        }
        changes
    }

    /// How an argument has changed that both have.
    fn argument(&self, x: &Argument, y: &Argument) -> Option<Change> {
        let (from, mut to) = (self.first.describe(x), self.second.describe(y));
        let (Some(a), Some(b)) = (memory_of(&x.how), memory_of(&y.how)) else { return Change::new(&x.name, from, to) };
        let is_same = match self.memory_of.get(a.0) {
            Some(second) => *second == Some(b.0),
            // If you changed the fields: a memory that neither report has.
            None => a.0 == b.0 && self.second.memories.len() <= b.0,
        };
        let is_alike = a.1 == b.1 && std::mem::discriminant(&x.how) == std::mem::discriminant(&y.how);
        if is_same && is_alike {
            return None;
        }
        if from == to {
            to.push_str(", another one of this name");
        }
        Change::new(&x.name, from, to)
    }

    fn memories(&self) -> Vec<Change> {
        let Both { first, second, memory_of } = *self;
        let words = |report: &Report, at: usize| {
            let memory = &report.memories[at];
            format!("{} ({}, {} bytes)", memory.name, memory.kind, memory.bytes)
        };
        let named = |what: usize, from: String, to: String| Change::new(&format!("memory {what}"), from, to);
        let mut changes = Vec::new();
        for (a, b) in memory_of.iter().enumerate() {
            let Some(b) = *b else {
                changes.extend(named(a, words(first, a), NOTHING.to_string()));
                continue;
            };
            let (one, other) = (&first.memories[a], &second.memories[b]);
            let is_renamed = one.name != other.name && (is_named(one) || is_named(other));
            if one.bytes != other.bytes || one.kind != other.kind || is_renamed {
                changes.extend(named(b, words(first, a), words(second, b)));
            }
        }
        let mut is_new = vec![true; second.memories.len()];
        memory_of.iter().flatten().for_each(|b| is_new[*b] = false);
        let new = (0..second.memories.len()).filter(|b| is_new[*b]);
        changes.extend(new.filter_map(|b| named(b, NOTHING.to_string(), words(second, b))));
        changes
    }
}

/// The memory of an argument, and what of it and how.
fn memory_of(how: &How) -> Option<(usize, (super::Bytes, super::Access))> {
    match how {
        How::Scalar { memory, bytes, access } | How::Slice { memory, bytes, access } => {
            Some((*memory, (*bytes, *access)))
        }
        _ => None,
    }
}

/// The edges of a report, with their kinds.
fn kinds(report: &Report) -> HashMap<(usize, usize), Edge> {
    report.edges.iter().map(|(before, after, kind)| ((*before, *after), *kind)).collect()
}

/// Edges of `report` that `other` has not, where `peer` says which node of it is which.
fn edges_without_peer(report: &Report, peer: &[Option<usize>], other: &Report) -> Vec<EdgeOf> {
    let known = kinds(other);
    let node = |index: usize| report.nodes.get(index);
    let mut edges = Vec::new();
    for (before, after, _) in &report.edges {
        let (Some(from), Some(to)) = (node(*before), node(*after)) else { continue };
        if !matches!((peer[*before], peer[*after]), (Some(i), Some(j)) if known.contains_key(&(i, j))) {
            edges.push(EdgeOf::new(from, to));
        }
    }
    edges
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in &self.about {
            writeln!(f, "  {change}")?;
        }
        self.edges_changed.iter().try_for_each(|edge| writeln!(f, "  {edge}"))?;
        if self.is_empty() {
            return writeln!(f, "no difference");
        }
        self.removed.iter().try_for_each(|node| writeln!(f, "- {node}"))?;
        self.added.iter().try_for_each(|node| writeln!(f, "+ {node}"))?;
        for node in &self.changed {
            let was =
                if node.first == node.second.index { String::new() } else { format!(", was node {}", node.first) };
            writeln!(f, "~ {}{was}", node.second)?;
            node.changes.iter().try_for_each(|change| writeln!(f, "    {change}"))?;
        }
        self.edges_removed.iter().try_for_each(|edge| writeln!(f, "- {edge}"))?;
        self.edges_added.iter().try_for_each(|edge| writeln!(f, "+ {edge}"))?;
        self.memories.iter().try_for_each(|change| writeln!(f, "~ {change}"))
    }
}

impl fmt::Display for NodeOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = if self.label.is_empty() { String::new() } else { format!(" in {}", self.label) };
        write!(f, "node {} `{}`{label}", self.index, self.name)
    }
}

impl fmt::Display for EdgeOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "edge from {} to {}", self.before, self.after)
    }
}

impl fmt::Display for ChangedEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.edge, self.from, self.to)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.what, self.from, self.to)
    }
}
