//! Executable graphs: instantiation, launches, updates.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_uint;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::graph::{graph_named, node_handle, node_named};
use super::graph_node::{host_work, kernel_work};
use crate::enqueue::Script;
use crate::foreign::{get, put, put_optional};
use crate::model::executable::{Body, Changed, ExecKind, ExecNode, Executable, Purpose, Refused};
use crate::model::graph::{Graph, Node};
use crate::model::graph_memory::MemoryUse;
use crate::model::table::{Key, Lookup};
use crate::model::work::Work;
use crate::visit::{Answer, Refusal, Target, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn named(v: &mut Visit<'_>, handle: CUgraphExec) -> Result<Key<Executable>, CUresult> {
    match v.executables.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        Lookup::Stale => {
            v.find_stale("executable graph", "cuGraphExecDestroy");
            Err(INVALID)
        }
        Lookup::Foreign => Err(INVALID),
    }
}

/// A copy that the device launches itself, of memory that is out of its reach.
fn out_of_reach(v: &mut Visit<'_>, body: &Body, is_for_device: bool) -> Option<Key<Node>> {
    if !v.has_several_devices() {
        return None;
    }
    let context = v.context().ok()?;
    let is_hidden = |node: &&ExecNode| {
        let ends = match &node.kind {
            ExecKind::Copy(work) => [&work.source, &work.target].map(|end| end.device.map(|_| end.address)),
            _ => [None, None],
        };
        ends.into_iter().flatten().any(|address| !v.has_access(context, address))
    };
    body.conditional_nodes(is_for_device).into_iter().find(is_hidden).map(|node| node.template)
}

