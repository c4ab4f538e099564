//! Stream-ordered memory: pools hand out addresses at the call, and the streams make them real.
//!
//! A fresh block is mapped when the call is made. A block that was freed in the same stream is handed out again at
//! once, and mapped anew when the stream comes to it; a block freed in another stream waits until that free is done.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_void;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::memory::show_on;
use crate::foreign::{get, list, put};
use crate::memory::home::{Home, bit};
use crate::memory::{Kind, Request};
use crate::model::objects::{FreeBlock, Owner, Pool, PoolPlace, StreamKind};
use crate::model::table::{Key, Lookup};
use crate::model::work::Work;
use crate::visit::{Answer, Refusal, Target, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// Sizes are rounded up to this, so that blocks fit again.
const GRAIN: u64 = 512;
/// A pool takes memory from the device in pieces of this size.
const CHUNK: u64 = 32 << 20;

fn named(v: &Visit<'_>, handle: CUmemoryPool) -> Result<Key<Pool>, CUresult> {
    match v.pools.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        _ => Err(INVALID),
    }
}

fn is_legacy(v: &Visit<'_>, stream: Key<crate::model::objects::Stream>) -> bool {
    v.streams.get(stream).is_some_and(|stream| stream.kind == StreamKind::Legacy)
}

/// Where the call goes: refused beside a capture.
fn target_for(v: &mut Visit<'_>, handle: CUstream) -> Result<Target, CUresult> {
    let stream = v.stream(handle)?;
    if is_legacy(v, stream) {
        v.check_legacy(v.device_of_stream(stream))?;
    }
    if v.streams.get(stream).is_some_and(|stream| stream.capture.is_none()) {
        v.check_unsafe()?;
    }
    v.target_of(stream)
}

pub(crate) unsafe fn alloc_async(v: &mut Visit<'_>, out: *mut CUdeviceptr, bytes: usize, stream: CUstream) -> Answer {
    // SAFETY: the arguments of this call.
    unsafe { allocate(v, out, bytes, None, stream) }
}

