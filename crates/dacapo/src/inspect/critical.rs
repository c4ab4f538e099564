//! The most expensive path through a graph, by a model.
//!
//! The model: a node costs one, and one more for each [`NODE_BYTES`] it moves. It knows nothing of arithmetic, of caches,
//! or of nodes that compete for one device; it is for finding where a graph is long, and is never shown as a time.

use super::{CriticalPath, Kind, Node};
use crate::arrange::Edge;

/// A node costs as much as moving this many bytes, in the model: about what a large GPU moves while a small kernel runs.
pub const NODE_BYTES: u64 = 4 << 20;

impl Node {
    /// What it costs in the model, in bytes: [`NODE_BYTES`] plus the bytes it reads and writes. A join moves nothing,
    /// but counts as a node like any other.
    pub fn cost(&self) -> u64 {
        let moved = self.bytes_read.saturating_add(self.bytes_written);
        NODE_BYTES.saturating_add(if self.kind == Kind::Join { 0 } else { moved })
    }
}

/// The most expensive path; of equal ones, that through the earliest nodes. `edges` lead to later nodes and are sorted.
pub(super) fn path(nodes: &[Node], edges: &[(usize, usize, Edge)]) -> CriticalPath {
    // What the most expensive path to each node costs without the node itself, and where it came from.
    let mut to: Vec<(u64, Option<usize>)> = vec![(0, None); nodes.len()];
    // Sorted by source, and all edges into a source come from smaller ones: its own path is complete by then.
    for (before, after, _) in edges {
        let cost = to[*before].0.saturating_add(nodes[*before].cost());
        if cost > to[*after].0 {
            to[*after] = (cost, Some(*before));
        }
    }
    let mut best: Option<(u64, usize)> = None;
    // One round of a loop or one body of a branch is in what the loop or branch itself moves.
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.inside.is_none()) {
        let cost = to[index].0.saturating_add(node.cost());
        if best.is_none_or(|(most, _)| cost > most) {
            best = Some((cost, index));
        }
    }
    let Some((cost, last)) = best else { return CriticalPath::default() };
    let mut path = vec![last];
    while let Some(before) = to[path[path.len() - 1]].1 {
        path.push(before);
    }
    path.reverse();
    CriticalPath { nodes: path, cost }
}
