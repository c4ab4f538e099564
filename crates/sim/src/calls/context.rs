//! Contexts and what is current on a thread.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_int, c_uint};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use crate::foreign::{put, put_optional};
use crate::model::objects::{Context, EventState};
use crate::model::table::{Key, Lookup};
use crate::model::work::Work;
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn named(v: &Visit<'_>, handle: CUcontext) -> Result<Key<Context>, CUresult> {
    match v.contexts.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        Lookup::Stale => Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
        Lookup::Foreign if handle.is_null() => Err(INVALID),
        Lookup::Foreign => Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
    }
}

/// One way of waiting at most, and no flag that CUDA 13.0 does not have.
fn flags_are_good(flags: c_uint) -> bool {
    let waits = [CU_CTX_SCHED_AUTO, CU_CTX_SCHED_SPIN, CU_CTX_SCHED_YIELD, CU_CTX_SCHED_BLOCKING_SYNC];
    waits.contains(&(flags & 7)) && flags <= 0xff
}

pub(crate) unsafe fn create(v: &mut Visit<'_>, out: *mut CUcontext, flags: c_uint, dev: CUdevice) -> Answer {
    v.check_fault_of(dev)?;
    let device = v.device(dev)?;
    if out.is_null() || !flags_are_good(flags) {
        return Err(INVALID);
    }
    let id = v.number();
    let key = v.contexts.insert(Context::new(device, id, flags));
    v.this().contexts.push(key);
    let handle = CUcontext::from_bits(v.contexts.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn create_v4(
    v: &mut Visit<'_>,
    out: *mut CUcontext,
    params: *mut CUctxCreateParams,
    flags: c_uint,
    dev: CUdevice,
) -> Answer {
    v.check_fault_of(dev)?;
    if !params.is_null() {
        return Err(v.unsupported("contexts with affinity or graphics parameters"));
    }
    // SAFETY: the arguments of this call.
    unsafe { create(v, out, flags, dev) }
}

pub(crate) unsafe fn destroy(v: &mut Visit<'_>, handle: CUcontext) -> Answer {
    let key = named(v, handle)?;
    if v.contexts.get(key).is_some_and(|context| context.is_primary) {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    super::device::empty(v, key);
    v.contexts.remove(key);
    let this = v.this();
    if this.contexts.last() == Some(&key) {
        this.contexts.pop();
    }
    Ok(())
}

/// The context that is current, with one more who has to detach from it.
pub(crate) unsafe fn attach(v: &mut Visit<'_>, out: *mut CUcontext, flags: c_uint) -> Answer {
    let key = v.context()?;
    if out.is_null() || flags != 0 {
        return Err(INVALID);
    }
    if let Some(context) = v.contexts.get_mut(key) {
        context.attached += 1;
    }
    let handle = CUcontext::from_bits(v.contexts.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

/// One less; a context that nobody is attached to is gone. The primary one stays.
pub(crate) unsafe fn detach(v: &mut Visit<'_>, handle: CUcontext) -> Answer {
    let key = v.context()?;
    if handle.is_null() || named(v, handle)? != key {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    let Some(context) = v.contexts.get_mut(key) else { return Err(INVALID) };
    context.attached = context.attached.saturating_sub(1);
    if context.attached > 0 || context.is_primary {
        return Ok(());
    }
    // SAFETY: the arguments of this call.
    unsafe { destroy(v, handle) }
}

pub(crate) unsafe fn get_current(v: &mut Visit<'_>, out: *mut CUcontext) -> Answer {
    let current = v.this().contexts.last().copied();
    let handle = current.map_or(CUcontext::NULL, |key| CUcontext::from_bits(v.contexts.handle(key)));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn set_current(v: &mut Visit<'_>, handle: CUcontext) -> Answer {
    if handle.is_null() {
        v.this().contexts.pop();
        return Ok(());
    }
    let key = named(v, handle)?;
    let this = v.this();
    this.contexts.pop();
    this.contexts.push(key);
    Ok(())
}

pub(crate) unsafe fn push_current(v: &mut Visit<'_>, handle: CUcontext) -> Answer {
    let key = named(v, handle)?;
    v.this().contexts.push(key);
    Ok(())
}

/// As CUDA 2 had it: a context that is current somewhere is not pushed again.
pub(crate) unsafe fn push_floating(v: &mut Visit<'_>, handle: CUcontext) -> Answer {
    let key = named(v, handle)?;
    if v.this().contexts.contains(&key) {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    v.this().contexts.push(key);
    Ok(())
}

pub(crate) unsafe fn pop_current(v: &mut Visit<'_>, out: *mut CUcontext) -> Answer {
    let key = v.this().contexts.pop().ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
    let handle = CUcontext::from_bits(v.contexts.handle(key));
    // SAFETY: an out pointer of this call, which may be null.
    unsafe { put_optional(out, handle) };
    Ok(())
}

pub(crate) unsafe fn get_device(v: &mut Visit<'_>, out: *mut CUdevice) -> Answer {
    let key = v.context()?;
    let device = v.device_of(key) as CUdevice;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, device) }
}

/// The device of a context that is named; null is the one that is current, and none need be.
pub(crate) unsafe fn get_device_of(v: &mut Visit<'_>, out: *mut CUdevice, handle: CUcontext) -> Answer {
    let key = named_or_current(v, handle)?;
    let device = v.device_of(key) as CUdevice;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, device) }
}

fn named_or_current(v: &mut Visit<'_>, handle: CUcontext) -> Result<Key<Context>, CUresult> {
    if handle.is_null() { v.context() } else { named(v, handle) }
}

pub(crate) unsafe fn get_flags(v: &mut Visit<'_>, out: *mut c_uint) -> Answer {
    let key = v.context()?;
    // Host memory is always mapped. The primary context says so whether it was asked for or not, as observed; others
    // say what they were made with.
    let flags = |context: &Context| context.flags | if context.is_primary { CU_CTX_MAP_HOST } else { 0 };
    let flags = v.contexts.get(key).map_or(0, flags);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, flags) }
}

pub(crate) unsafe fn set_flags(v: &mut Visit<'_>, flags: c_uint) -> Answer {
    const KNOWN: c_uint = CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD | CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST;
    if flags & !KNOWN != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let key = v.context()?;
    if let Some(context) = v.contexts.get_mut(key) {
        // Mapped host memory is always on and reads back, as observed.
        context.flags = flags | CU_CTX_MAP_HOST;
    }
    Ok(())
}

pub(crate) unsafe fn get_cache_config(v: &mut Visit<'_>, out: *mut CUfunc_cache) -> Answer {
    let key = v.context()?;
    let config = v.contexts.get(key).map_or(CU_FUNC_CACHE_PREFER_NONE, |context| context.cache_config);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, config) }
}

