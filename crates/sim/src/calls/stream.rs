//! Streams, and the host functions in them.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_int, c_uint, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use crate::foreign::{get, put};
use crate::model::graph::NodeKind;
use crate::model::objects::{Stream, StreamKind};
use crate::model::table::Key;
use crate::model::work::{CallbackWork, HostWork, Work};
use crate::visit::{Answer, Target, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// Priorities go from 0 down to this.
const GREATEST_PRIORITY: i32 = -5;

pub(crate) unsafe fn create(v: &mut Visit<'_>, out: *mut CUstream, flags: c_uint) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { create_with_priority(v, out, flags, 0) }
}

pub(crate) unsafe fn create_with_priority(
    v: &mut Visit<'_>,
    out: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> Answer {
    if out.is_null() || flags > CU_STREAM_NON_BLOCKING {
        return Err(INVALID);
    }
    let (context, id) = (v.context()?, v.number());
    let priority = priority.clamp(GREATEST_PRIORITY, 0);
    let blocking = flags != CU_STREAM_NON_BLOCKING;
    let key = v.streams.insert(Stream::new(context, StreamKind::Created, blocking, priority, id));
    let handle = CUstream::from_bits(v.streams.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn destroy(v: &mut Visit<'_>, handle: CUstream) -> Answer {
    if handle.bits() <= 2 {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let key = v.stream(handle)?;
    remove(v, key);
    Ok(())
}

/// Takes a stream away. Its work goes on; a capture that began on it is gone; one that it joined still has to join
/// what it did.
pub(crate) fn remove(v: &mut Visit<'_>, key: Key<Stream>) {
    let Some(stream) = v.streams.remove(key) else { return };
    v.lent_to_stream.remove(&key);
    if stream.blocking
        && let Some(tail) = stream.tail
    {
        let mut left =
            v.contexts.get_mut(stream.context).map(|c| std::mem::take(&mut c.left_behind)).unwrap_or_default();
        left.push(tail);
        left.retain(|task| !v.tasks.is_done(*task));
        if let Some(context) = v.contexts.get_mut(stream.context) {
            context.left_behind = left;
        }
    }
    let Some(capture_key) = stream.capture else { return };
    let Some(capture) = v.captures.get_mut(capture_key) else { return };
    if capture.origin == key {
        super::capture::dissolve(v, capture_key, true);
    } else if let Some(branch) = capture.branches.remove(&key) {
        capture.orphans.extend(branch.last);
    }
}

pub(crate) unsafe fn synchronize(v: &mut Visit<'_>, handle: CUstream) -> Answer {
    let stream = v.stream(handle)?;
    v.refuse_if_capturing(stream)?;
    check_beside(v, stream)?;
    let after = v.before_next(stream);
    let device = v.device_of_stream(stream);
    v.wait_until(device, |state| after.iter().all(|task| state.tasks.is_done(*task)))?;
    v.check_lost(stream)?;
    v.tasks.host_has(after);
    super::pool::release_unused(v);
    Ok(())
}

pub(crate) unsafe fn query(v: &mut Visit<'_>, handle: CUstream) -> Answer {
    let stream = v.stream(handle)?;
    v.refuse_if_capturing(stream)?;
    check_beside(v, stream)?;
    let device = v.device_of_stream(stream);
    v.check_fault(device)?;
    v.check_lost(stream)?;
    let after = v.before_next(stream);
    if !after.iter().all(|task| v.tasks.is_done(*task)) {
        return Err(CUresult::CUDA_ERROR_NOT_READY);
    }
    v.tasks.host_has(after);
    Ok(())
}

/// Waiting for a stream, or asking about it, while others capture.
fn check_beside(v: &mut Visit<'_>, stream: Key<Stream>) -> Answer {
    if v.streams.get(stream).is_some_and(|stream| stream.kind == StreamKind::Legacy) {
        v.check_legacy(v.device_of_stream(stream))?;
    }
    v.check_unsafe()
}

pub(crate) unsafe fn get_priority(v: &mut Visit<'_>, handle: CUstream, out: *mut c_int) -> Answer {
    let key = v.stream(handle)?;
    let priority = v.streams.get(key).map_or(0, |stream| stream.priority);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, priority) }
}

pub(crate) unsafe fn get_flags(v: &mut Visit<'_>, handle: CUstream, out: *mut c_uint) -> Answer {
    let key = v.stream(handle)?;
    let blocking = v.streams.get(key).is_none_or(|stream| stream.blocking);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, if blocking { CU_STREAM_DEFAULT } else { CU_STREAM_NON_BLOCKING }) }
}

pub(crate) unsafe fn get_id(v: &mut Visit<'_>, handle: CUstream, out: *mut u64) -> Answer {
    let key = v.stream(handle)?;
    v.refuse_if_capturing(key)?;
    let id = v.streams.get(key).map_or(0, |stream| stream.id);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, id) }
}

