//! What nodes do, asked for and changed by calls that take a node of any kind.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_void;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::graph::node_named;
use super::graph_exec;
use super::graph_node::{any_kind, replace};
use crate::foreign::{get, put};
use crate::model::graph::{Lent, NodeKind};
use crate::model::objects::Event;
use crate::model::table::Key;
use crate::model::work::{CopyWork, Side};
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn kind_of(v: &mut Visit<'_>, node: CUgraphNode) -> Result<NodeKind, CUresult> {
    let key = node_named(v, node)?;
    v.graphs.nodes.get(key).map(|node| node.kind.clone()).ok_or(INVALID)
}

/// A copy as its C struct. What stands in it is where the copy goes, whatever sum of offsets the program had written it as.
fn copy_params(work: &CopyWork) -> CUDA_MEMCPY3D {
    let mut p = CUDA_MEMCPY3D {
        WidthInBytes: work.extent[0] as usize,
        Height: work.extent[1] as usize,
        Depth: work.extent[2] as usize,
        ..Default::default()
    };
    let rows = work.extent[1] > 1 || work.extent[2] > 1;
    // An array has a pitch of its own, which is nobody's business.
    let pitch = |side: &Side| if rows && side.array.is_none() { side.pitch as usize } else { 0 };
    let height = |side: &Side| match side.slice.checked_div(side.pitch) {
        Some(rows) if work.extent[2] > 1 && side.array.is_none() => rows as usize,
        _ => 0,
    };
    (p.srcPitch, p.dstPitch) = (pitch(&work.source), pitch(&work.target));
    (p.srcHeight, p.dstHeight) = (height(&work.source), height(&work.target));
    // Named as the program named them.
    (p.srcMemoryType, p.dstMemoryType) = (work.source.kind, work.target.kind);
    if let Some((array, [x, y, z])) = work.source.array {
        (p.srcArray, p.srcXInBytes, p.srcY, p.srcZ) = (CUarray::from_bits(array), x as usize, y as usize, z as usize);
    }
    if let Some((array, [x, y, z])) = work.target.array {
        (p.dstArray, p.dstXInBytes, p.dstY, p.dstZ) = (CUarray::from_bits(array), x as usize, y as usize, z as usize);
    }
    match work.source.kind {
        CU_MEMORYTYPE_ARRAY => {}
        CU_MEMORYTYPE_HOST => p.srcHost = work.source.address as usize as *const c_void,
        _ => p.srcDevice = work.source.address,
    }
    match work.target.kind {
        CU_MEMORYTYPE_ARRAY => {}
        CU_MEMORYTYPE_HOST => p.dstHost = work.target.address as usize as *mut c_void,
        _ => p.dstDevice = work.target.address,
    }
    p
}

pub(crate) unsafe fn copy_get_params(v: &mut Visit<'_>, node: CUgraphNode, out: *mut CUDA_MEMCPY3D) -> Answer {
    let NodeKind::Copy(work) = kind_of(v, node)? else { return Err(INVALID) };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, copy_params(&work)) }
}

