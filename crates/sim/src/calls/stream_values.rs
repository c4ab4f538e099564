//! Words that streams write and wait for: calls, batches, and nodes of them.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_uint;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::graph::node_named;
use super::graph_node::{Spot, replace};
use super::memory::is_visible;
use crate::foreign::{get, list, put};
use crate::model::device::On;
use crate::model::executable::ExecKind;
use crate::model::graph::{Node, NodeKind};
use crate::model::value_ops::{ValueOp, ValueWork};
use crate::model::work::Work;
use crate::visit::{Answer, Refusal, Target, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// `CU_STREAM_WAIT_VALUE_FLUSH`: the device cannot do it, as observed.
const WAIT_FLUSH: u32 = 1 << 30;
/// Operations of one batch: fewer than 256, by the driver API's page; 256 was seen to be refused.
const BATCH_MAX: usize = 255;

/// The words of an operation by cuda.h: operation, address, value, flags.
fn words(op: u32, address: u64, value: u64, flags: u32) -> CUstreamBatchMemOpParams {
    CUstreamBatchMemOpParams { words: [u64::from(op), address, value, u64::from(flags), 0, 0] }
}

/// What one operation of a batch means.
fn op(v: &mut Visit<'_>, given: &CUstreamBatchMemOpParams) -> Result<ValueOp, CUresult> {
    let [operation, address, value, flags, ..] = given.words;
    let flags = flags as u32;
    let (bytes, op) = match operation as u32 {
        CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES | CU_STREAM_MEM_OP_BARRIER => return Ok(ValueOp::Fence),
        CU_STREAM_MEM_OP_WRITE_VALUE_32 => (4, ValueOp::Write { address, value: u64::from(value as u32), bytes: 4 }),
        CU_STREAM_MEM_OP_WRITE_VALUE_64 => (8, ValueOp::Write { address, value, bytes: 8 }),
        CU_STREAM_MEM_OP_WAIT_VALUE_32 => {
            let value = u64::from(value as u32);
            (4, ValueOp::Wait { address, value, bytes: 4, how: flags })
        }
        CU_STREAM_MEM_OP_WAIT_VALUE_64 => (8, ValueOp::Wait { address, value, bytes: 8, how: flags }),
        _ => return Err(INVALID),
    };
    let legal = match op {
        ValueOp::Wait { how, .. } if how & WAIT_FLUSH != 0 => return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        ValueOp::Wait { how, .. } => how <= CU_STREAM_WAIT_VALUE_NOR,
        // A write without a barrier is refused too, as observed.
        _ => flags == 0,
    };
    if !legal || !address.is_multiple_of(bytes) {
        return Err(INVALID);
    }
    let managed = super::memory::holding(v, address).is_some_and(|(base, _)| super::managed::is_managed(v, base));
    if managed {
        let what = format!("{} names managed memory, at {address:#x}", v.call.name());
        let help = "name device memory, or host memory of cuMemHostAlloc or cuMemHostRegister";
        return Err(v.refuse(Refusal::new(INVALID, "managed-value", what, help)));
    }
    if !is_visible(v, address, bytes) {
        let what =
            format!("{} names {bytes} bytes at {address:#x}, which is {}", v.call.name(), v.memory.describe(address));
        let help = "name device memory, or host memory of cuMemHostAlloc or cuMemHostRegister";
        return Err(v.refuse(Refusal::new(INVALID, "out-of-bounds", what, help)));
    }
    Ok(op)
}

fn work(v: &mut Visit<'_>, given: Vec<CUstreamBatchMemOpParams>, flags: c_uint, on: On) -> Result<ValueWork, CUresult> {
    if given.len() > BATCH_MAX || flags != 0 {
        return Err(INVALID);
    }
    let ops = given.iter().map(|given| op(v, given)).collect::<Result<_, _>>()?;
    Ok(ValueWork { ops, given, flags, on: Some(on) })
}

fn go(v: &mut Visit<'_>, handle: CUstream, given: Vec<CUstreamBatchMemOpParams>, flags: c_uint) -> Answer {
    let target = v.target(handle)?;
    let (Target::Run(stream) | Target::Record(_, stream)) = target;
    let context = v.streams.get(stream).map(|stream| stream.context).ok_or(INVALID)?;
    let work = Arc::new(work(v, given, flags, v.on(context))?);
    match target {
        Target::Run(stream) => {
            v.submit(stream, Work::Values(work, 0));
        }
        Target::Record(capture, stream) => {
            super::capture::record(v, capture, stream, NodeKind::Values(work))?;
        }
    }
    Ok(())
}

macro_rules! one_word {
    ($($name:ident $op:ident $ty:ty;)*) => { $(
        pub(crate) unsafe fn $name(
            v: &mut Visit<'_>, stream: CUstream, address: CUdeviceptr, value: $ty, flags: c_uint,
        ) -> Answer {
            go(v, stream, vec![words($op, address, u64::from(value), flags)], 0)
        }
    )* };
}

one_word! {
    write_32 CU_STREAM_MEM_OP_WRITE_VALUE_32 u32;
    write_64 CU_STREAM_MEM_OP_WRITE_VALUE_64 u64;
    wait_32 CU_STREAM_MEM_OP_WAIT_VALUE_32 u32;
    wait_64 CU_STREAM_MEM_OP_WAIT_VALUE_64 u64;
}

pub(crate) unsafe fn batch(
    v: &mut Visit<'_>,
    stream: CUstream,
    count: c_uint,
    ops: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> Answer {
    // SAFETY: an array of `count` operations, by this call's page.
    let given = unsafe { list(ops, count as usize) }?;
    go(v, stream, given, flags)
}

/// What a node does, from its C struct.
pub(crate) unsafe fn node(
    v: &mut Visit<'_>,
    params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> Result<ValueWork, CUresult> {
    // SAFETY: an in pointer of the call that passes it on, with an array of `count` operations.
    let (p, given) = unsafe {
        let p = get(params)?;
        (p, list(p.paramArray, p.count as usize)?)
    };
    let on = v.place_of_node(p.ctx)?;
    work(v, given, p.flags, on)
}

pub(crate) unsafe fn add_node(
    v: &mut Visit<'_>,
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
    params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe {
        let work = node(v, params)?;
        Spot::plain(out, graph, dependencies, count).add(v, NodeKind::Values(Arc::new(work)))
    }
}

pub(crate) unsafe fn node_get_params(
    v: &mut Visit<'_>,
    node: CUgraphNode,
    out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> Answer {
    let key = node_named(v, node)?;
    let Some(Node { kind: NodeKind::Values(work), .. }) = v.graphs.nodes.get(key) else { return Err(INVALID) };
    let work = work.clone();
    let own = if v.has_several_devices() { work.on.map(|on| on.context) } else { None };
    let context = v.contexts.handle(own.unwrap_or(v.devices[0].primary));
    let params = CUDA_BATCH_MEM_OP_NODE_PARAMS {
        ctx: CUcontext::from_bits(context),
        count: work.given.len() as c_uint,
        // The node's own copy: it lives until the parameters change.
        paramArray: work.given.as_ptr().cast_mut(),
        flags: work.flags,
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, params) }
}

pub(crate) unsafe fn node_set_params(
    v: &mut Visit<'_>,
    to: CUgraphNode,
    params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> Answer {
    // SAFETY: the arguments of this call.
    let work = unsafe { node(v, params) }?;
    replace(v, to, NodeKind::Values(Arc::new(work)))
}

pub(crate) unsafe fn exec_set_params(
    v: &mut Visit<'_>,
    exec: CUgraphExec,
    to: CUgraphNode,
    params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> Answer {
    super::graph_exec::node_of(v, exec, to)?;
    // SAFETY: the arguments of this call.
    let work = unsafe { node(v, params) }?;
    let ExecKind::Values(old) = &mut super::graph_exec::node_of(v, exec, to)?.kind else { return Err(INVALID) };
    // As many operations as before, as observed.
    if old.given.len() != work.given.len() {
        return Err(INVALID);
    }
    *old = Arc::new(work);
    Ok(())
}
