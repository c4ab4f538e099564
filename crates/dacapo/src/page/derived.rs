//! What a page says beyond its data: computed here, so that the page only shows it.
//!
//! Lists instead of names, because there are many: this is between this folder's Rust and its script, and not for others.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Page;
use crate::arrange::Edge;
use crate::inspect::{Access, Difference, Finding, Kind, Report, diff};

/// On whom, how, whether through a join, and why.
type Waits = Vec<(usize, Edge, bool, Vec<(usize, u64, u64, Access, Access)>)>;

/// By the index of a node: what changed, or nothing where the node is new or gone.
type Changes = BTreeMap<usize, Vec<(String, String, String)>>;

#[derive(Serialize)]
pub(super) struct Derived {
    /// Of each node.
    waits: Vec<Waits>,
    waits_before: Vec<Waits>,
    /// Ops are nodes that are no joins.
    op_of_node: Vec<Option<usize>>,
    node_of_op: Vec<usize>,
    changes: Option<Sides>,
    /// The nodes of each finding.
    pub(super) findings: Vec<Vec<usize>>,
    #[serde(skip)]
    pub(super) difference: Option<Difference>,
}

#[derive(Serialize)]
struct Sides {
    before: Changes,
    after: Changes,
}

impl Derived {
    pub(super) fn of(page: &Page) -> Derived {
        let difference = page.before.as_ref().map(|before| diff(before, &page.report));
        let is_op = |node: &&crate::inspect::Node| node.kind != Kind::Join;
        let node_of_op: Vec<usize> = page.report.nodes.iter().filter(is_op).map(|node| node.index).collect();
        let mut op_of_node = vec![None; page.report.nodes.len()];
        for (op, node) in node_of_op.iter().enumerate() {
            op_of_node[*node] = Some(op);
        }
        Derived {
            waits: waits(&page.report),
            waits_before: page.before.as_ref().map_or_else(Vec::new, waits),
            op_of_node,
            node_of_op,
            changes: difference.as_ref().map(Sides::of),
            findings: page.findings.iter().map(|finding| nodes_of(finding, &page.report)).collect(),
            difference,
        }
    }
}

impl Sides {
    fn of(difference: &Difference) -> Sides {
        let mut sides = Sides { before: BTreeMap::new(), after: BTreeMap::new() };
        for node in &difference.removed {
            sides.before.insert(node.index, Vec::new());
        }
        for node in &difference.added {
            sides.after.insert(node.index, Vec::new());
        }
        for node in &difference.changed {
            let changes =
                node.changes.iter().map(|change| (change.what.clone(), change.from.clone(), change.to.clone()));
            let changes: Vec<_> = changes.collect();
            sides.before.insert(node.first, changes.clone());
            sides.after.insert(node.second.index, changes);
        }
        sides
    }
}

fn nodes_of(finding: &Finding, report: &Report) -> Vec<usize> {
    report.nodes.iter().filter(|node| finding.is_at(node)).map(|node| node.index).collect()
}

fn waits(report: &Report) -> Vec<Waits> {
    let into = report.edges_into();
    let of = |node: usize| {
        let waits = report.waits_of(&into, node).into_iter();
        let reasons = |reasons: Vec<crate::inspect::Reason>| {
            let one = |reason: crate::inspect::Reason| {
                (reason.memory, reason.bytes.start, reason.bytes.end, reason.first, reason.second)
            };
            reasons.into_iter().map(one).collect()
        };
        waits.map(|wait| (wait.on, wait.edge, wait.is_joined, reasons(wait.reasons))).collect()
    };
    (0..report.nodes.len()).map(of).collect()
}
