//! Graphs as templates: nodes in the order of their creation, edges in the order of their insertion.
//!
//! Observed rules that hold here (H200, driver 580.159.04):
//! - one edge a pair of nodes, whatever its data; an existing edge, a self edge, a foreign node: `INVALID_VALUE`;
//! - a batch of edges is not atomic: those before a duplicate stay; a self edge is found before anything is added;
//! - a cycle may be built; only instantiation refuses it;
//! - a clone knows which node each of its nodes came from, and keeps knowing when the original loses nodes.

use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::CUgraphEdgeData;

use super::conditional::{Condition, Conditional};
use super::graph_memory::AllocWork;
use super::objects::Event;
use super::table::{Key, Table};
use super::user_object::{References, UserObjects};
use super::value_ops::ValueWork;
use super::work::{CopyWork, HostWork, KernelWork, SetWork};
use crate::nccl::CollectiveWork;

/// A graph.
#[derive(Default)]
pub(crate) struct Graph {
    /// Nodes in the order of their creation.
    pub(crate) nodes: Vec<Key<Node>>,
    /// Embedded in a child node or a conditional one: it lives and dies with that node.
    pub(crate) embedded: bool,
    /// The graph in which it is the body of a conditional node.
    pub(crate) parent: Option<Key<Graph>>,
    /// Conditions made for it, in order.
    pub(crate) conditions: Vec<Arc<Condition>>,
    /// References that it holds.
    pub(crate) objects: References,
}

/// A node of a graph.
pub(crate) struct Node {
    pub(crate) graph: Key<Graph>,
    pub(crate) kind: NodeKind,
    /// Edges into this node, in insertion order.
    pub(crate) before: Vec<Edge>,
    /// Edges out of this node, in insertion order.
    pub(crate) after: Vec<Edge>,
    /// The node it was cloned from.
    pub(crate) cloned_from: Option<Key<Node>>,
    /// What `cuGraphKernelNodeGetParams` has handed out: pointers to the arguments; valid until they change.
    pub(crate) lent: Lent,
}

/// Memory lent to C by "get parameters" calls, kept for as long as the parameters are.
#[derive(Default)]
pub(crate) struct Lent {
    pub(crate) pointers: Vec<usize>,
    pub(crate) buffer_size: Box<usize>,
}

/// What a node does.
#[derive(Clone)]
pub(crate) enum NodeKind {
    Empty,
    Kernel(Arc<KernelWork>),
    Copy(Arc<CopyWork>),
    Set(Arc<SetWork>),
    Host(HostWork),
    Child(Key<Graph>),
    EventRecord(Key<Event>),
    EventWait(Key<Event>),
    Conditional(Arc<Conditional>),
    Values(Arc<ValueWork>),
    /// Calls of NCCL. On a GPU it is a kernel of that library, and the API shows it as one.
    Collective(Arc<CollectiveWork>),
    Alloc(Arc<AllocWork>),
    /// The address it frees.
    Free(u64),
}

impl NodeKind {
    /// `CUgraphNodeType`.
    pub(crate) fn number(&self) -> u32 {
        use dacapo_driver::types::*;
        match self {
            NodeKind::Kernel(_) | NodeKind::Collective(_) => CU_GRAPH_NODE_TYPE_KERNEL,
            NodeKind::Copy(_) => CU_GRAPH_NODE_TYPE_MEMCPY,
            NodeKind::Set(_) => CU_GRAPH_NODE_TYPE_MEMSET,
            NodeKind::Host(_) => CU_GRAPH_NODE_TYPE_HOST,
            NodeKind::Child(_) => CU_GRAPH_NODE_TYPE_GRAPH,
            NodeKind::Empty => CU_GRAPH_NODE_TYPE_EMPTY,
            NodeKind::EventWait(_) => CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            NodeKind::EventRecord(_) => CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            NodeKind::Conditional(_) => CU_GRAPH_NODE_TYPE_CONDITIONAL,
            NodeKind::Values(_) => CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
            NodeKind::Alloc(_) => CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            NodeKind::Free(_) => CU_GRAPH_NODE_TYPE_MEM_FREE,
        }
    }

