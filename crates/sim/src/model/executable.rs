//! Instantiated graphs: what a launch runs, what an update may change.
//!
//! An executable holds copies of everything: it survives its template, its module and its parameters. What a
//! launch takes is shared by reference count, so that a change between launches touches later launches only.

use std::collections::HashMap;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::conditional::{Condition, Kind};
use crate::detect::baked::Meant;
use crate::finding::FindingOp;

use super::graph::{Graph, Graphs, Node, NodeKind};
use super::graph_memory::{AllocWork, MemoryUse};
use super::objects::Event;
use super::table::Key;
use super::tasks::Task;
use super::user_object::References;
use super::value_ops::ValueWork;
use super::work::{CopyWork, HostWork, KernelWork, SetWork};
use crate::nccl::CollectiveWork;

/// An executable graph.
pub(crate) struct Executable {
    pub(crate) body: Body,
    pub(crate) flags: u64,
    /// The end of the last launch: launches of one executable never overlap.
    pub(crate) last: Option<Key<Task>>,
    pub(crate) uploaded: bool,
    /// The graph it was made from; that may be gone.
    pub(crate) template: Key<Graph>,
    /// What its launches do with graph memory.
    pub(crate) memory: MemoryUse,
    /// References that it holds.
    pub(crate) objects: References,
    /// What its nodes meant by their addresses, where that is asked for.
    pub(crate) meant: Vec<Meant>,
    /// They were looked at before.
    pub(crate) is_looked_at: bool,
}

/// The nodes of an executable, or of a child graph in one.
#[derive(Default)]
pub(crate) struct Body {
    /// Each comes after what it depends on.
    pub(crate) nodes: Vec<ExecNode>,
    /// Where the node made from a template's node stands.
    pub(crate) positions: HashMap<Key<Node>, usize>,
}

/// A node of an executable.
pub(crate) struct ExecNode {
    /// The template's node; set-parameter calls name it.
    pub(crate) template: Key<Node>,
    /// Its place among the nodes of its graph, in the order in which they were added: how reports name it.
    pub(crate) number: u32,
    pub(crate) kind: ExecKind,
    /// Whose it is, of a conditional node, as far as that was told. Other work says it itself.
    pub(crate) by: Option<Arc<FindingOp>>,
    /// Positions of the nodes it comes after.
    pub(crate) before: Vec<(usize, CUgraphEdgeData)>,
    /// Nobody comes after it: the launch ends when all such are done.
    pub(crate) is_leaf: bool,
    pub(crate) enabled: bool,
}

/// What an executable's node does.
pub(crate) enum ExecKind {
    Empty,
    Kernel(Arc<KernelWork>),
    Copy(Arc<CopyWork>),
    Set(Arc<SetWork>),
    Host(HostWork),
    Child(Body),
    EventRecord(Key<Event>),
    EventWait(Key<Event>),
    /// The condition, its default, and the bodies.
    Conditional(Arc<Condition>, Option<u32>, Kind, Vec<Body>),
    Values(Arc<ValueWork>),
    Collective(Arc<CollectiveWork>),
    Alloc(Arc<AllocWork>),
    Free(u64),
}

impl ExecKind {
    fn number(&self) -> u32 {
        match self {
            ExecKind::Empty => CU_GRAPH_NODE_TYPE_EMPTY,
            ExecKind::Kernel(_) | ExecKind::Collective(_) => CU_GRAPH_NODE_TYPE_KERNEL,
            ExecKind::Copy(_) => CU_GRAPH_NODE_TYPE_MEMCPY,
            ExecKind::Set(_) => CU_GRAPH_NODE_TYPE_MEMSET,
            ExecKind::Host(_) => CU_GRAPH_NODE_TYPE_HOST,
            ExecKind::Child(_) => CU_GRAPH_NODE_TYPE_GRAPH,
            ExecKind::EventRecord(_) => CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            ExecKind::EventWait(_) => CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            ExecKind::Conditional(..) => CU_GRAPH_NODE_TYPE_CONDITIONAL,
            ExecKind::Values(_) => CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
            ExecKind::Alloc(_) => CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            ExecKind::Free(_) => CU_GRAPH_NODE_TYPE_MEM_FREE,
        }
    }

    /// Kernel, memset and memcpy nodes can be switched off, by the manual; host, empty and memory nodes were seen to refuse.
    pub(crate) fn can_be_disabled(&self) -> bool {
        matches!(self, ExecKind::Kernel(_) | ExecKind::Collective(_) | ExecKind::Set(_) | ExecKind::Copy(_))
    }
}

/// What a template is copied for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// An executable that the host launches.
    Launch,
    /// An executable that kernels may launch as well.
    DeviceLaunch,
    /// To be compared with an executable, which has only what an executable may have.
    Update,
}

/// Why a graph cannot be instantiated.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) code: CUresult,
    pub(crate) result: CUgraphInstantiateResult,
    pub(crate) node: Option<Key<Node>>,
}