pub(crate) unsafe fn set_cache_config(v: &mut Visit<'_>, config: CUfunc_cache) -> Answer {
    if config > CU_FUNC_CACHE_PREFER_EQUAL {
        return Err(v.unsupported(format!("cache configuration {config}")));
    }
    let key = v.context()?;
    if let Some(context) = v.contexts.get_mut(key) {
        context.cache_config = config;
    }
    Ok(())
}

pub(crate) unsafe fn get_api_version(v: &mut Visit<'_>, handle: CUcontext, out: *mut c_uint) -> Answer {
    if handle.is_null() {
        v.context()?;
    } else {
        named(v, handle)?;
    }
    // SAFETY: an out pointer of this call.
    unsafe { put(out, 3020) }
}

pub(crate) unsafe fn get_id(v: &mut Visit<'_>, handle: CUcontext, out: *mut u64) -> Answer {
    let key = named_or_current(v, handle)?;
    let id = v.contexts.get(key).map_or(0, |context| context.id);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, id) }
}

pub(crate) unsafe fn synchronize(v: &mut Visit<'_>) -> Answer {
    let key = v.context()?;
    wait(v, key)
}

/// The same for a context that is named.
pub(crate) unsafe fn synchronize_named(v: &mut Visit<'_>, handle: CUcontext) -> Answer {
    let key = named_or_current(v, handle)?;
    let device = v.device_of(key);
    v.check_fault(device)?;
    wait(v, key)
}

fn wait(v: &mut Visit<'_>, key: Key<Context>) -> Answer {
    v.check_anywhere(key)?;
    v.wait_for_context(key)?;
    super::pool::release_unused(v);
    Ok(())
}

pub(crate) unsafe fn get_stream_priority_range(_: &mut Visit<'_>, least: *mut c_int, greatest: *mut c_int) -> Answer {
    // SAFETY: out pointers of this call, which may be null.
    unsafe {
        put_optional(least, 0);
        put_optional(greatest, -5);
    }
    Ok(())
}

