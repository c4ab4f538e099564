//! Virtual memory: memory apart from its addresses. The rules stand in [`crate::model::virtual_memory`].
//!
//! Only the successful order was observed (create, reserve, map, set access: `sweep.cuMemMap_and_SetAccess`). What the manual
//! documents as refused is refused with the code it lists, `INVALID_VALUE`; what it leaves open is unsupported.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::collections::BTreeMap;
use std::ffi::c_void;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::memory::show_on;
use crate::foreign::{get, list, put};
use crate::memory::home::{Home, bit};
use crate::memory::region::Region;
use crate::model::objects::Owner;
use crate::model::table::{Key, Lookup};
use crate::model::virtual_memory::{GRANULARITY, Mapping, Physical};
use crate::visit::{Answer, Refusal, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

fn named(v: &mut Visit<'_>, handle: CUmemGenericAllocationHandle) -> Result<Key<Physical>, CUresult> {
    match v.virtual_memory.physical.look_up(handle) {
        Lookup::Live(key) if v.virtual_memory.physical.get(key).is_some_and(|found| found.handles > 0) => Ok(key),
        Lookup::Live(_) | Lookup::Stale => {
            v.find_stale("memory", "cuMemRelease");
            Err(INVALID)
        }
        Lookup::Foreign => Err(INVALID),
    }
}

/// Memory of a device, page-locked, for this process: of which one.
fn check_properties(v: &mut Visit<'_>, p: &CUmemAllocationProp) -> Result<usize, CUresult> {
    let device = v.device(p.location.id).map_err(|_| INVALID)?;
    if p.r#type != CU_MEM_ALLOCATION_TYPE_PINNED {
        return Err(INVALID);
    }
    if p.location.r#type != CU_MEM_LOCATION_TYPE_DEVICE || p.requestedHandleTypes != 0 || p.allocFlags != [0; 8] {
        return Err(v.unsupported("memory of the host, shared with other processes, compressed or for RDMA"));
    }
    Ok(device)
}

fn is_whole(bytes: u64) -> bool {
    bytes != 0 && bytes.is_multiple_of(GRANULARITY)
}

pub(crate) unsafe fn get_granularity(
    v: &mut Visit<'_>,
    out: *mut usize,
    properties: *const CUmemAllocationProp,
    option: CUmemAllocationGranularity_flags,
) -> Answer {
    // SAFETY: an in pointer of this call.
    let properties = unsafe { get(properties) }?;
    check_properties(v, &properties)?;
    if option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED {
        return Err(INVALID);
    }
    // SAFETY: an out pointer of this call.
    unsafe { put(out, GRANULARITY as usize) }
}

