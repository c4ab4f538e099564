//! Conditional nodes: conditions, what may stand in a body, and which body a value chooses.
//!
//! Observed rules that hold here (H200, driver 580.159.04):
//! - a handle serves one node, in the graph that it was made for or in a body inside it; a handle that no node uses keeps
//!   the graph from being instantiated;
//! - IF has one body or two (the second runs where the value is 0), WHILE one, SWITCH any number; a SWITCH whose value
//!   names no body runs nothing;
//! - bodies hold kernels, sets, copies between device and pinned memory, empty nodes, children and conditional nodes; what
//!   else was added is refused when the graph is instantiated, but only compared by an update;
//! - a graph with a conditional node, or with the handle of one that was destroyed, is not cloned and is no child; nor is
//!   a body;
//! - a graph with a conditional node has one executable at a time, and none for device launch.
//!
//! A condition outlives its graph where an executable still has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::executable::Refused;
use super::graph::{Graph, Graphs, Node, NodeKind};
use super::table::Key;
use crate::finding::FindingOp;

/// Handles are no small numbers, so that a stray one is seen for what it is.
pub(crate) const HANDLES: u64 = 0xc0_4d17_0000_0000;

/// A value that kernels set and a conditional node reads.
#[derive(Debug)]
pub(crate) struct Condition {
    /// What kernels name it by.
    pub(crate) handle: u64,
    /// The value at the begin of each launch, if there is one.
    pub(crate) default: Option<u32>,
    /// The conditional node that reads it is there.
    used: AtomicBool,
    value: AtomicU32,
    /// It was given a value since the launch began.
    given: AtomicBool,
}

impl Condition {
    pub(crate) fn new(handle: u64, default: Option<u32>) -> Condition {
        let (used, value, given) = (AtomicBool::new(false), AtomicU32::new(0), AtomicBool::new(false));
        Condition { handle, default, used, value, given }
    }

    /// How reports name it: by the order in which handles were made.
    pub(crate) fn number(&self) -> u64 {
        self.handle - HANDLES
    }

    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn set_used(&self, used: bool) {
        self.used.store(used, Ordering::Relaxed);
    }

    pub(crate) fn value(&self) -> u32 {
        self.value.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, value: u32) {
        self.value.store(value, Ordering::Relaxed);
        self.given.store(true, Ordering::Relaxed);
    }

    /// A launch begins. Without a default the value stays what it was, and means nothing.
    pub(crate) fn begin(&self, default: Option<u32>) {
        match default {
            Some(value) => self.set(value),
            None => self.given.store(false, Ordering::Relaxed),
        }
    }

    pub(crate) fn is_given(&self) -> bool {
        self.given.load(Ordering::Relaxed)
    }
}

/// What a conditional node is.
#[derive(Debug)]
pub(crate) struct Conditional {
    pub(crate) condition: Arc<Condition>,
    pub(crate) kind: Kind,
    pub(crate) bodies: Vec<Key<Graph>>,
    /// Whose it is, as far as that was told.
    pub(crate) by: Option<Arc<FindingOp>>,
}

/// How a value chooses a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    If,
    While,
    Switch,
}

impl Kind {
    /// From `CUgraphConditionalNodeType` and the number of bodies.
    pub(crate) fn new(number: u32, bodies: u32) -> Option<Kind> {
        match (number, bodies) {
            (CU_GRAPH_COND_TYPE_IF, 1 | 2) => Some(Kind::If),
            (CU_GRAPH_COND_TYPE_WHILE, 1) => Some(Kind::While),
            (CU_GRAPH_COND_TYPE_SWITCH, 1..) => Some(Kind::Switch),
            _ => None,
        }
    }

    /// As reports write it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::If => "IF",
            Kind::While => "WHILE",
            Kind::Switch => "SWITCH",
        }
    }

    /// The body that `value` chooses among `bodies`.
    pub(crate) fn choose(self, value: u32, bodies: usize) -> Option<usize> {
        let chosen = match self {
            Kind::If => usize::from(value == 0),
            Kind::While if value == 0 => return None,
            Kind::While => 0,
            Kind::Switch => value as usize,
        };
        (chosen < bodies).then_some(chosen)
    }
}