pub(crate) unsafe fn alloc_from_pool_async(
    v: &mut Visit<'_>,
    out: *mut CUdeviceptr,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Answer {
    let pool = named(v, pool)?;
    // SAFETY: the arguments of this call.
    unsafe { allocate(v, out, bytes, Some(pool), stream) }
}

unsafe fn allocate(
    v: &mut Visit<'_>,
    out: *mut CUdeviceptr,
    bytes: usize,
    named: Option<Key<Pool>>,
    handle: CUstream,
) -> Answer {
    let target = target_for(v, handle)?;
    let (Target::Run(on) | Target::Record(_, on)) = target;
    let current = v.devices[v.device_of_stream(on)].current_pool;
    let pool = named.unwrap_or(current);
    // SAFETY: an out pointer of this call.
    unsafe { put(out, 0) }?;
    let stream = match target {
        Target::Run(stream) => stream,
        // As observed; the capture goes on.
        Target::Record(..) if v.pools.get(pool).is_some_and(|pool| pool.place.is_host()) => {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        Target::Record(capture, stream) => {
            let of_pool = v.pools.get(pool).map(|pool| (pool.bytes_max as usize, pool.home()));
            let address = super::graph_memory::capture_alloc(v, capture, stream, bytes, of_pool.ok_or(INVALID)?)?;
            // SAFETY: as above.
            return unsafe { put(out, address) };
        }
    };
    if bytes == 0 {
        return Ok(());
    }
    let room = (bytes as u64).checked_next_multiple_of(GRAIN).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    let Some(known) = v.pools.get(pool) else { return Err(INVALID) };
    let (place, home) = (known.place, known.home());
    if place == PoolPlace::DEVICE && !super::memory::has_room(v, home.device, bytes as u64) {
        return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    }
    // The bound is on what is taken from the device, in whole pieces.
    let bound = known.bytes_max.checked_next_multiple_of(CHUNK).unwrap_or(u64::MAX);
    if known.bytes_max != 0 && known.room.saturating_add(room) > bound {
        return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    }
    let opportunistic = known.reuse[CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC as usize - 1] != 0;
    let follows = known.reuse[CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES as usize - 1] != 0;
    let tail = v.streams.get(stream).and_then(|stream| stream.tail);
    let fits = |block: &FreeBlock| {
        let behind = || tail.is_some_and(|tail| v.tasks.leads_to(block.freed, tail));
        block.room == room
            && (block.stream == stream
                || opportunistic && v.tasks.is_done(block.freed)
                || follows && !v.tasks.is_done(block.freed) && behind())
    };
    let found = v.pools.get(pool).and_then(|pool| pool.blocks.iter().position(fits));
    let address = match found {
        Some(at) => {
            let block = v.pools.get_mut(pool).ok_or(INVALID)?.blocks.swap_remove(at);
            let label = String::new();
            v.devices[home.device].promised += bytes as u64;
            let map = Work::Map { address: block.address, bytes: bytes as u64, label, home };
            v.submit_after(stream, map, [block.freed]);
            block.address
        }
        None if place != PoolPlace::DEVICE => {
            let kind = if place.is_managed() { Kind::Managed } else { Kind::HostPinned };
            v.memory.alloc_host(bytes as u64, kind, "").map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?
        }
        None => {
            let request = Request { bytes: bytes as u64, align: GRAIN, kind: Kind::Pool, label: "" };
            v.memory.alloc_for(home, request).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?
        }
    };
    show_on(v, address, bytes as u64, Owner::Pool(pool), home.device)?;
    if let Some(pool) = v.pools.get_mut(pool) {
        pool.used += bytes as u64;
        pool.room += room;
        pool.used_high = pool.used_high.max(pool.used);
        pool.reserved = pool.reserved.max(pool.room.next_multiple_of(CHUNK));
        pool.reserved_high = pool.reserved_high.max(pool.reserved);
    }
    // SAFETY: as above.
    unsafe { put(out, address) }
}

pub(crate) unsafe fn free_async(v: &mut Visit<'_>, address: CUdeviceptr, handle: CUstream) -> Answer {
    let stream = match target_for(v, handle)? {
        Target::Run(stream) => stream,
        Target::Record(capture, stream) => return super::graph_memory::capture_free(v, capture, stream, address),
    };
    if address == 0 {
        return Ok(());
    }
    let Some(seen) = v.visible.get(&address).cloned() else {
        return Err(super::memory::refuse_free(v, address));
    };
    match seen.owner {
        Owner::Plain => {
            v.visible.remove(&address);
            v.submit(stream, Work::Unmap { address });
        }
        Owner::Pool(pool) => {
            v.visible.remove(&address);
            v.managed.remove(&address);
            let freed = v.submit(stream, Work::Unmap { address });
            let room = seen.bytes.next_multiple_of(GRAIN);
            if let Some(pool) = v.pools.get_mut(pool) {
                pool.used -= seen.bytes;
                pool.room -= room;
                // What is the host's goes back to it.
                if pool.place == PoolPlace::DEVICE {
                    pool.blocks.push(FreeBlock { address, room, stream, freed });
                }
            }
        }
        Owner::Graph => super::graph_memory::free_on(v, stream, address),
        // As observed.
        Owner::Managed => return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        _ => return Err(INVALID),
    }
    Ok(())
}

/// Frees a block of a pool at once: everything that ran is done.
pub(crate) fn give_back_now(v: &mut Visit<'_>, pool: Key<Pool>, address: u64) {
    let Some(seen) = v.visible.remove(&address) else { return };
    v.managed.remove(&address);
    v.memory.free(address);
    if let Some(pool) = v.pools.get_mut(pool) {
        // The count of what is in use stays, as observed: only a free in stream order lowers it.
        pool.room -= seen.bytes.next_multiple_of(GRAIN);
    }
}

pub(crate) unsafe fn get_default(v: &mut Visit<'_>, out: *mut CUmemoryPool, dev: CUdevice) -> Answer {
    let device = v.device(dev)?;
    let handle = CUmemoryPool::from_bits(v.pools.handle(v.devices[device].default_pool));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR` and `CU_MEM_HANDLE_TYPE_FABRIC`.
const HANDLE_FILE: u32 = 1;
const HANDLE_FABRIC: u32 = 8;

/// Where a new pool takes memory from, as an H200 accepts it, and from which device.
fn place_of(v: &Visit<'_>, allocation: u32, location: CUmemLocation) -> Result<(PoolPlace, usize), CUresult> {
    let place = PoolPlace { allocation, location: location.r#type };
    let managed = allocation == CU_MEM_ALLOCATION_TYPE_MANAGED;
    if !managed && allocation != CU_MEM_ALLOCATION_TYPE_PINNED {
        return Err(INVALID);
    }
    match location.r#type {
        CU_MEM_LOCATION_TYPE_DEVICE => Ok((place, v.device(location.id).map_err(|_| INVALID)?)),
        // There is one node.
        CU_MEM_LOCATION_TYPE_HOST_NUMA if location.id != 0 => Err(INVALID),
        CU_MEM_LOCATION_TYPE_HOST | CU_MEM_LOCATION_TYPE_HOST_NUMA => Ok((place, 0)),
        CU_MEM_LOCATION_TYPE_INVALID | CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT if managed => Ok((place, 0)),
        _ if managed => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        _ => Err(INVALID),
    }
}

/// A place that has a default pool, as an H200 accepts it.
unsafe fn default_place(
    v: &Visit<'_>,
    location: *mut CUmemLocation,
    allocation: u32,
) -> Result<(PoolPlace, usize), CUresult> {
    // SAFETY: an in pointer of the call that passes it on.
    let location = unsafe { get(location.cast_const()) }?;
    if location.r#type >= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    place_of(v, allocation, location)
}

/// The default pool of a place, and its current one; made when it is first asked for.
fn pools_of(v: &mut Visit<'_>, place: PoolPlace, device: usize) -> (Key<Pool>, Key<Pool>) {
    if place == PoolPlace::DEVICE {
        return (v.devices[device].default_pool, v.devices[device].current_pool);
    }
    if let Some(pools) = v.other_pools.get(&(place, device)) {
        return *pools;
    }
    let key = v.pools.insert(Pool::at(true, 0, place, device));
    v.other_pools.insert((place, device), (key, key));
    (key, key)
}

pub(crate) unsafe fn get_default_of(
    v: &mut Visit<'_>,
    out: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    allocation: CUmemAllocationType,
) -> Answer {
    // SAFETY: an in pointer of this call.
    let (place, device) = unsafe { default_place(v, location, allocation) }?;
    let (default, _) = pools_of(v, place, device);
    let handle = CUmemoryPool::from_bits(v.pools.handle(default));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn get_current_of(
    v: &mut Visit<'_>,
    out: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    allocation: CUmemAllocationType,
) -> Answer {
    // SAFETY: an in pointer of this call.
    let (place, device) = unsafe { default_place(v, location, allocation) }?;
    let (default, mut current) = pools_of(v, place, device);
    // As observed: while nobody has set one, the host's current pool is the device's default, not its own.
    if place == (PoolPlace { allocation: CU_MEM_ALLOCATION_TYPE_PINNED, location: CU_MEM_LOCATION_TYPE_HOST })
        && current == default
    {
        let here = v.here().unwrap_or(0);
        current = v.devices[here].default_pool;
    }
    let handle = CUmemoryPool::from_bits(v.pools.handle(current));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn set_current_of(
    v: &mut Visit<'_>,
    location: *mut CUmemLocation,
    allocation: CUmemAllocationType,
    pool: CUmemoryPool,
) -> Answer {
    // SAFETY: an in pointer of this call.
    let (place, device) = unsafe { default_place(v, location, allocation) }?;
    let key = named(v, pool)?;
    if v.pools.get(key).is_none_or(|pool| pool.place != place || pool.device != device) {
        return Err(INVALID);
    }
    let (default, _) = pools_of(v, place, device);
    match place {
        PoolPlace::DEVICE => v.devices[device].current_pool = key,
        _ => {
            v.other_pools.insert((place, device), (default, key));
        }
    }
    Ok(())
}

/// Whether an allocation belongs to a pool of host memory that the device of this call has no access to.
pub(crate) fn is_out_of_reach(v: &mut Visit<'_>, owner: &Owner) -> bool {
    let Owner::Pool(pool) = owner else { return false };
    let device = v.here().unwrap_or(0);
    v.pools.get(*pool).is_some_and(|pool| pool.place.is_host() && pool.reach & bit(device) == 0)
}

/// The refusal of a call that would let the device touch such memory.
pub(crate) fn refuse_unreachable(v: &mut Visit<'_>, address: u64) -> CUresult {
    let what = format!(
        "{} names memory at {address:#x} of a pool of host memory, which the device has no access to",
        v.call.name()
    );
    let help = "give the device access first: cuMemPoolSetAccess, before or after the allocation";
    v.refuse(Refusal::new(INVALID, "no-access", what, help))
}

pub(crate) unsafe fn create(v: &mut Visit<'_>, out: *mut CUmemoryPool, props: *const CUmemPoolProps) -> Answer {
    v.check_unsafe()?;
    // SAFETY: an in pointer of this call.
    let props = unsafe { get(props) }?;
    if out.is_null() {
        return Err(INVALID);
    }
    let (place, device) = place_of(v, props.allocType, props.location)?;
    match props.handleTypes {
        0 => {}
        // Nothing but file descriptors and the fabric, and no pools of the host at large, as observed.
        HANDLE_FILE | HANDLE_FABRIC if place.location != CU_MEM_LOCATION_TYPE_HOST => {
            return Err(v.unsupported("pools that are shared with other processes"));
        }
        _ => return Err(INVALID),
    }
    let key = v.pools.insert(Pool::at(false, props.maxSize as u64, place, device));
    let handle = CUmemoryPool::from_bits(v.pools.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn destroy(v: &mut Visit<'_>, pool: CUmemoryPool) -> Answer {
    let key = named(v, pool)?;
    if v.pools.get(key).is_some_and(|pool| pool.is_default) {
        return Err(INVALID);
    }
    // What it has handed out lives on until it is freed, by the manual.
    v.pools.remove(key);
    for device in v.devices.iter_mut().filter(|device| device.current_pool == key) {
        device.current_pool = device.default_pool;
    }
    for (default, current) in v.other_pools.values_mut().filter(|(_, current)| *current == key) {
        *current = *default;
    }
    Ok(())
}

pub(crate) unsafe fn trim_to(v: &mut Visit<'_>, pool: CUmemoryPool, keep: usize) -> Answer {
    v.check_unsafe()?;
    let key = named(v, pool)?;
    let mut blocks = match v.pools.get_mut(key) {
        Some(pool) => std::mem::take(&mut pool.blocks),
        None => return Err(INVALID),
    };
    let mut kept = 0;
    blocks.retain(|block| {
        let keeps = kept + block.room <= keep as u64 || !v.tasks.is_done(block.freed);
        kept += if keeps { block.room } else { 0 };
        keeps
    });
    if let Some(pool) = v.pools.get_mut(key) {
        pool.blocks = blocks;
        pool.give_back(keep as u64);
    }
    Ok(())
}

impl Pool {
    /// An empty pool that takes memory from this place.
    fn at(is_default: bool, bytes_max: u64, place: PoolPlace, device: usize) -> Pool {
        let pool = Pool::new(is_default, bytes_max, device);
        // Of other memory than its own a device has been given none.
        let reach = if place == PoolPlace::DEVICE { pool.reach } else { 0 };
        Pool { place, reach, ..pool }
    }

    /// Whose memory it hands out. cuCtxEnablePeerAccess does not reach it, by the manual.
    pub(crate) fn home(&self) -> Home {
        Home::of_device(self.device, self.reach)
    }

    /// Gives memory that is not in use back to the device until no more than `keep` bytes are held.
    fn give_back(&mut self, keep: u64) {
        let least = self.room.next_multiple_of(CHUNK).max(keep);
        while self.reserved.checked_sub(CHUNK).is_some_and(|rest| rest >= least) {
            self.reserved -= CHUNK;
        }
    }
}

/// A stream, an event or the context was waited for: pools give back what they hold above their threshold, by the manual.
pub(crate) fn release_unused(v: &mut Visit<'_>) {
    for key in v.pools.keys() {
        if let Some(pool) = v.pools.get_mut(key) {
            pool.give_back(pool.threshold);
        }
    }
}

pub(crate) unsafe fn get_current(v: &mut Visit<'_>, out: *mut CUmemoryPool, dev: CUdevice) -> Answer {
    let device = v.device(dev)?;
    let handle = CUmemoryPool::from_bits(v.pools.handle(v.devices[device].current_pool));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn set_current(v: &mut Visit<'_>, dev: CUdevice, pool: CUmemoryPool) -> Answer {
    let device = v.device(dev)?;
    let key = named(v, pool)?;
    if v.pools.get(key).is_none_or(|pool| pool.place != PoolPlace::DEVICE || pool.device != device) {
        return Err(INVALID);
    }
    v.devices[device].current_pool = key;
    Ok(())
}

pub(crate) unsafe fn set_access(
    v: &mut Visit<'_>,
    pool: CUmemoryPool,
    descriptions: *const CUmemAccessDesc,
    count: usize,
) -> Answer {
    let key = named(v, pool)?;
    let place = v.pools.get(key).map_or(PoolPlace::DEVICE, |pool| pool.place);
    // SAFETY: an array of `count` elements, by this call's page.
    for desc in unsafe { list(descriptions, count) }? {
        if place.is_host() {
            set_host_access(v, key, desc)?;
            continue;
        }
        if place.is_managed() {
            return Err(v.unsupported("access to a pool of managed memory"));
        }
        // As observed.
        if desc.location.r#type == CU_MEM_LOCATION_TYPE_HOST {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let own = v.pools.get(key).map_or(0, |pool| pool.device);
        let device = v.device(desc.location.id).ok().filter(|_| desc.location.r#type == CU_MEM_LOCATION_TYPE_DEVICE);
        if let Some(device) = device.filter(|device| *device != own) {
            set_peer_access(v, key, device, desc.flags)?;
            continue;
        }
        if device != Some(own) {
            return Err(v.unsupported("access to a pool other than by a device"));
        }
        // A device cannot give up its own memory, nor have less of it, as observed.
        match desc.flags {
            CU_MEM_ACCESS_FLAGS_PROT_READWRITE => {}
            CU_MEM_ACCESS_FLAGS_PROT_READ => return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
            CU_MEM_ACCESS_FLAGS_PROT_NONE => return Err(CUresult::CUDA_ERROR_INVALID_DEVICE),
            _ => return Err(INVALID),
        }
    }
    Ok(())
}

/// Access to a pool by another device, for what it has handed out and for what it will.
fn set_peer_access(v: &mut Visit<'_>, key: Key<Pool>, device: usize, flags: CUmemAccess_flags) -> Answer {
    if !v.has_peers() {
        return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
    }
    let Some(pool) = v.pools.get_mut(key) else { return Err(INVALID) };
    match flags {
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE => pool.reach |= bit(device),
        CU_MEM_ACCESS_FLAGS_PROT_NONE => pool.reach &= !bit(device),
        CU_MEM_ACCESS_FLAGS_PROT_READ => return Err(v.unsupported("a pool that another device may only read")),
        _ => return Err(INVALID),
    }
    let reach = pool.reach;
    let state: &mut crate::machine::State = v;
    for (address, _) in state.visible.iter().filter(|(_, seen)| seen.owner == Owner::Pool(key)) {
        state.memory.set_reach(*address, reach);
    }
    Ok(())
}

/// Access to a pool of host memory: a device may be given it and not, the host always has it.
fn set_host_access(v: &mut Visit<'_>, pool: Key<Pool>, desc: CUmemAccessDesc) -> Answer {
    let location = (desc.location.r#type, desc.location.id);
    let device = v.device(desc.location.id).ok();
    match (location, desc.flags) {
        ((CU_MEM_LOCATION_TYPE_DEVICE, _), CU_MEM_ACCESS_FLAGS_PROT_READWRITE | CU_MEM_ACCESS_FLAGS_PROT_NONE)
            if device.is_some() =>
        {
            if let (Some(pool), Some(device)) = (v.pools.get_mut(pool), device) {
                let given = desc.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
                pool.reach = pool.reach & !bit(device) | if given { bit(device) } else { 0 };
            }
            Ok(())
        }
        ((CU_MEM_LOCATION_TYPE_HOST, _) | (CU_MEM_LOCATION_TYPE_HOST_NUMA, 0), CU_MEM_ACCESS_FLAGS_PROT_READWRITE) => {
            Ok(())
        }
        ((CU_MEM_LOCATION_TYPE_HOST, _), CU_MEM_ACCESS_FLAGS_PROT_NONE) => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        _ => Err(v.unsupported("this access to a pool of host memory")),
    }
}

pub(crate) unsafe fn get_access(
    v: &mut Visit<'_>,
    out: *mut CUmemAccess_flags,
    pool: CUmemoryPool,
    location: *mut CUmemLocation,
) -> Answer {
    let key = named(v, pool)?;
    // SAFETY: an in pointer of this call.
    let location = unsafe { get(location.cast_const()) }?;
    if let Some(pool) = v.pools.get(key).filter(|pool| pool.place != PoolPlace::DEVICE) {
        let device = v.device(location.id).ok();
        let flags = match (location.r#type, location.id) {
            (CU_MEM_LOCATION_TYPE_DEVICE, _) if device.is_some_and(|device| pool.reach & bit(device) != 0) => {
                CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            }
            (CU_MEM_LOCATION_TYPE_DEVICE, _) if device.is_some() => CU_MEM_ACCESS_FLAGS_PROT_NONE,
            (CU_MEM_LOCATION_TYPE_HOST, _) | (CU_MEM_LOCATION_TYPE_HOST_NUMA, 0) if pool.place.is_host() => {
                CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            }
            (CU_MEM_LOCATION_TYPE_HOST_NUMA, 0) | (CU_MEM_LOCATION_TYPE_HOST, _) => CU_MEM_ACCESS_FLAGS_PROT_NONE,
            _ => return Err(INVALID),
        };
        // SAFETY: an out pointer of this call.
        return unsafe { put(out, flags) };
    }
    let device = v.device(location.id).ok().filter(|_| location.r#type == CU_MEM_LOCATION_TYPE_DEVICE);
    let Some(device) = device else { return Err(v.unsupported("access to a pool by the host")) };
    let is_open = v.pools.get(key).is_some_and(|pool| pool.reach & bit(device) != 0);
    let flags = if is_open { CU_MEM_ACCESS_FLAGS_PROT_READWRITE } else { CU_MEM_ACCESS_FLAGS_PROT_NONE };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, flags) }
}

pub(crate) unsafe fn get_attribute(
    v: &mut Visit<'_>,
    pool: CUmemoryPool,
    attribute: CUmemPool_attribute,
    out: *mut c_void,
) -> Answer {
    let key = named(v, pool)?;
    let Some(pool) = v.pools.get(key) else { return Err(INVALID) };
    let value = match attribute {
        1..=3 => {
            // SAFETY: these attributes are ints, by this call's page.
            return unsafe { put(out.cast::<i32>(), pool.reuse[attribute as usize - 1] as i32) };
        }
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => pool.threshold,
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT => pool.reserved,
        CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => pool.reserved_high,
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT => pool.used,
        CU_MEMPOOL_ATTR_USED_MEM_HIGH => pool.used_high,
        _ => return Err(INVALID),
    };
    // SAFETY: these attributes are 64-bit numbers, by this call's page.
    unsafe { put(out.cast::<u64>(), value) }
}

pub(crate) unsafe fn set_attribute(
    v: &mut Visit<'_>,
    pool: CUmemoryPool,
    attribute: CUmemPool_attribute,
    value: *mut c_void,
) -> Answer {
    let key = named(v, pool)?;
    let Some(pool) = v.pools.get_mut(key) else { return Err(INVALID) };
    match attribute {
        // SAFETY: these attributes are ints, by this call's page.
        1..=3 => pool.reuse[attribute as usize - 1] = unsafe { get(value.cast::<i32>()) }? as u64,
        // SAFETY: this attribute is a 64-bit number, by this call's page.
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => pool.threshold = unsafe { get(value.cast::<u64>()) }?,
        // SAFETY: as above; a high-water mark may only be set to 0.
        CU_MEMPOOL_ATTR_USED_MEM_HIGH if unsafe { get(value.cast::<u64>()) }? == 0 => pool.used_high = pool.used,
        // SAFETY: as above.
        CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH if unsafe { get(value.cast::<u64>()) }? == 0 => {
            pool.reserved_high = pool.reserved;
        }
        _ => return Err(INVALID),
    }
    Ok(())
}