pub(crate) unsafe fn create(
    v: &mut Visit<'_>,
    out: *mut CUmemGenericAllocationHandle,
    bytes: usize,
    properties: *const CUmemAllocationProp,
    flags: u64,
) -> Answer {
    // SAFETY: an in pointer of this call.
    let properties = unsafe { get(properties) }?;
    if out.is_null() || flags != 0 || !is_whole(bytes as u64) {
        return Err(INVALID);
    }
    let device = check_properties(v, &properties)?;
    if !super::memory::has_room(v, device, bytes as u64) {
        return Err(OUT_OF_MEMORY);
    }
    let region = Region::new(bytes).ok_or(OUT_OF_MEMORY)?;
    v.memory.charge(device, bytes as u64).map_err(|_| OUT_OF_MEMORY)?;
    let physical = Physical { bytes: bytes as u64, device, region: Some(region), handles: 1, mapped_at: None };
    let key = v.virtual_memory.physical.insert(physical);
    let handle = v.virtual_memory.physical.handle(key);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn release(v: &mut Visit<'_>, handle: CUmemGenericAllocationHandle) -> Answer {
    let key = named(v, handle)?;
    let state: &mut crate::machine::State = v;
    if let Some(found) = state.virtual_memory.physical.get_mut(key) {
        found.handles -= 1;
    }
    state.virtual_memory.settle(&mut state.memory, key);
    Ok(())
}

pub(crate) unsafe fn retain(v: &mut Visit<'_>, out: *mut CUmemGenericAllocationHandle, address: *mut c_void) -> Answer {
    let base = v.virtual_memory.mapped_in(address as u64, 1).first().copied().ok_or(INVALID)?;
    let key = v.virtual_memory.mappings.get(&base).ok_or(INVALID)?.physical;
    if out.is_null() {
        return Err(INVALID);
    }
    if let Some(found) = v.virtual_memory.physical.get_mut(key) {
        found.handles += 1;
    }
    let handle = v.virtual_memory.physical.handle(key);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn get_properties(
    v: &mut Visit<'_>,
    out: *mut CUmemAllocationProp,
    handle: CUmemGenericAllocationHandle,
) -> Answer {
    let key = named(v, handle)?;
    let device = v.virtual_memory.physical.get(key).map_or(0, |found| found.device);
    let location = CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: device as i32 };
    let properties = CUmemAllocationProp { r#type: CU_MEM_ALLOCATION_TYPE_PINNED, location, ..Default::default() };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, properties) }
}

/// The address that the program would like is a hint, and not taken.
pub(crate) unsafe fn reserve(
    v: &mut Visit<'_>,
    out: *mut CUdeviceptr,
    bytes: usize,
    alignment: usize,
    _wanted: CUdeviceptr,
    flags: u64,
) -> Answer {
    if out.is_null() || flags != 0 || !is_whole(bytes as u64) || (alignment != 0 && !alignment.is_power_of_two()) {
        return Err(INVALID);
    }
    let align = GRANULARITY.max(alignment as u64);
    let state: &mut crate::machine::State = v;
    let fresh = state.memory.reserve(bytes as u64, align).ok();
    let address = fresh.or_else(|| state.virtual_memory.reuse(bytes as u64, align)).ok_or(OUT_OF_MEMORY)?;
    state.virtual_memory.reserved.insert(address, bytes as u64);
    state.virtual_memory.announce(&mut state.memory, address);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, address) }
}

pub(crate) unsafe fn address_free(v: &mut Visit<'_>, address: CUdeviceptr, bytes: usize) -> Answer {
    if v.virtual_memory.reserved.get(&address) != Some(&(bytes as u64)) {
        return Err(INVALID);
    }
    if !v.virtual_memory.mapped_in(address, bytes as u64).is_empty() {
        let what = format!("the range at {address:#x} still has memory mapped in it");
        let help = "call cuMemUnmap for all of it before cuMemAddressFree";
        return Err(v.refuse(Refusal::new(INVALID, "address-in-use", what, help)));
    }
    v.virtual_memory.reserved.remove(&address);
    v.virtual_memory.given_back.push_back((address, bytes as u64));
    v.memory.withdraw(address, bytes as u64);
    Ok(())
}