/// Why an update was refused.
#[derive(Debug, PartialEq)]
pub(crate) struct Changed {
    pub(crate) result: CUgraphExecUpdateResult,
    pub(crate) node: Option<Key<Node>>,
    pub(crate) from: Option<Key<Node>>,
}

impl Body {
    /// Copies a template.
    pub(crate) fn of(graphs: &Graphs, graph: Key<Graph>, purpose: Purpose) -> Result<Body, Refused> {
        let order = graphs.order(graph).map_err(|node| Refused {
            code: CUresult::CUDA_ERROR_INVALID_VALUE,
            result: CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
            node: Some(node),
        })?;
        let position: HashMap<_, _> = order.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        let added = graphs.graphs.get(graph).map(|graph| graph.nodes.as_slice()).unwrap_or_default();
        let numbers: HashMap<_, _> = added.iter().zip(0..).collect();
        let mut nodes = Vec::with_capacity(order.len());
        for key in &order {
            let Some(node) = graphs.nodes.get(*key) else { continue };
            let refuse = |code, result| Refused { code, result, node: Some(*key) };
            let kind = match &node.kind {
                NodeKind::Empty => ExecKind::Empty,
                NodeKind::Kernel(work) => {
                    if !work.fits_registers() {
                        let code = CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
                        return Err(refuse(code, CUDA_GRAPH_INSTANTIATE_ERROR));
                    }
                    ExecKind::Kernel(work.clone())
                }
                NodeKind::Copy(work) => ExecKind::Copy(work.clone()),
                NodeKind::Set(work) => ExecKind::Set(work.clone()),
                NodeKind::Collective(work) => ExecKind::Collective(work.clone()),
                NodeKind::Host(_) | NodeKind::Alloc(_) | NodeKind::Free(_) | NodeKind::Conditional(_)
                    if purpose == Purpose::DeviceLaunch =>
                {
                    let code = CUresult::CUDA_ERROR_INVALID_VALUE;
                    return Err(refuse(code, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED));
                }
                NodeKind::Host(work) => ExecKind::Host(*work),
                NodeKind::Child(child) => ExecKind::Child(Body::of(graphs, *child, purpose)?),
                NodeKind::EventRecord(event) => ExecKind::EventRecord(*event),
                NodeKind::EventWait(event) => ExecKind::EventWait(*event),
                NodeKind::Conditional(conditional) => {
                    if purpose != Purpose::Update {
                        conditional.bodies.iter().try_for_each(|body| graphs.check_body(*body))?;
                    }
                    let bodies = conditional.bodies.iter().map(|body| Body::of(graphs, *body, purpose));
                    let condition = conditional.condition.clone();
                    let default = condition.default;
                    ExecKind::Conditional(condition, default, conditional.kind, bodies.collect::<Result<_, _>>()?)
                }
                NodeKind::Values(work) => ExecKind::Values(work.clone()),
                NodeKind::Alloc(work) => ExecKind::Alloc(work.clone()),
                NodeKind::Free(address) => ExecKind::Free(*address),
            };
            let before = node.before.iter().filter_map(|(n, data)| position.get(n).map(|at| (*at, *data))).collect();
            let number = numbers.get(key).copied().unwrap_or(0);
            let is_leaf = node.after.is_empty();
            let by = if let NodeKind::Conditional(conditional) = &node.kind { conditional.by.clone() } else { None };
            nodes.push(ExecNode { template: *key, number, kind, by, before, is_leaf, enabled: true });
        }
        Ok(Body { nodes, positions: position })
    }

    /// The node made from `template`, in this body or in a child.
    pub(crate) fn find(&mut self, template: Key<Node>) -> Option<&mut ExecNode> {
        if let Some(at) = self.positions.get(&template) {
            return self.nodes.get_mut(*at);
        }
        self.nodes.iter_mut().find_map(|node| match &mut node.kind {
            ExecKind::Child(body) => body.find(template),
            ExecKind::Conditional(_, _, _, bodies) => bodies.iter_mut().find_map(|body| body.find(template)),
            _ => None,
        })
    }

    /// The nodes in bodies of conditional nodes; all, if this is in one.
    pub(crate) fn conditional_nodes(&self, is_body: bool) -> Vec<&ExecNode> {
        let mut all = Vec::new();
        for node in &self.nodes {
            all.extend(is_body.then_some(node));
            match &node.kind {
                ExecKind::Child(child) => all.extend(child.conditional_nodes(is_body)),
                ExecKind::Conditional(_, _, _, bodies) => {
                    all.extend(bodies.iter().flat_map(|body| body.conditional_nodes(true)));
                }
                _ => {}
            }
        }
        all
    }