    /// A word for people.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            NodeKind::Kernel(_) => "kernel",
            NodeKind::Collective(_) => "collective",
            NodeKind::Copy(_) => "memcpy",
            NodeKind::Set(_) => "memset",
            NodeKind::Host(_) => "host",
            NodeKind::Child(_) => "child",
            NodeKind::Empty => "empty",
            NodeKind::EventWait(_) => "event wait",
            NodeKind::EventRecord(_) => "event record",
            NodeKind::Conditional(_) => "conditional",
            NodeKind::Values(_) => "batch memory operation",
            NodeKind::Alloc(_) => "allocation",
            NodeKind::Free(_) => "free",
        }
    }
}

/// All graphs and their nodes.
pub(crate) struct Graphs {
    pub(crate) graphs: Table<Graph>,
    pub(crate) nodes: Table<Node>,
    /// Conditions by the number that kernels name them by; one goes with the last graph or executable that has it.
    pub(crate) conditions: std::collections::HashMap<u64, std::sync::Weak<Condition>>,
    pub(crate) last_condition: u64,
    pub(crate) objects: UserObjects,
}

/// One end of an edge, with the edge's data.
pub(crate) type Edge = (Key<Node>, CUgraphEdgeData);

/// An edge: from, to, data.
pub(crate) type WholeEdge = (Key<Node>, Key<Node>, CUgraphEdgeData);

/// Edge data that cuda.h allows between these two nodes.
fn edge_is_legal(data: &CUgraphEdgeData, from: &NodeKind, to: &NodeKind) -> bool {
    if data.reserved != [0; 5] || data.to_port != 0 {
        return false;
    }
    let kernels = matches!((from, to), (NodeKind::Kernel(_), NodeKind::Kernel(_)));
    match data.r#type {
        // From port 2, plain: what a captured launch completion event leaves.
        0 => data.from_port == 0 || kernels && data.from_port == 2,
        1 => kernels && (data.from_port == 1 || data.from_port == 2),
        _ => false,
    }
}

/// Edge data without anything in it.
pub(crate) fn is_plain(data: &CUgraphEdgeData) -> bool {
    data.r#type == 0 && data.from_port == 0 && data.to_port == 0
}

impl Graphs {
    pub(crate) fn new() -> Graphs {
        Graphs {
            graphs: Table::new(6),
            nodes: Table::new(7),
            conditions: std::collections::HashMap::new(),
            last_condition: 0,
            objects: UserObjects::new(),
        }
    }