pub(crate) unsafe fn host_get_params(v: &mut Visit<'_>, node: CUgraphNode, out: *mut CUDA_HOST_NODE_PARAMS) -> Answer {
    let NodeKind::Host(work) = kind_of(v, node)? else { return Err(INVALID) };
    // SAFETY: `function` came from a non-null `CUhostFn`.
    let function: unsafe extern "C" fn(*mut c_void) = unsafe { std::mem::transmute(work.function) };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, CUDA_HOST_NODE_PARAMS { r#fn: Some(function), userData: work.data as *mut c_void }) }
}

unsafe fn put_event(v: &mut Visit<'_>, event: Key<Event>, out: *mut CUevent) -> Answer {
    let handle = CUevent::from_bits(v.events.handle(event));
    // SAFETY: an out pointer of the call that passes it on.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn record_get_event(v: &mut Visit<'_>, node: CUgraphNode, out: *mut CUevent) -> Answer {
    let NodeKind::EventRecord(event) = kind_of(v, node)? else { return Err(INVALID) };
    // SAFETY: the arguments of this call.
    unsafe { put_event(v, event, out) }
}

pub(crate) unsafe fn wait_get_event(v: &mut Visit<'_>, node: CUgraphNode, out: *mut CUevent) -> Answer {
    let NodeKind::EventWait(event) = kind_of(v, node)? else { return Err(INVALID) };
    // SAFETY: the arguments of this call.
    unsafe { put_event(v, event, out) }
}

pub(crate) unsafe fn kernel_copy_attributes(v: &mut Visit<'_>, to: CUgraphNode, from: CUgraphNode) -> Answer {
    let (NodeKind::Kernel(old), NodeKind::Kernel(source)) = (kind_of(v, to)?, kind_of(v, from)?) else {
        return Err(INVALID);
    };
    let mut work = (*old).clone();
    work.keep_attributes(&source);
    replace(v, to, NodeKind::Kernel(Arc::new(work)))
}

/// The parameters that a call was given, if it may change a node to them.
unsafe fn changeable(v: &mut Visit<'_>, params: *mut CUgraphNodeParams) -> Result<CUgraphNodeParams, CUresult> {
    // SAFETY: an in pointer of the call that passes it on.
    let p = unsafe { get(params) }?;
    match p.r#type {
        // Seen on an H200: nothing of a conditional node can be changed, and an empty node has nothing.
        CU_GRAPH_NODE_TYPE_CONDITIONAL => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        CU_GRAPH_NODE_TYPE_EMPTY => Err(INVALID),
        CU_GRAPH_NODE_TYPE_MEM_ALLOC | CU_GRAPH_NODE_TYPE_MEM_FREE => {
            Err(v.unsupported("parameters of memory nodes changed by cuGraphNodeSetParams"))
        }
        _ => Ok(p),
    }
}

pub(crate) unsafe fn set_params(v: &mut Visit<'_>, node: CUgraphNode, params: *mut CUgraphNodeParams) -> Answer {
    // SAFETY: the arguments of this call.
    let p = unsafe { changeable(v, params) }?;
    let old = kind_of(v, node)?;
    if let NodeKind::Collective(_) = old {
        return Err(v.unsupported("the parameters and attributes of a kernel of NCCL"));
    }
    if old.number() != p.r#type {
        return Err(INVALID);
    }
    if p.r#type == CU_GRAPH_NODE_TYPE_GRAPH {
        return Err(v.unsupported("child graphs changed by cuGraphNodeSetParams"));
    }
    // SAFETY: as above.
    let mut kind = unsafe { any_kind(v, &p) }?;
    if let (NodeKind::Kernel(work), NodeKind::Kernel(old)) = (&mut kind, &old) {
        Arc::make_mut(work).keep_attributes(old);
    }
    replace(v, node, kind)?;
    let key = node_named(v, node)?;
    if let Some(node) = v.graphs.nodes.get_mut(key) {
        node.lent = Lent::default();
    }
    Ok(())
}

pub(crate) unsafe fn exec_set_params(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: *mut CUgraphNodeParams,
) -> Answer {
    // SAFETY: the arguments of this call; each struct is read under the type that cuda.h gives it.
    unsafe {
        let p = changeable(v, params)?;
        if p.reserved2 != 0 || p.reserved0 != [0; 3] {
            return Err(INVALID);
        }
        match p.r#type {
            CU_GRAPH_NODE_TYPE_KERNEL => graph_exec::kernel_set_params(v, exec, node, &p.read()),
            CU_GRAPH_NODE_TYPE_MEMCPY => {
                let copy = p.read::<CUDA_MEMCPY_NODE_PARAMS>();
                graph_exec::copy_set_params(v, exec, node, &copy.copyParams, copy.copyCtx)
            }
            CU_GRAPH_NODE_TYPE_MEMSET => {
                let set = p.read::<CUDA_MEMSET_NODE_PARAMS_v2>();
                graph_exec::set_set_params(v, exec, node, &p.read(), set.ctx)
            }
            CU_GRAPH_NODE_TYPE_HOST => graph_exec::host_set_params(v, exec, node, &p.read()),
            CU_GRAPH_NODE_TYPE_GRAPH => {
                graph_exec::child_set_params(v, exec, node, p.read::<CUDA_CHILD_GRAPH_NODE_PARAMS>().graph)
            }
            CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
                graph_exec::record_set_event(v, exec, node, p.read::<CUDA_EVENT_NODE_PARAMS>().event)
            }
            CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
                graph_exec::wait_set_event(v, exec, node, p.read::<CUDA_EVENT_NODE_PARAMS>().event)
            }
            CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => super::stream_values::exec_set_params(v, exec, node, &p.read()),
            _ => Err(INVALID),
        }
    }
}