    /// The events that nodes wait for, of children too; bodies of conditional nodes have none.
    pub(crate) fn awaited(&self) -> Vec<Key<Event>> {
        let of = |node: &ExecNode| match &node.kind {
            ExecKind::EventWait(event) => vec![*event],
            ExecKind::Child(body) => body.awaited(),
            _ => Vec::new(),
        };
        self.nodes.iter().flat_map(of).collect()
    }

    /// A node that works on another device than those before it, where all have to be on one: in the body of a conditional
    /// node, and in all of it if `is_one`. A copy works on the device of the graph, wherever its ends are.
    pub(crate) fn second_device(&self, is_one: bool, first: &mut Option<usize>) -> Option<Key<Node>> {
        self.nodes.iter().find_map(|node| match &node.kind {
            ExecKind::Child(body) => body.second_device(is_one, first),
            ExecKind::Conditional(_, _, _, bodies) => bodies.iter().find_map(|body| match is_one {
                true => body.second_device(true, first),
                false => body.second_device(true, &mut None),
            }),
            kind => {
                let devices = match kind {
                    ExecKind::Kernel(work) => [Some(work.function.device), None],
                    ExecKind::Set(work) => [work.on.map(|on| on.device), None],
                    _ => [None, None],
                };
                let is_other = |device: usize| is_one && *first.get_or_insert(device) != device;
                devices.into_iter().flatten().any(is_other).then_some(node.template)
            }
        })
    }

    /// A copy of pageable memory in the body of a conditional node, or in this, if it is in one.
    pub(crate) fn pageable_copy(&self, is_body: bool) -> Option<Key<Node>> {
        let is_pageable = |node: &&ExecNode| matches!(&node.kind, ExecKind::Copy(work) if work.is_pageable());
        self.conditional_nodes(is_body).into_iter().find(is_pageable).map(|node| node.template)
    }

    /// Whether `new` may take this body's place: `Err` says what differs.
    pub(crate) fn check_update(&self, new: &Body) -> Result<(), Changed> {
        let changed = |result, node, from| Err(Changed { result, node, from });
        if self.nodes.len() != new.nodes.len() {
            return changed(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, None, None);
        }
        for (old, fresh) in self.nodes.iter().zip(&new.nodes) {
            let at = Some(fresh.template);
            // An edge that is missing is reported at its node, one that is new without a node; observed.
            let is_in = |node: &ExecNode, end: usize| node.before.iter().any(|(at, _)| *at == end);
            if old.before.iter().any(|(end, _)| !is_in(fresh, *end)) {
                return changed(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, at, None);
            }
            if fresh.before.len() != old.before.len() {
                return changed(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, None, None);
            }
            for (before, data) in &old.before {
                let same = |d: &CUgraphEdgeData| (d.from_port, d.to_port, d.r#type);
                if fresh.before.iter().any(|(b, d)| b == before && same(d) != same(data)) {
                    let from = new.nodes.get(*before).map(|node| node.template);
                    return changed(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, at, from);
                }
            }
            if old.kind.number() != fresh.kind.number() {
                return changed(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, at, None);
            }
            match (&old.kind, &fresh.kind) {
                (ExecKind::Kernel(a), ExecKind::Kernel(b)) if a.cooperative != b.cooperative => {
                    return changed(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, at, None);
                }
                (ExecKind::Kernel(a), ExecKind::Kernel(b)) if a.function.device != b.function.device => {
                    return changed(CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, at, None);
                }
                (ExecKind::Copy(a), ExecKind::Copy(b)) if a.shape() != b.shape() || a.moves_to(b) => {
                    return changed(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, at, None);
                }
                (ExecKind::Set(a), ExecKind::Set(b))
                    if (a.height > 1) != (b.height > 1) || a.on.map(|on| on.device) != b.on.map(|on| on.device) =>
                {
                    return changed(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, at, None);
                }
                (ExecKind::Child(a), ExecKind::Child(b)) => a.check_update(b)?,
                (ExecKind::Conditional(_, _, a, old), ExecKind::Conditional(_, _, b, new)) => {
                    if (a, old.len()) != (b, new.len()) {
                        return changed(CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, at, None);
                    }
                    old.iter().zip(new).try_for_each(|(old, new)| old.check_update(new))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes over what `new` does; who is enabled, and which template nodes name the nodes, stays.
    pub(crate) fn update(&mut self, new: Body) {
        for (old, fresh) in self.nodes.iter_mut().zip(new.nodes) {
            old.by = fresh.by;
            match (&mut old.kind, fresh.kind) {
                (ExecKind::Child(a), ExecKind::Child(b)) => a.update(b),
                // The kernels name the new graph's condition from now on, so the node reads that one; observed.
                (
                    ExecKind::Conditional(read, default, _, old),
                    ExecKind::Conditional(new_read, new_default, _, new),
                ) => {
                    (*read, *default) = (new_read, new_default);
                    old.iter_mut().zip(new).for_each(|(old, new)| old.update(new));
                }
                (old, fresh) => *old = fresh,
            }
        }
    }
}