pub(crate) unsafe fn map(
    v: &mut Visit<'_>,
    address: CUdeviceptr,
    bytes: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
    flags: u64,
) -> Answer {
    let (key, bytes) = (named(v, handle)?, bytes as u64);
    if flags != 0 || bytes == 0 || !address.is_multiple_of(GRANULARITY) {
        return Err(INVALID);
    }
    let Some((base, _)) = v.virtual_memory.reserved_around(address, bytes) else { return Err(INVALID) };
    if !v.virtual_memory.mapped_in(address, bytes).is_empty() {
        return Err(INVALID);
    }
    let Some(found) = v.virtual_memory.physical.get(key) else { return Err(INVALID) };
    // Memory is mapped whole or not at all, as observed.
    if offset != 0 || bytes != found.bytes {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    if found.mapped_at.is_some() {
        return Err(v.unsupported("mapping memory at two addresses at once"));
    }
    let state: &mut crate::machine::State = v;
    if let Some(found) = state.virtual_memory.physical.get_mut(key) {
        found.mapped_at = Some(address);
    }
    state.virtual_memory.mappings.insert(address, Mapping { bytes, physical: key, reach: 0 });
    state.virtual_memory.announce(&mut state.memory, base);
    Ok(())
}

/// Takes a mapping's memory out of kernels' reach.
fn hide(v: &mut Visit<'_>, address: u64) {
    let state: &mut crate::machine::State = v;
    state.visible.remove(&address);
    let region = state.memory.detach(address);
    if let Some(mapping) = state.virtual_memory.mappings.get_mut(&address) {
        mapping.reach = 0;
        if let Some(physical) = state.virtual_memory.physical.get_mut(mapping.physical)
            && region.is_some()
        {
            physical.region = region;
        }
    }
}

pub(crate) unsafe fn unmap(v: &mut Visit<'_>, address: CUdeviceptr, bytes: usize) -> Answer {
    let Some((base, _)) = v.virtual_memory.reserved_around(address, bytes as u64) else { return Err(INVALID) };
    // Where nothing is mapped there is nothing to do, as observed.
    if is_whole(bytes as u64)
        && address.is_multiple_of(GRANULARITY)
        && v.virtual_memory.mapped_in(address, bytes as u64).is_empty()
    {
        return Ok(());
    }
    if v.virtual_memory.exactly(address, bytes as u64).is_none() {
        return Err(INVALID);
    }
    // As a free does: whether a GPU's driver waits here was not observed.
    let context = v.context()?;
    v.wait_for_context(context)?;
    for at in v.virtual_memory.exactly(address, bytes as u64).unwrap_or_default() {
        hide(v, at);
        let state: &mut crate::machine::State = v;
        if let Some(mapping) = state.virtual_memory.mappings.remove(&at) {
            if let Some(physical) = state.virtual_memory.physical.get_mut(mapping.physical) {
                physical.mapped_at = None;
            }
            state.virtual_memory.settle(&mut state.memory, mapping.physical);
        }
    }
    let state: &mut crate::machine::State = v;
    state.virtual_memory.announce(&mut state.memory, base);
    Ok(())
}

/// Whose memory is mapped there.
fn device_of_mapping(v: &Visit<'_>, at: u64) -> Option<usize> {
    let mapping = v.virtual_memory.mappings.get(&at)?;
    v.virtual_memory.physical.get(mapping.physical).map(|memory| memory.device)
}

pub(crate) unsafe fn set_access(
    v: &mut Visit<'_>,
    address: CUdeviceptr,
    bytes: usize,
    descriptions: *const CUmemAccessDesc,
    count: usize,
) -> Answer {
    // SAFETY: an array of `count` elements, by this call's page.
    let descriptions = unsafe { list(descriptions, count) }?;
    let Some(mappings) = v.virtual_memory.exactly(address, bytes as u64) else { return Err(INVALID) };
    let Some((base, _)) = v.virtual_memory.reserved_around(address, bytes as u64) else { return Err(INVALID) };
    // The last word about each device.
    let mut wanted = BTreeMap::new();
    for desc in descriptions {
        let device = v.device(desc.location.id).ok().filter(|_| desc.location.r#type == CU_MEM_LOCATION_TYPE_DEVICE);
        let Some(device) = device else { return Err(v.unsupported("access by the host or by another device")) };
        if !v.has_peers() && mappings.iter().any(|at| device_of_mapping(v, *at) != Some(device)) {
            return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
        }
        wanted.insert(device, desc.flags);
    }
    let (mut given, mut taken) = (0, 0);
    for (device, flags) in wanted {
        match flags {
            CU_MEM_ACCESS_FLAGS_PROT_READWRITE => given |= bit(device),
            CU_MEM_ACCESS_FLAGS_PROT_NONE => taken |= bit(device),
            CU_MEM_ACCESS_FLAGS_PROT_READ => return Err(v.unsupported("memory that kernels may only read")),
            _ => return Err(INVALID),
        }
    }
    if given | taken == 0 {
        return Err(INVALID);
    }
    for at in mappings {
        let Some(mapping) = v.virtual_memory.mappings.get(&at) else { continue };
        let (physical, bytes, old) = (mapping.physical, mapping.bytes, mapping.reach);
        let reach = (old | given) & !taken;
        if reach == old {
            continue;
        }
        if reach == 0 {
            hide(v, at);
            continue;
        }
        let state: &mut crate::machine::State = v;
        if let Some(mapping) = state.virtual_memory.mappings.get_mut(&at) {
            mapping.reach = reach;
        }
        if old != 0 {
            state.memory.set_reach(at, reach);
            continue;
        }
        let found = state.virtual_memory.physical.get_mut(physical);
        let (device, region) = found.map_or((0, None), |found| (found.device, found.region.take()));
        if let Some(region) = region {
            state.memory.attach(Home::of_device(device, reach), at, region);
        }
        show_on(v, at, bytes, Owner::Mapped, device)?;
    }
    let state: &mut crate::machine::State = v;
    state.virtual_memory.announce(&mut state.memory, base);
    Ok(())
}