/// The current context may touch memory of another device's context from now on. A device is no peer of itself.
pub(crate) unsafe fn enable_peer_access(v: &mut Visit<'_>, peer: CUcontext, flags: c_uint) -> Answer {
    if peer.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    let peer = named(v, peer)?;
    if flags != 0 {
        return Err(INVALID);
    }
    if !v.has_peers() {
        return Err(CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    }
    let here = v.context()?;
    if !v.contexts.get(peer).is_some_and(|peer| peer.is_active) {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    if v.device_of(peer) == v.device_of(here) {
        return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
    }
    let id = v.contexts.get(peer).map_or(0, |peer| peer.id);
    let is_new = v.contexts.get_mut(here).is_some_and(|context| context.peers.insert(id));
    if is_new { Ok(()) } else { Err(CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) }
}

pub(crate) unsafe fn disable_peer_access(v: &mut Visit<'_>, peer: CUcontext) -> Answer {
    if peer.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    let (peer, here) = (named(v, peer)?, v.context()?);
    let id = v.contexts.get(peer).map_or(0, |peer| peer.id);
    let was_there = v.contexts.get_mut(here).is_some_and(|context| context.peers.remove(&id));
    if was_there { Ok(()) } else { Err(CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED) }
}

/// A context has all multiprocessors.
pub(crate) unsafe fn get_exec_affinity(
    v: &mut Visit<'_>,
    out: *mut CUexecAffinityParam,
    kind: CUexecAffinityType,
) -> Answer {
    v.context()?;
    if kind != CU_EXEC_AFFINITY_TYPE_SM_COUNT {
        return Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    }
    let all = crate::h200::attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap_or(0);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, CUexecAffinityParam { r#type: kind, param: all.cast_unsigned() }) }
}

/// Banks of shared memory are four bytes wide, whatever was asked for.
pub(crate) unsafe fn get_shared_config(_: &mut Visit<'_>, out: *mut CUsharedconfig) -> Answer {
    // SAFETY: an out pointer of this call.
    unsafe { put(out, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE) }
}

pub(crate) unsafe fn set_shared_config(_: &mut Visit<'_>, config: CUsharedconfig) -> Answer {
    if config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE { Err(INVALID) } else { Ok(()) }
}

/// The first value of a limit, if the device has it.
fn limit_of(limit: CUlimit) -> Result<usize, CUresult> {
    let known = crate::h200::LIMITS.iter().find(|(number, _)| *number == limit);
    let unknown = if limit < crate::h200::LIMITS_END { CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT } else { INVALID };
    known.map(|(_, first)| *first).ok_or(unknown)
}

pub(crate) unsafe fn get_limit(v: &mut Visit<'_>, out: *mut usize, limit: CUlimit) -> Answer {
    let key = v.context()?;
    let first = limit_of(limit)?;
    let value = v.contexts.get(key).and_then(|context| context.limits.get(&limit).copied()).unwrap_or(first);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, value) }
}

pub(crate) unsafe fn set_limit(v: &mut Visit<'_>, limit: CUlimit, value: usize) -> Answer {
    let key = v.context()?;
    v.check_unsafe()?;
    limit_of(limit)?;
    let value = crate::h200::settled_limit(limit, value)?;
    if limit == CU_LIMIT_MALLOC_HEAP_SIZE {
        v.memory.set_heap_limit(value as u64);
    }
    if let Some(context) = v.contexts.get_mut(key) {
        context.limits.insert(limit, value);
    }
    Ok(())
}

/// Records an event behind everything that the context has been given so far.
pub(crate) unsafe fn record_event(v: &mut Visit<'_>, handle: CUcontext, event: CUevent) -> Answer {
    let key = named_or_current(v, handle)?;
    let event = v.event(event)?;
    let of_event = v.events.get(event).map_or(key, |event| event.context);
    if v.device_of(of_event) != v.device_of(key) {
        let these = [("the event", v.device_of(of_event)), ("the context", v.device_of(key))];
        let code = CUresult::CUDA_ERROR_INVALID_HANDLE;
        return Err(v.refuse_two_devices(code, these, super::event::OWN_EVENT));
    }
    v.check_anywhere(key)?;
    let id = v.contexts.get(key).map_or(0, |context| context.id);
    let (number, before) = (v.number(), v.tasks.of(id));
    let task = v.tasks.add(Work::Record(event, number), id, before);
    if let Some(event) = v.events.get_mut(event) {
        event.recorded = EventState::Stream { number, task, time_ns: None };
    }
    Ok(())
}

/// Holds everything that the context is given from now on until an event has happened.
pub(crate) unsafe fn wait_event(v: &mut Visit<'_>, handle: CUcontext, event: CUevent) -> Answer {
    let key = named_or_current(v, handle)?;
    let event = v.event(event)?;
    v.check_anywhere(key)?;
    v.event_is_lost(event).map_or(Ok(()), Err)?;
    let task = match v.events.get(event).map(|event| &event.recorded) {
        Some(EventState::Stream { task, .. } | EventState::Graph { task: Some(task), .. }) => *task,
        Some(EventState::Capture { .. }) => return Err(v.unsupported("a context that waits for an event of a capture")),
        _ => return Ok(()),
    };
    let mut held = v.contexts.get_mut(key).map(|context| std::mem::take(&mut context.held)).unwrap_or_default();
    held.push(task);
    held.retain(|task| !v.tasks.is_done(*task));
    if let Some(context) = v.contexts.get_mut(key) {
        context.held = held;
    }
    Ok(())
}

/// There is no cache here that lines could persist in.
pub(crate) unsafe fn reset_persisting_cache(_: &mut Visit<'_>) -> Answer {
    Ok(())
}
