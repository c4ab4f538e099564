//! Conditional nodes: handles, and nodes with their bodies. The rules stand in [`crate::model::conditional`].
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_uint;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::graph::{edge_list, graph_named, node_handle};
use super::graph_node::Spot;
use crate::foreign::put;
use crate::model::conditional::{Condition, HANDLES, Kind};
use crate::model::table::Lookup;
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// `CU_GRAPH_COND_ASSIGN_DEFAULT`.
const ASSIGN_DEFAULT: c_uint = 1;
/// The first version with SWITCH, and with a second body of IF.
const SWITCH_SINCE: i32 = 12_080;
/// How many bodies a SWITCH may have here.
const BODIES_MAX: u32 = 1 << 16;

fn check_context(v: &Visit<'_>, context: CUcontext) -> Answer {
    match v.contexts.look_up(context.bits()) {
        Lookup::Live(_) => Ok(()),
        _ => Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
    }
}

pub(crate) unsafe fn handle_create(
    v: &mut Visit<'_>,
    out: *mut CUgraphConditionalHandle,
    graph: CUgraph,
    context: CUcontext,
    default: c_uint,
    flags: c_uint,
) -> Answer {
    let graph = graph_named(v, graph)?;
    if out.is_null() || flags > ASSIGN_DEFAULT {
        return Err(INVALID);
    }
    check_context(v, context)?;
    v.graphs.last_condition += 1;
    let handle = HANDLES + v.graphs.last_condition;
    let condition = Arc::new(Condition::new(handle, (flags == ASSIGN_DEFAULT).then_some(default)));
    v.graphs.conditions.insert(handle, Arc::downgrade(&condition));
    if let Some(graph) = v.graphs.graphs.get_mut(graph) {
        graph.conditions.push(condition);
    }
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

/// Adds a conditional node; its bodies are told through `params`.
pub(crate) unsafe fn add(v: &mut Visit<'_>, spot: &Spot, params: *mut CUgraphNodeParams) -> Answer {
    // SAFETY: the type was looked at by the caller, and the pointer is an in and out pointer of the call.
    let (mut all, mut p) = unsafe {
        let all = crate::foreign::get(params)?;
        (all, all.read::<CUDA_CONDITIONAL_NODE_PARAMS>())
    };
    if all.reserved2 != 0 || all.reserved0 != [0; 3] || spot.out.is_null() {
        return Err(INVALID);
    }
    let graph = graph_named(v, spot.graph)?;
    let kind = Kind::new(p.r#type, p.size).ok_or(INVALID)?;
    // By the manual; no driver of that time was asked.
    let is_newer = matches!((kind, p.size), (Kind::If, 2) | (Kind::Switch, _));
    if is_newer && v.options.driver_version < SWITCH_SINCE {
        return Err(INVALID);
    }
    if p.size > BODIES_MAX {
        return Err(v.unsupported(format!("conditional nodes with more than {BODIES_MAX} bodies")));
    }
    let condition = v.graphs.conditions.get(&p.handle).and_then(std::sync::Weak::upgrade).ok_or(INVALID)?;
    // The handle is of this graph, or of one that this is a body in.
    let root = v.graphs.root(graph);
    let is_of_this = |v: &Visit<'_>, at| {
        v.graphs.graphs.get(at).is_some_and(|graph| graph.conditions.iter().any(|c| Arc::ptr_eq(c, &condition)))
    };
    let mut inside = vec![root];
    let mut found = false;
    while let Some(at) = inside.pop()
        && !found
    {
        found = is_of_this(v, at);
        if !found {
            inside.extend(v.graphs.children(at));
        }
    }
    if !found || condition.is_used() {
        return Err(INVALID);
    }
    check_context(v, p.ctx)?;
    if v.graphs.root_depth(graph) >= super::graph_node::DEPTH_MAX {
        return Err(v.unsupported(format!("graphs nested more than {} deep", super::graph_node::DEPTH_MAX)));
    }
    // SAFETY: the arrays of the call that passes them on.
    let before = unsafe { edge_list(v, spot.dependencies, spot.data, spot.count) }?;
    let by = v.this().announced.by.clone();
    let node = v.graphs.add_conditional(graph, condition, kind, p.size, &before, by)?;
    // The array of bodies is the driver's, and lives as long as the node.
    let bodies = match v.graphs.nodes.get(node).map(|node| &node.kind) {
        Some(crate::model::graph::NodeKind::Conditional(conditional)) => conditional.bodies.clone(),
        _ => Vec::new(),
    };
    let handles: Vec<usize> = bodies.into_iter().map(|body| v.graphs.graphs.handle(body) as usize).collect();
    if let Some(node) = v.graphs.nodes.get_mut(node) {
        node.lent.pointers = handles;
        p.phGraph_out = node.lent.pointers.as_mut_ptr().cast();
    }
    // SAFETY: a conditional node's parameters, all of them initialised.
    all.params = unsafe { CUgraphNodeParams::write(all.r#type, p) }.params;
    let handle = node_handle(v, node);
    // SAFETY: in and out pointers of the call.
    unsafe {
        put(params, all)?;
        put(spot.out, handle)
    }
}
