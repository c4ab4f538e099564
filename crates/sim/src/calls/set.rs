//! Memory sets, and what a set node is made of.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_uint;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::memory::is_touchable;
use crate::foreign::get;
use crate::model::graph::NodeKind;
use crate::model::work::{SetWork, Work};
use crate::visit::{Answer, Refusal, Target, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn check(v: &mut Visit<'_>, set: &SetWork, by_node: bool) -> Answer {
    let row = set.width.checked_mul(u64::from(set.element)).ok_or(INVALID)?;
    let element = u64::from(set.element);
    let rows_fit = set.height <= 1 || set.pitch >= row && set.pitch.is_multiple_of(element);
    if !set.address.is_multiple_of(element) || !rows_fit {
        return Err(INVALID);
    }
    let bytes = (set.height - 1).checked_mul(set.pitch).and_then(|all| all.checked_add(row)).ok_or(INVALID)?;
    if is_touchable(v, set.address, bytes, by_node) {
        let owner = super::memory::holding(v, set.address).map(|(_, seen)| seen.owner);
        if owner.is_some_and(|owner| super::pool::is_out_of_reach(v, &owner)) {
            return Err(super::pool::refuse_unreachable(v, set.address));
        }
        return Ok(());
    }
    let what = format!(
        "{} touches {bytes} bytes at {:#x}, which is {}",
        v.call.name(),
        set.address,
        v.memory.describe(set.address)
    );
    Err(v.refuse(Refusal::new(INVALID, "out-of-bounds", what, "set no more than the allocation holds")))
}

fn go(v: &mut Visit<'_>, handle: CUstream, mut set: SetWork, wait: bool) -> Answer {
    let target = v.target(handle)?;
    let (Target::Run(stream) | Target::Record(_, stream)) = target;
    set.on = v.streams.get(stream).map(|stream| v.on(stream.context));
    set.by = v.this().announced.by.clone();
    if set.width == 0 || set.height == 0 {
        return Ok(());
    }
    check(v, &set, matches!(target, Target::Record(..)))?;
    match target {
        Target::Record(capture, stream) => {
            super::capture::record(v, capture, stream, NodeKind::Set(Arc::new(set))).map(|_| ())
        }
        Target::Run(stream) => {
            let device = set.on.map_or(0, |on| on.device);
            let task = v.submit(stream, Work::Set(Arc::new(set)));
            // The plain call waits, as one of host memory does on a GPU; one of device memory may return earlier there.
            if wait {
                v.wait_until(device, |state| state.tasks.is_done(task))?;
                v.check_lost(stream)?;
                v.tasks.host_has([task]);
            }
            Ok(())
        }
    }
}

macro_rules! sets {
    ($($plain:ident $asynchronous:ident $plain_2d:ident $asynchronous_2d:ident: $ty:ty;)*) => { $(
        pub(crate) unsafe fn $plain(v: &mut Visit<'_>, to: CUdeviceptr, value: $ty, count: usize) -> Answer {
            go(v, CUstream::NULL, one(to, u32::from(value), size_of::<$ty>(), count), true)
        }

        pub(crate) unsafe fn $asynchronous(
            v: &mut Visit<'_>, to: CUdeviceptr, value: $ty, count: usize, stream: CUstream,
        ) -> Answer {
            go(v, stream, one(to, u32::from(value), size_of::<$ty>(), count), false)
        }

        pub(crate) unsafe fn $plain_2d(
            v: &mut Visit<'_>, to: CUdeviceptr, pitch: usize, value: $ty, width: usize, height: usize,
        ) -> Answer {
            go(v, CUstream::NULL, rows(to, pitch, u32::from(value), size_of::<$ty>(), width, height), true)
        }

        pub(crate) unsafe fn $asynchronous_2d(
            v: &mut Visit<'_>, to: CUdeviceptr, pitch: usize, value: $ty, width: usize, height: usize, stream: CUstream,
        ) -> Answer {
            go(v, stream, rows(to, pitch, u32::from(value), size_of::<$ty>(), width, height), false)
        }
    )* };
}

sets! {
    d8 d8_async d2d8 d2d8_async: u8;
    d16 d16_async d2d16 d2d16_async: u16;
    d32 d32_async d2d32 d2d32_async: c_uint;
}

fn one(address: u64, value: u32, element: usize, count: usize) -> SetWork {
    rows(address, 0, value, element, count, 1)
}

fn rows(address: u64, pitch: usize, value: u32, element: usize, width: usize, height: usize) -> SetWork {
    let (pitch, width, height) = (pitch as u64, width as u64, height as u64);
    SetWork { address, pitch, value, element: element as u32, width, height, on: None, by: None }
}

/// What a set node does: unlike a call, a node must set something.
pub(crate) unsafe fn node(
    v: &mut Visit<'_>,
    params: *const CUDA_MEMSET_NODE_PARAMS,
    context: CUcontext,
) -> Result<SetWork, CUresult> {
    // SAFETY: an in pointer of the call that passes it on.
    let p = unsafe { get(params) }?;
    if ![1, 2, 4].contains(&p.elementSize) || p.width == 0 || p.height == 0 {
        return Err(INVALID);
    }
    let set = rows(p.dst, p.pitch, p.value, p.elementSize as usize, p.width, p.height);
    check(v, &set, true)?;
    let on = v.place_of_node(context)?;
    Ok(SetWork { on: Some(on), by: v.this().announced.by.clone(), ..set })
}