impl Graphs {
    /// The graph that no node holds and that this one is inside of, or is.
    pub(crate) fn root(&self, mut graph: Key<Graph>) -> Key<Graph> {
        while let Some(parent) = self.graphs.get(graph).and_then(|graph| graph.parent) {
            graph = parent;
        }
        graph
    }

    /// How many conditional nodes this graph is inside of.
    pub(crate) fn root_depth(&self, mut graph: Key<Graph>) -> usize {
        let mut depth = 0;
        while let Some(parent) = self.graphs.get(graph).and_then(|graph| graph.parent) {
            (graph, depth) = (parent, depth + 1);
        }
        depth
    }

    /// Whether a conditional node is in this graph, or in one embedded in it; or a handle, which outlives its node.
    pub(crate) fn has_conditional(&self, graph: Key<Graph>) -> bool {
        let Some(graph) = self.graphs.get(graph) else { return false };
        !graph.conditions.is_empty()
            || graph.nodes.iter().any(|node| match self.nodes.get(*node).map(|node| &node.kind) {
                Some(NodeKind::Conditional(_)) => true,
                Some(NodeKind::Child(child)) => self.has_conditional(*child),
                _ => false,
            })
    }

    /// Adds a conditional node with empty bodies behind `before`.
    pub(crate) fn add_conditional(
        &mut self,
        graph: Key<Graph>,
        condition: Arc<Condition>,
        kind: Kind,
        count: u32,
        before: &[super::graph::Edge],
        by: Option<Arc<FindingOp>>,
    ) -> Result<Key<Node>, CUresult> {
        let body = || Graph { embedded: true, parent: Some(graph), ..Graph::default() };
        let bodies: Vec<_> = (0..count).map(|_| self.graphs.insert(body())).collect();
        let node = Conditional { condition: condition.clone(), kind, bodies: bodies.clone(), by };
        let added = self.add_node(graph, NodeKind::Conditional(Arc::new(node)), before);
        match &added {
            Ok(_) => condition.set_used(true),
            Err(_) => bodies.into_iter().for_each(|body| self.remove_graph(body)),
        }
        added
    }

    /// Whether all conditions of a graph and its bodies have their node.
    pub(crate) fn conditions_are_used(&self, graph: Key<Graph>) -> bool {
        let own = self.graphs.get(graph).is_none_or(|graph| graph.conditions.iter().all(|c| c.is_used()));
        own && self.children(graph).into_iter().all(|child| self.conditions_are_used(child))
    }

    /// Whether a body holds only what a body may hold.
    pub(crate) fn check_body(&self, body: Key<Graph>) -> Result<(), Refused> {
        let nodes = self.graphs.get(body).map(|graph| graph.nodes.as_slice()).unwrap_or_default();
        for key in nodes {
            let result = match self.nodes.get(*key).map(|node| &node.kind) {
                Some(NodeKind::Child(child)) => {
                    self.check_body(*child)?;
                    continue;
                }
                // Pageable memory counts as a second context, by the answer of an H200.
                Some(NodeKind::Copy(work)) if work.is_pageable() => CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED,
                Some(NodeKind::Kernel(_) | NodeKind::Set(_) | NodeKind::Copy(_) | NodeKind::Collective(_)) => continue,
                Some(NodeKind::Empty | NodeKind::Conditional(_)) => continue,
                _ => CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
            };
            return Err(Refused { code: CUresult::CUDA_ERROR_INVALID_VALUE, result, node: Some(*key) });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_chooses_a_body() {
        for (kind, value, bodies, chosen) in [
            (Kind::If, 0, 1, None),
            (Kind::If, 7, 1, Some(0)),
            (Kind::If, 0, 2, Some(1)),
            (Kind::If, 1, 2, Some(0)),
            (Kind::While, 0, 1, None),
            (Kind::While, 9, 1, Some(0)),
            (Kind::Switch, 2, 3, Some(2)),
            (Kind::Switch, 3, 3, None),
            (Kind::Switch, u32::MAX, 3, None),
        ] {
            assert_eq!(kind.choose(value, bodies), chosen, "{kind:?} {value} of {bodies}");
        }
    }
}
