//! In whose body each node of a report is drawn.

use super::{Inside, Report};

/// Bodies inside bodies have boxes of their own down to here. What is deeper is in the innermost of them.
const BODIES_MAX: usize = 64;

/// The body in whose box each node is drawn, and how deep that is.
pub(super) fn homes(report: &Report) -> Vec<(Option<Inside>, usize)> {
    let mut homes: Vec<(Option<Inside>, usize)> = Vec::with_capacity(report.nodes.len());
    for node in &report.nodes {
        // What is inside a node stands behind it, and only loops and branches have bodies.
        let inside = node.inside.filter(|inside| inside.node < node.index && report.nodes[inside.node].has_bodies());
        let home = inside.map(|inside| (inside, &homes[inside.node]));
        homes.push(match home {
            Some((inside, (_, depth))) if *depth < BODIES_MAX => (Some(inside), depth + 1),
            Some((_, outer)) => *outer,
            None => (None, 0),
        });
    }
    homes
}
