//! Device memory and pinned host memory.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_uint, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use crate::foreign::{put, put_optional};
use crate::memory::{Kind, Request};
use crate::model::objects::{Owner, Visible};
use crate::visit::{Answer, Refusal, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// `CU_MEMHOSTREGISTER_*`: portable, mapped, of a device, read only.
const REGISTER_FLAGS: c_uint = 0xf;
const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
/// Rows of pitched memory begin at multiples of this.
const PITCH: usize = 512;

/// Notes an allocation that the program can see from now on.
pub(crate) fn show(v: &mut Visit<'_>, address: u64, bytes: u64, owner: Owner) -> Answer {
    let context = v.context()?;
    let device = v.device_of(context);
    show_on(v, address, bytes, owner, device)
}

/// As [`show`], of memory of a device: where that is another one than the current context's, the memory belongs to the
/// primary context there.
pub(crate) fn show_on(v: &mut Visit<'_>, address: u64, bytes: u64, owner: Owner, device: usize) -> Answer {
    let (current, id) = (v.context()?, v.number());
    let context = if v.device_of(current) == device { current } else { v.devices[device].primary };
    v.visible.insert(address, Visible { bytes, owner, context, device, id });
    Ok(())
}

/// The visible allocation that holds `address`.
pub(crate) fn holding(v: &Visit<'_>, address: u64) -> Option<(u64, Visible)> {
    let (base, seen) = v.visible.range(..=address).next_back()?;
    (address - base < seen.bytes).then(|| (*base, seen.clone()))
}

/// Whether the program may touch these bytes now: all in one visible allocation.
pub(crate) fn is_visible(v: &Visit<'_>, address: u64, bytes: u64) -> bool {
    let (mut at, mut left) = (address, bytes);
    while let Some((base, seen)) = holding(v, at) {
        let here = seen.bytes - (at - base);
        if left <= here {
            return true;
        }
        // Pieces that are mapped side by side are one range.
        if seen.owner != Owner::Mapped {
            return false;
        }
        (at, left) = (at + here, left - here);
    }
    false
}

/// Whether a call, or a node of a graph, may touch these bytes: graph memory is there when the node runs.
pub(crate) fn is_touchable(v: &Visit<'_>, address: u64, bytes: u64, by_node: bool) -> bool {
    is_visible(v, address, bytes) || by_node && super::graph_memory::is_promised(v, address, bytes)
}

/// Ends an allocation, whatever made it, now.
pub(crate) fn forget(v: &mut Visit<'_>, address: u64) {
    if v.visible.remove(&address).is_some() {
        v.managed.remove(&address);
        v.memory.free(address);
    }
}

/// Bytes of a device that are taken; what backs graph memory counts whether a graph has it allocated or not.
fn taken(v: &Visit<'_>, device: usize) -> u64 {
    let of_graphs = v.memory.used_by_graphs(device);
    v.memory.used_on(device) - of_graphs + v.graph_memory.bytes_backed(device).max(of_graphs)
}

/// Whether a device has this much left, what pools have promised counted in.
pub(crate) fn has_room(v: &Visit<'_>, device: usize, bytes: u64) -> bool {
    taken(v, device).saturating_add(v.devices[device].promised).saturating_add(bytes) <= v.memory.capacity()
}

fn allocate(v: &mut Visit<'_>, bytes: usize) -> Result<u64, CUresult> {
    let context = v.context()?;
    let home = v.home_of(context);
    if !has_room(v, home.device, bytes as u64) {
        return Err(OUT_OF_MEMORY);
    }
    let request = Request { bytes: bytes as u64, align: 512, kind: Kind::Device, label: "" };
    let address = v.memory.alloc_for(home, request).map_err(|_| OUT_OF_MEMORY)?;
    show(v, address, bytes as u64, Owner::Plain)?;
    Ok(address)
}

pub(crate) unsafe fn alloc(v: &mut Visit<'_>, out: *mut CUdeviceptr, bytes: usize) -> Answer {
    v.check_unsafe()?;
    // SAFETY: an out pointer of this call; 0 after a failure, as observed.
    unsafe { put(out, 0) }?;
    if bytes == 0 {
        return Err(INVALID);
    }
    let address = allocate(v, bytes)?;
    // SAFETY: as above.
    unsafe { put(out, address) }
}

pub(crate) unsafe fn alloc_pitch(
    v: &mut Visit<'_>,
    out: *mut CUdeviceptr,
    pitch_out: *mut usize,
    width: usize,
    height: usize,
    element: c_uint,
) -> Answer {
    v.check_unsafe()?;
    if out.is_null() || pitch_out.is_null() || width == 0 || height == 0 || ![4, 8, 16].contains(&element) {
        return Err(INVALID);
    }
    let pitch = width.checked_next_multiple_of(PITCH).ok_or(OUT_OF_MEMORY)?;
    let address = allocate(v, pitch.checked_mul(height).ok_or(OUT_OF_MEMORY)?)?;
    // SAFETY: out pointers of this call.
    unsafe { put(out, address).and_then(|()| put(pitch_out, pitch)) }
}

/// An address that no allocation begins at cannot be freed.
pub(crate) fn refuse_free(v: &mut Visit<'_>, address: u64) -> CUresult {
    let what = format!("{} was given {address:#x}, which is {}", v.call.name(), v.memory.describe(address));
    v.refuse(Refusal::new(INVALID, "bad-free", what, "free each allocation once, by the address it was given out with"))
}

pub(crate) unsafe fn free(v: &mut Visit<'_>, address: CUdeviceptr) -> Answer {
    v.check_unsafe()?;
    if address == 0 {
        return Ok(());
    }
    let Some(seen) = v.visible.get(&address).cloned() else { return Err(refuse_free(v, address)) };
    match seen.owner {
        // A free waits for everything that runs: none of it can be left with the memory gone.
        Owner::Plain | Owner::Managed => {
            v.wait_for_context(seen.context)?;
            forget(v, address);
            Ok(())
        }
        Owner::Pool(pool) => {
            v.wait_for_context(seen.context)?;
            super::pool::give_back_now(v, pool, address);
            Ok(())
        }
        Owner::Graph => {
            v.wait_for_context(seen.context)?;
            forget(v, address);
            super::graph_memory::forget_dead(v);
            Ok(())
        }
        _ => Err(INVALID),
    }
}

pub(crate) unsafe fn host_alloc(v: &mut Visit<'_>, out: *mut *mut c_void, bytes: usize, flags: c_uint) -> Answer {
    v.check_unsafe()?;
    if out.is_null() || flags > 7 {
        return Err(INVALID);
    }
    // SAFETY: an out pointer of this call.
    unsafe { put(out, std::ptr::null_mut()) }?;
    if bytes == 0 {
        return Ok(());
    }
    if bytes as u64 > v.memory.capacity() {
        return Err(OUT_OF_MEMORY);
    }
    let address = v.memory.alloc_host(bytes as u64, Kind::HostPinned, "").map_err(|_| OUT_OF_MEMORY)?;
    show(v, address, bytes as u64, Owner::HostAllocated { flags })?;
    // SAFETY: as above.
    unsafe { put(out, address as usize as *mut c_void) }
}

pub(crate) unsafe fn alloc_host(v: &mut Visit<'_>, out: *mut *mut c_void, bytes: usize) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { host_alloc(v, out, bytes, 0) }
}

pub(crate) unsafe fn free_host(v: &mut Visit<'_>, block: *mut c_void) -> Answer {
    v.check_unsafe()?;
    if block.is_null() {
        return Ok(());
    }
    let address = block as usize as u64;
    let Some(seen) = v.visible.get(&address).cloned() else { return Err(INVALID) };
    if !matches!(seen.owner, Owner::HostAllocated { .. }) {
        return Err(INVALID);
    }
    v.wait_for_context(seen.context)?;
    forget(v, address);
    Ok(())
}

pub(crate) unsafe fn host_register(v: &mut Visit<'_>, block: *mut c_void, bytes: usize, flags: c_uint) -> Answer {
    v.check_unsafe()?;
    if block.is_null() || bytes == 0 || flags & !REGISTER_FLAGS != 0 {
        return Err(INVALID);
    }
    let address = block as usize as u64;
    let end = address.checked_add(bytes as u64).ok_or(INVALID)?;
    let overlaps = v.visible.range(..end).next_back();
    if let Some((_, seen)) = overlaps.filter(|(base, seen)| *base + seen.bytes > address) {
        // As observed.
        if seen.owner == Owner::Managed {
            return Err(INVALID);
        }
        return Err(CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    // SAFETY: the program promises that the block stays until it is unregistered.
    unsafe { v.memory.map_host(block.cast(), bytes as u64, Kind::HostRegistered, "") };
    show(v, address, bytes as u64, Owner::HostRegistered { flags })
}

pub(crate) unsafe fn host_unregister(v: &mut Visit<'_>, block: *mut c_void) -> Answer {
    v.check_unsafe()?;
    let address = block as usize as u64;
    match v.visible.get(&address).map(|seen| seen.owner.clone()) {
        Some(Owner::HostRegistered { .. }) => {
            forget(v, address);
            Ok(())
        }
        Some(_) => Err(INVALID),
        None if holding(v, address).is_some() => Err(INVALID),
        None => Err(CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
    }
}

pub(crate) unsafe fn host_get_device_pointer(
    v: &mut Visit<'_>,
    out: *mut CUdeviceptr,
    block: *mut c_void,
    flags: c_uint,
) -> Answer {
    let address = block as usize as u64;
    let is_host = holding(v, address)
        .is_some_and(|(_, seen)| matches!(seen.owner, Owner::HostAllocated { .. } | Owner::HostRegistered { .. }));
    if flags != 0 || !is_host {
        return Err(INVALID);
    }
    // SAFETY: an out pointer of this call.
    unsafe { put(out, address) }
}

pub(crate) unsafe fn host_get_flags(v: &mut Visit<'_>, out: *mut c_uint, block: *mut c_void) -> Answer {
    let flags = match holding(v, block as usize as u64).map(|(_, seen)| seen.owner) {
        // An H200 was seen to leave out the portable flag where an allocation without it was there before.
        Some(Owner::HostAllocated { flags } | Owner::HostRegistered { flags }) => flags,
        Some(Owner::Managed) => 0,
        _ => return Err(INVALID),
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, flags | CU_MEMHOSTALLOC_DEVICEMAP) }
}

pub(crate) unsafe fn get_info(v: &mut Visit<'_>, free: *mut usize, total: *mut usize) -> Answer {
    let context = v.context()?;
    let (used, capacity) = (taken(v, v.device_of(context)), v.memory.capacity());
    // SAFETY: out pointers of this call.
    unsafe { put(free, capacity.saturating_sub(used) as usize).and_then(|()| put(total, capacity as usize)) }
}

pub(crate) unsafe fn get_address_range(
    v: &mut Visit<'_>,
    base_out: *mut CUdeviceptr,
    size_out: *mut usize,
    address: CUdeviceptr,
) -> Answer {
    let (base, seen) = holding(v, address).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
    // SAFETY: out pointers of this call, which may be null.
    unsafe {
        put_optional(base_out, base);
        put_optional(size_out, seen.bytes as usize);
    }
    Ok(())
}