    /// Adds a node behind `before`.
    pub(crate) fn add_node(
        &mut self,
        graph: Key<Graph>,
        kind: NodeKind,
        before: &[Edge],
    ) -> Result<Key<Node>, CUresult> {
        if self.graphs.get(graph).is_none() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        for (at, (dependency, data)) in before.iter().enumerate() {
            let known = self.nodes.get(*dependency).filter(|node| node.graph == graph);
            let duplicate = before[..at].iter().any(|(earlier, _)| earlier == dependency);
            if duplicate || !known.is_some_and(|node| edge_is_legal(data, &node.kind, &kind)) {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
        }
        let node = self.nodes.insert(Node {
            graph,
            kind,
            before: before.to_vec(),
            after: Vec::new(),
            cloned_from: None,
            lent: Lent::default(),
        });
        for (dependency, data) in before {
            if let Some(from) = self.nodes.get_mut(*dependency) {
                from.after.push((node, *data));
            }
        }
        self.graphs.get_mut(graph).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?.nodes.push(node);
        Ok(node)
    }

    /// Adds edges, one after the other: those before a bad one stay.
    pub(crate) fn add_edges(&mut self, graph: Key<Graph>, edges: &[WholeEdge]) -> Result<(), CUresult> {
        if edges.iter().any(|(from, to, _)| from == to) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        for (from, to, data) in edges {
            let legal = match (self.nodes.get(*from), self.nodes.get(*to)) {
                (Some(a), Some(b)) => {
                    a.graph == graph
                        && b.graph == graph
                        && edge_is_legal(data, &a.kind, &b.kind)
                        && !a.after.iter().any(|(known, _)| known == to)
                }
                _ => false,
            };
            if !legal {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            if let Some(a) = self.nodes.get_mut(*from) {
                a.after.push((*to, *data));
            }
            if let Some(b) = self.nodes.get_mut(*to) {
                b.before.push((*from, *data));
            }
        }
        Ok(())
    }

    /// Removes edges, one after the other: those before an absent one stay removed. Plain data removes any edge.
    pub(crate) fn remove_edges(
        &mut self,
        graph: Key<Graph>,
        edges: &[(Key<Node>, Key<Node>, Option<CUgraphEdgeData>)],
    ) -> Result<(), CUresult> {
        for (from, to, data) in edges {
            let present = self.nodes.get(*from).is_some_and(|a| {
                a.graph == graph
                    && a.after.iter().any(|(known, has)| {
                        known == to
                            && data.is_none_or(|d| {
                                is_plain(&d)
                                    || (d.r#type, d.from_port, d.to_port) == (has.r#type, has.from_port, has.to_port)
                            })
                    })
            });
            if !present {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            if let Some(a) = self.nodes.get_mut(*from) {
                a.after.retain(|(known, _)| known != to);
            }
            if let Some(b) = self.nodes.get_mut(*to) {
                b.before.retain(|(known, _)| known != from);
            }
        }
        Ok(())
    }

    /// Destroys a node and its edges.
    pub(crate) fn remove_node(&mut self, key: Key<Node>) {
        let Some(node) = self.nodes.remove(key) else { return };
        for (other, _) in &node.before {
            if let Some(other) = self.nodes.get_mut(*other) {
                other.after.retain(|(known, _)| *known != key);
            }
        }
        for (other, _) in &node.after {
            if let Some(other) = self.nodes.get_mut(*other) {
                other.before.retain(|(known, _)| *known != key);
            }
        }
        if let Some(graph) = self.graphs.get_mut(node.graph) {
            graph.nodes.retain(|known| *known != key);
        }
        self.remove_inside(&node.kind);
    }

    /// Destroys a graph with all its nodes.
    pub(crate) fn remove_graph(&mut self, key: Key<Graph>) {
        let Some(graph) = self.graphs.remove(key) else { return };
        self.objects.release_all(&graph.objects);
        for node in graph.nodes {
            if let Some(node) = self.nodes.remove(node) {
                self.remove_inside(&node.kind);
            }
        }
        // Most bodies have none of their own, and there may be many.
        if !graph.conditions.is_empty() {
            drop(graph.conditions);
            self.conditions.retain(|_, condition| condition.strong_count() > 0);
        }
    }

    /// Destroys the graphs embedded in a node that is gone.
    fn remove_inside(&mut self, kind: &NodeKind) {
        match kind {
            NodeKind::Child(child) => self.remove_graph(*child),
            NodeKind::Conditional(conditional) => {
                conditional.condition.set_used(false);
                conditional.bodies.iter().for_each(|body| self.remove_graph(*body));
            }
            _ => {}
        }
    }

    /// How deep child graphs nest in a graph: 0 without any.
    pub(crate) fn depth(&self, key: Key<Graph>) -> usize {
        self.children(key).into_iter().map(|child| 1 + self.depth(child)).max().unwrap_or(0)
    }

    /// The graphs embedded in a graph's nodes: children and bodies.
    pub(crate) fn children(&self, key: Key<Graph>) -> Vec<Key<Graph>> {
        let nodes = self.graphs.get(key).map(|graph| graph.nodes.as_slice()).unwrap_or_default();
        let inside = |node: &Key<Node>| match self.nodes.get(*node).map(|node| &node.kind) {
            Some(NodeKind::Child(child)) => vec![*child],
            Some(NodeKind::Conditional(conditional)) => conditional.bodies.clone(),
            _ => Vec::new(),
        };
        nodes.iter().flat_map(inside).collect()
    }

    /// A copy of a graph, each node knowing where it came from.
    pub(crate) fn clone_graph(&mut self, key: Key<Graph>, embedded: bool) -> Result<Key<Graph>, CUresult> {
        let source = self.graphs.get(key).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let (sources, objects) = (source.nodes.clone(), source.objects.clone());
        if self.has_conditional(key) || self.root_depth(key) > 0 {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        self.objects.retain_all(&objects);
        let copy = self.graphs.insert(Graph { embedded, objects, ..Graph::default() });
        let mut twins = std::collections::HashMap::new();
        for source in &sources {
            let Some(node) = self.nodes.get(*source) else { continue };
            let kind = match node.kind.clone() {
                NodeKind::Child(child) => NodeKind::Child(self.clone_graph(child, true)?),
                other => other,
            };
            let twin = self.nodes.insert(Node {
                graph: copy,
                kind,
                before: Vec::new(),
                after: Vec::new(),
                cloned_from: Some(*source),
                lent: Lent::default(),
            });
            twins.insert(*source, twin);
        }
        let translate = |edges: &[Edge]| -> Vec<Edge> {
            edges.iter().filter_map(|(node, data)| twins.get(node).map(|twin| (*twin, *data))).collect()
        };
        let mut order = Vec::with_capacity(sources.len());
        for source in &sources {
            let (Some(node), Some(twin)) = (self.nodes.get(*source), twins.get(source)) else { continue };
            let (before, after) = (translate(&node.before), translate(&node.after));
            if let Some(copied) = self.nodes.get_mut(*twin) {
                (copied.before, copied.after) = (before, after);
            }
            order.push(*twin);
        }
        if let Some(graph) = self.graphs.get_mut(copy) {
            graph.nodes = order;
        }
        Ok(copy)
    }

    /// Whether each of `ends` is one of `goals` or comes before one.
    pub(crate) fn all_come_before(&self, ends: &[Key<Node>], goals: &[Key<Node>]) -> bool {
        if ends.is_empty() {
            return true;
        }
        let mut seen: std::collections::HashSet<Key<Node>> = goals.iter().copied().collect();
        let mut stack = goals.to_vec();
        while let Some(node) = stack.pop() {
            for (before, _) in self.nodes.get(node).map(|node| node.before.as_slice()).unwrap_or_default() {
                if seen.insert(*before) {
                    stack.push(*before);
                }
            }
        }
        ends.iter().all(|end| seen.contains(end))
    }

    /// The nodes so that each comes after what it depends on; or a node on a cycle, the one whose edge closes it.
    ///
    /// The order is the one in which an update pairs the nodes of two graphs, found by its answers: roots in
    /// creation order onto a stack, the last one taken first, each handing on to its dependents.
    pub(crate) fn order(&self, graph: Key<Graph>) -> Result<Vec<Key<Node>>, Key<Node>> {
        let nodes = self.graphs.get(graph).map(|graph| graph.nodes.as_slice()).unwrap_or_default();
        let mut waiting: std::collections::HashMap<Key<Node>, usize> =
            nodes.iter().map(|node| (*node, self.nodes.get(*node).map_or(0, |node| node.before.len()))).collect();
        let mut stack: Vec<_> = nodes.iter().copied().filter(|node| waiting[node] == 0).collect();
        let mut order = Vec::with_capacity(nodes.len());
        while let Some(node) = stack.pop() {
            order.push(node);
            for (next, _) in self.nodes.get(node).map(|node| node.after.as_slice()).unwrap_or_default() {
                if let Some(count) = waiting.get_mut(next) {
                    *count -= 1;
                    if *count == 0 {
                        stack.push(*next);
                    }
                }
            }
        }
        if order.len() == nodes.len() {
            return Ok(order);
        }
        // The edge that closes a cycle starts at the node of the cycle that was created last.
        let stuck = nodes.iter().rev().find(|node| waiting[node] > 0 && self.is_on_cycle(**node));
        Err(stuck.copied().unwrap_or(nodes[0]))
    }

    fn is_on_cycle(&self, start: Key<Node>) -> bool {
        let mut stack = vec![start];
        let mut seen = std::collections::HashSet::new();
        while let Some(node) = stack.pop() {
            for (next, _) in self.nodes.get(node).map(|node| node.after.as_slice()).unwrap_or_default() {
                if *next == start {
                    return true;
                }
                if seen.insert(*next) {
                    stack.push(*next);
                }
            }
        }
        false
    }
}