fn make(v: &mut Visit<'_>, graph: Key<Graph>, flags: u64) -> Result<Key<Executable>, Refused> {
    if v.graphs.root_depth(graph) > 0 {
        // The body of a conditional node is no graph of its own.
        let (code, result) = (CUresult::CUDA_ERROR_NOT_SUPPORTED, CUDA_GRAPH_INSTANTIATE_ERROR);
        return Err(Refused { code, result, node: None });
    }
    super::graph_memory::check_instantiate(v, graph)?;
    let is_for_device = flags & u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
    let purpose = if is_for_device { Purpose::DeviceLaunch } else { Purpose::Launch };
    let body = Body::of(&v.graphs, graph, purpose).inspect_err(|refused| {
        if refused.result == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE {
            let at =
                v.graphs.graphs.get(graph).and_then(|g| g.nodes.iter().position(|node| Some(*node) == refused.node));
            let kind = refused.node.and_then(|node| v.graphs.nodes.get(node)).map_or("", |node| node.kind.word());
            let what = format!("the graph has a cycle through node {}, a {kind} node", at.unwrap_or(0));
            v.refuse(Refusal::new(refused.code, "graph-cycle", what, "remove one of the edges of the cycle"));
        }
    })?;
    if let Some(node) = body.second_device(is_for_device, &mut None).filter(|_| v.has_several_devices()) {
        let what = "nodes of two devices stand in the body of a conditional node, or in a graph for device launch";
        let help = "keep to one device there; other nodes of a graph may be of several";
        v.refuse(Refusal::new(INVALID, "other-device", what, help));
        let result = CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
        return Err(Refused { code: INVALID, result, node: Some(node) });
    }
    if let Some(node) = out_of_reach(v, &body, is_for_device) {
        let what = "a copy in the body of a conditional node, or in a graph for device launch, has an end on a device that the \
                    current one has no access to";
        let help = "enable access to the other device's memory before, or copy outside of the body";
        v.refuse(Refusal::new(INVALID, "other-device", what, help));
        let result = CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
        return Err(Refused { code: INVALID, result, node: Some(node) });
    }
    if !v.graphs.conditions_are_used(graph) {
        let (code, result) = (INVALID, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
        return Err(Refused { code, result, node: None });
    }
    if v.graphs.has_conditional(graph) && v.executables.iter().any(|(_, exec)| exec.template == graph) {
        let (code, result) = (CUresult::CUDA_ERROR_NOT_SUPPORTED, CUDA_GRAPH_INSTANTIATE_ERROR);
        return Err(Refused { code, result, node: None });
    }
    // The flag for priorities reads back as nothing, as observed.
    let flags = flags & !u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
    let memory = MemoryUse::of(&body);
    let objects = v.graphs.objects_of(graph);
    v.graphs.objects.retain_all(&objects);
    let key = v.executables.insert(Executable {
        body,
        flags,
        last: None,
        uploaded: false,
        template: graph,
        memory,
        objects,
        meant: Vec::new(),
        is_looked_at: false,
    });
    super::graph_memory::hold(v, graph, key);
    crate::detect::baked::check(v, key);
    Ok(key)
}

/// Flags that no instantiation takes.
fn flags_are_bad(flags: u64) -> bool {
    let exclusive =
        u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    flags >= 16 || flags & exclusive == exclusive
}

pub(crate) unsafe fn instantiate(v: &mut Visit<'_>, out: *mut CUgraphExec, graph: CUgraph, flags: u64) -> Answer {
    v.check_unsafe()?;
    let graph = graph_named(v, graph)?;
    if out.is_null() || flags_are_bad(flags) || flags & u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0 {
        return Err(INVALID);
    }
    let key = make(v, graph, flags).map_err(|refused| refused.code)?;
    let handle = CUgraphExec::from_bits(v.executables.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn instantiate_with_params(
    v: &mut Visit<'_>,
    out: *mut CUgraphExec,
    graph: CUgraph,
    params: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
) -> Answer {
    v.check_unsafe()?;
    // SAFETY: an in and out pointer of this call.
    let mut given = unsafe { get(params) }?;
    let graph = graph_named(v, graph)?;
    if out.is_null() {
        return Err(INVALID);
    }
    if given.flags & u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0 {
        let stream = v.stream(given.hUploadStream)?;
        v.refuse_if_capturing(stream)?;
    }
    let made = if flags_are_bad(given.flags) {
        Err(Refused { code: INVALID, result: CUDA_GRAPH_INSTANTIATE_ERROR, node: None })
    } else {
        make(v, graph, given.flags)
    };
    let answer = match made {
        Ok(key) => {
            (given.result_out, given.hErrNode_out) = (CUDA_GRAPH_INSTANTIATE_SUCCESS, CUgraphNode::NULL);
            if given.flags & u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0
                && let Some(made) = v.executables.get_mut(key)
            {
                made.uploaded = true;
            }
            let handle = CUgraphExec::from_bits(v.executables.handle(key));
            // SAFETY: an out pointer of this call.
            unsafe { put(out, handle) }
        }
        Err(refused) => {
            given.result_out = refused.result;
            given.hErrNode_out = refused.node.map_or(CUgraphNode::NULL, |node| node_handle(v, node));
            Err(refused.code)
        }
    };
    // SAFETY: as above.
    unsafe { put(params, given) }?;
    answer
}

pub(crate) unsafe fn destroy(v: &mut Visit<'_>, exec: CUgraphExec) -> Answer {
    v.check_unsafe()?;
    let key = named(v, exec)?;
    // What runs holds what it needs; only the name is gone.
    if let Some(gone) = v.executables.remove(key) {
        v.release_after(gone.objects, gone.last);
    }
    super::graph_memory::forget_dead(v);
    v.retire_images();
    Ok(())
}

pub(crate) unsafe fn get_flags(v: &mut Visit<'_>, exec: CUgraphExec, out: *mut u64) -> Answer {
    let key = named(v, exec)?;
    let flags = v.executables.get(key).map_or(0, |exec| exec.flags);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, flags) }
}

pub(crate) unsafe fn upload(v: &mut Visit<'_>, exec: CUgraphExec, stream: CUstream) -> Answer {
    let key = named(v, exec)?;
    let stream = v.stream(stream)?;
    v.refuse_if_capturing(stream)?;
    if let Target::Record(..) = v.target_of(stream)? {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    if let Some(exec) = v.executables.get_mut(key) {
        exec.uploaded = true;
    }
    Ok(())
}

pub(crate) unsafe fn launch(v: &mut Visit<'_>, exec: CUgraphExec, stream: CUstream) -> Answer {
    let key = named(v, exec)?;
    let stream = v.stream(stream)?;
    v.refuse_if_capturing(stream)?;
    let Target::Run(stream) = v.target_of(stream)? else {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    };
    if v.has_several_devices() {
        let awaited = v.executables.get(key).map(|exec| exec.body.awaited()).unwrap_or_default();
        awaited.into_iter().try_for_each(|event| v.event_is_lost(event).map_or(Ok(()), Err))?;
    }
    let memory = super::graph_memory::before_launch(v, key, stream)?;
    crate::detect::baked::check(v, key);
    let Some(exec) = v.executables.get(key) else { return Err(INVALID) };
    let (script, last) = (Script::of(&exec.body), exec.last);
    let mut start = v.before_next(stream);
    start.extend(last);
    start.extend(memory);
    let context = v.streams.get(stream).map(|stream| stream.context);
    let id = context.and_then(|context| v.contexts.get(context)).map_or(0, |context| context.id);
    // One task that everything begins behind: a root costs one edge, however much the stream waits for.
    let number = v.streams.get(stream).map_or(0, |stream| stream.id);
    v.tasks.come_from(number, None);
    let begin = v.tasks.add(script.begin(), id, start);
    let launch = v.tasks.order.as_mut().map_or(0, |order| order.next_launch());
    v.tasks.come_from(number, Some((launch, 0)));
    let ends = v.enqueue(&script, &[begin], id);
    v.tasks.come_from(number, None);
    let ends = if ends.is_empty() { vec![begin] } else { ends };
    let end = v.tasks.add(Work::Nothing, id, ends);
    if let Some(stream) = v.streams.get_mut(stream) {
        stream.tail = Some(end);
    }
    if let Some(exec) = v.executables.get_mut(key) {
        exec.last = Some(end);
        exec.uploaded = true;
    }
    super::graph_memory::after_launch(v, key, end)
}

fn update_with(
    v: &mut Visit<'_>,
    exec: Key<Executable>,
    graph: Key<Graph>,
) -> Result<CUgraphExecUpdateResultInfo, CUresult> {
    let mut info = CUgraphExecUpdateResultInfo::default();
    let new = match Body::of(&v.graphs, graph, Purpose::Update) {
        Ok(new) => new,
        Err(refused) => {
            info.result = CU_GRAPH_EXEC_UPDATE_ERROR;
            info.errorNode = refused.node.map_or(CUgraphNode::NULL, |node| node_handle(v, node));
            return Ok(info);
        }
    };
    super::graph_memory::check_update(v, exec, graph, &new)?;
    let pageable = new.pageable_copy(false);
    let checked = match v.executables.get(exec).map(|exec| exec.body.check_update(&new)) {
        Some(Ok(())) if pageable.is_some() => {
            refuse_pageable(v);
            Some(Err(Changed { result: CU_GRAPH_EXEC_UPDATE_ERROR, node: pageable, from: None }))
        }
        checked => checked,
    };
    match checked {
        Some(Ok(())) => {
            let objects = v.graphs.objects_of(graph);
            v.graphs.objects.retain_all(&objects);
            super::graph_memory::hold(v, graph, exec);
            if let Some(exec) = v.executables.get_mut(exec) {
                exec.body.update(new);
                exec.memory = MemoryUse::of(&exec.body);
                // A launch that runs still has the old objects.
                let (old, last) = (std::mem::replace(&mut exec.objects, objects), exec.last);
                v.release_after(old, last);
            }
        }
        Some(Err(changed)) => {
            info.result = changed.result;
            info.errorNode = changed.node.map_or(CUgraphNode::NULL, |node| node_handle(v, node));
            info.errorFromNode = changed.from.map_or(CUgraphNode::NULL, |node| node_handle(v, node));
        }
        None => info.result = CU_GRAPH_EXEC_UPDATE_ERROR,
    }
    Ok(info)
}

pub(crate) unsafe fn update(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    graph: CUgraph,
    out: *mut CUgraphExecUpdateResultInfo,
) -> Answer {
    // The host's own work: after a fault an H200 still did it, five times of five.
    v.context()?;
    let (exec, graph) = (named(v, exec)?, graph_named(v, graph)?);
    let info = update_with(v, exec, graph)?;
    // SAFETY: an out pointer of this call, which may be null.
    unsafe { put_optional(out, info) };
    if info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS {
        Ok(())
    } else {
        Err(CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
    }
}

/// The node of an executable that a template's node names.
pub(crate) fn node_of<'a>(
    v: &'a mut Visit<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
) -> Result<&'a mut ExecNode, CUresult> {
    let (exec, node) = (named(v, exec)?, node_named(v, node)?);
    v.executables.get_mut(exec).and_then(|exec| exec.body.find(node)).ok_or(INVALID)
}

pub(crate) unsafe fn kernel_set_params(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: *const CUDA_KERNEL_NODE_PARAMS,
) -> Answer {
    node_of(v, exec, node)?;
    // SAFETY: the arguments of this call.
    let mut work = unsafe { kernel_work(v, params) }?;
    let node = node_of(v, exec, node)?;
    if let ExecKind::Collective(_) = &node.kind {
        return Err(v.unsupported("the parameters and attributes of a kernel of NCCL"));
    }
    let ExecKind::Kernel(old) = &mut node.kind else { return Err(INVALID) };
    // By the manual the context of the kernel stays.
    if old.function.device != work.function.device {
        return Err(INVALID);
    }
    work.keep_attributes(old);
    if !work.fits_registers() {
        return Err(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    }
    *old = Arc::new(work);
    Ok(())
}

pub(crate) unsafe fn copy_set_params(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    copy: *const CUDA_MEMCPY3D,
    _context: CUcontext,
) -> Answer {
    node_of(v, exec, node)?;
    // SAFETY: the arguments of this call.
    let work = unsafe { super::copy::node(v, copy) }?;
    let is_refused = work.is_pageable() && is_in_body(v, exec, node)?;
    let ExecKind::Copy(old) = &mut node_of(v, exec, node)?.kind else { return Err(INVALID) };
    // By the manual each end stays on its device.
    if old.shape() != work.shape() || old.moves_to(&work) {
        return Err(INVALID);
    }
    if is_refused {
        return Err(refuse_pageable(v));
    }
    *old = Arc::new(work);
    Ok(())
}

/// Whether a node is in the body of a conditional node.
fn is_in_body(v: &mut Visit<'_>, exec: CUgraphExec, node: CUgraphNode) -> Result<bool, CUresult> {
    let (exec, template) = (named(v, exec)?, node_named(v, node)?);
    let is_in = |exec: &Executable| exec.body.conditional_nodes(false).iter().any(|node| node.template == template);
    Ok(v.executables.get(exec).is_some_and(is_in))
}

/// Pageable memory came into the body of a conditional node after the graph was instantiated, which would have refused it.
/// What a driver answers is not known: 580.159.04 ended the process of a program that did this.
fn refuse_pageable(v: &mut Visit<'_>) -> CUresult {
    let what = "a copy in the body of a conditional node is given pageable memory";
    v.refuse(Refusal::new(
        INVALID,
        "pageable-in-body",
        what,
        "copy page-locked memory: cuMemHostAlloc, cuMemHostRegister",
    ))
}

pub(crate) unsafe fn set_set_params(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: *const CUDA_MEMSET_NODE_PARAMS,
    context: CUcontext,
) -> Answer {
    node_of(v, exec, node)?;
    // SAFETY: the arguments of this call.
    let work = unsafe { super::set::node(v, params, context) }?;
    let device = super::copy::device_at(v, work.address);
    let old_address = match &node_of(v, exec, node)?.kind {
        ExecKind::Set(old) => old.address,
        _ => return Err(INVALID),
    };
    let moves = device != super::copy::device_at(v, old_address) && v.has_several_devices();
    let ExecKind::Set(old) = &mut node_of(v, exec, node)?.kind else { return Err(INVALID) };
    // Rows cannot be changed at all, as observed; nor, by the manual, the device.
    if old.height > 1 || work.height > 1 || moves {
        return Err(INVALID);
    }
    *old = Arc::new(work);
    Ok(())
}

pub(crate) unsafe fn host_set_params(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: *const CUDA_HOST_NODE_PARAMS,
) -> Answer {
    // SAFETY: the arguments of this call.
    let work = unsafe { host_work(params) }?;
    let ExecKind::Host(old) = &mut node_of(v, exec, node)?.kind else { return Err(INVALID) };
    *old = work;
    Ok(())
}

pub(crate) unsafe fn child_set_params(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    child: CUgraph,
) -> Answer {
    let graph = graph_named(v, child)?;
    super::graph_memory::refuse_if_memory(v, graph, "cannot be a child graph", "launch it by itself instead")?;
    let new = Body::of(&v.graphs, graph, Purpose::Update).map_err(|refused| refused.code)?;
    let is_refused = new.pageable_copy(true).is_some() && is_in_body(v, exec, node)?;
    let ExecKind::Child(old) = &mut node_of(v, exec, node)?.kind else { return Err(INVALID) };
    old.check_update(&new).map_err(|_| CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)?;
    if is_refused {
        return Err(refuse_pageable(v));
    }
    old.update(new);
    // The objects of the old child stay until the executable is updated or destroyed: a launch may still run.
    let (objects, key) = (v.graphs.objects_of(graph), named(v, exec)?);
    v.graphs.objects.retain_all(&objects);
    if let Some(exec) = v.executables.get_mut(key) {
        exec.objects.extend(objects);
    }
    Ok(())
}

pub(crate) unsafe fn record_set_event(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    event: CUevent,
) -> Answer {
    let event = v.event(event)?;
    let ExecKind::EventRecord(old) = &mut node_of(v, exec, node)?.kind else { return Err(INVALID) };
    *old = event;
    Ok(())
}

pub(crate) unsafe fn wait_set_event(v: &mut Visit<'_>, exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Answer {
    let event = v.event(event)?;
    let ExecKind::EventWait(old) = &mut node_of(v, exec, node)?.kind else { return Err(INVALID) };
    *old = event;
    Ok(())
}

pub(crate) unsafe fn set_enabled(v: &mut Visit<'_>, exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) -> Answer {
    let node = node_of(v, exec, node)?;
    if !node.kind.can_be_disabled() {
        return Err(INVALID);
    }
    node.enabled = enabled != 0;
    Ok(())
}

pub(crate) unsafe fn get_enabled(v: &mut Visit<'_>, exec: CUgraphExec, node: CUgraphNode, out: *mut c_uint) -> Answer {
    let node = node_of(v, exec, node)?;
    if !node.kind.can_be_disabled() {
        return Err(INVALID);
    }
    let enabled = c_uint::from(node.enabled);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, enabled) }
}