pub(crate) unsafe fn get_ctx(v: &mut Visit<'_>, handle: CUstream, out: *mut CUcontext) -> Answer {
    let key = v.stream(handle)?;
    let Some(context) = v.streams.get(key).map(|stream| stream.context) else { return Err(INVALID) };
    let handle = CUcontext::from_bits(v.contexts.handle(context));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn get_device(v: &mut Visit<'_>, handle: CUstream, out: *mut CUdevice) -> Answer {
    let stream = v.stream(handle)?;
    let device = v.device_of_stream(stream) as CUdevice;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, device) }
}

pub(crate) unsafe fn set_attribute(
    v: &mut Visit<'_>,
    handle: CUstream,
    attribute: CUstreamAttrID,
    value: *const CUstreamAttrValue,
) -> Answer {
    let key = v.stream(handle)?;
    // SAFETY: an in pointer of this call.
    let value = unsafe { get(value) }?;
    match attribute {
        // Which lines stay in the cache: no meaning here.
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW => Ok(()),
        // How a host thread waits: no meaning here, but kept.
        CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => {
            let policy = value.words[0] as u32;
            if !(1..=4).contains(&policy) {
                return Err(INVALID);
            }
            if let Some(stream) = v.streams.get_mut(key) {
                stream.sync_policy = Some(policy);
            }
            Ok(())
        }
        CU_LAUNCH_ATTRIBUTE_PRIORITY => {
            if let Some(stream) = v.streams.get_mut(key) {
                stream.priority = (value.words[0] as u32 as i32).clamp(GREATEST_PRIORITY, 0);
            }
            Ok(())
        }
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE => Err(INVALID),
        other => Err(v.unsupported(format!("stream attribute {other}"))),
    }
}

pub(crate) unsafe fn launch_host_func(
    v: &mut Visit<'_>,
    handle: CUstream,
    function: CUhostFn,
    data: *mut c_void,
) -> Answer {
    let target = v.target(handle)?;
    let function = function.ok_or(INVALID)?;
    let work = HostWork { function: function as usize, data: data as usize };
    match target {
        Target::Run(stream) => {
            v.submit(stream, Work::Host(work));
        }
        Target::Record(capture, stream) => {
            super::capture::record(v, capture, stream, NodeKind::Host(work))?;
        }
    }
    Ok(())
}

pub(crate) unsafe fn add_callback(
    v: &mut Visit<'_>,
    handle: CUstream,
    callback: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> Answer {
    let stream = v.stream(handle)?;
    v.refuse_if_capturing(stream)?;
    if let Target::Record(..) = v.target_of(stream)? {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    if flags != 0 {
        return Err(INVALID);
    }
    let function = callback.ok_or(INVALID)? as usize;
    v.submit(stream, Work::Callback(CallbackWork { function, stream: handle.bits(), data: data as usize }));
    Ok(())
}

pub(crate) unsafe fn get_attribute(
    v: &mut Visit<'_>,
    handle: CUstream,
    attribute: CUstreamAttrID,
    out: *mut CUstreamAttrValue,
) -> Answer {
    let key = v.stream(handle)?;
    let mut value = CUstreamAttrValue::default();
    match attribute {
        CU_LAUNCH_ATTRIBUTE_PRIORITY => {
            value.words[0] = u64::from(v.streams.get(key).map_or(0, |stream| stream.priority) as u32);
        }
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => {}
        // All bits are set where nobody has set it, as observed.
        CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => {
            let policy = v.streams.get(key).and_then(|stream| stream.sync_policy);
            value.words[0] = u64::from(policy.unwrap_or(u32::MAX));
        }
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION | CU_LAUNCH_ATTRIBUTE_COOPERATIVE => return Err(INVALID),
        // What was set is not kept, and what an H200 answers then was not seen.
        other => return Err(v.unsupported(format!("asking for stream attribute {other}"))),
    }
    // SAFETY: an out pointer of this call.
    unsafe { put(out, value) }
}

pub(crate) unsafe fn copy_attributes(v: &mut Visit<'_>, to: CUstream, from: CUstream) -> Answer {
    // Whether a priority is copied too was not seen.
    let (to, from) = (v.stream(to)?, v.stream(from)?);
    let policy = v.streams.get(from).and_then(|stream| stream.sync_policy);
    if let Some(stream) = v.streams.get_mut(to) {
        stream.sync_policy = policy;
    }
    Ok(())
}
