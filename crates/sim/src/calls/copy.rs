//! Copies: synchronous ones on the legacy stream, asynchronous ones on any, and what a copy node is made of.
//!
//! Pageable host memory: an asynchronous copy *from* it takes the bytes when the call is made; one *to* it returns
//! when the bytes are there. A copy node reads and writes it when it runs.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_void;
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::memory::{holding, is_touchable, is_visible};
use crate::foreign::{get, read_host};
use crate::memory::AccessErrorKind;
use crate::model::graph::NodeKind;
use crate::model::objects::{Owner, PoolPlace};
use crate::model::table::Lookup;
use crate::model::work::{CopyMemory, CopyWork, Side, Work};
use crate::visit::{Answer, Refusal, Target, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// Nothing of a program's lies below this.
const LOWEST: u64 = 4096;

/// One end of a copy as a C struct gives it.
pub(super) struct End {
    pub(super) kind: CUmemorytype,
    pub(super) host: u64,
    pub(super) device: u64,
    pub(super) array: CUarray,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) z: usize,
    pub(super) level: usize,
    pub(super) pitch: usize,
    pub(super) height: usize,
}

fn side(v: &mut Visit<'_>, end: &End, extent: [u64; 3], by_node: bool) -> Result<Side, CUresult> {
    let base = match end.kind {
        CU_MEMORYTYPE_HOST => end.host,
        CU_MEMORYTYPE_DEVICE | CU_MEMORYTYPE_UNIFIED => end.device,
        CU_MEMORYTYPE_ARRAY => return array_side(v, end, extent),
        _ => return Err(INVALID),
    };
    let row = extent[0].checked_add(end.x as u64).ok_or(INVALID)?;
    let pitch = if end.pitch == 0 { row } else { end.pitch as u64 };
    let rows = if end.height == 0 { extent[1] } else { end.height as u64 };
    if (extent[1] > 1 || extent[2] > 1) && pitch < extent[0] || extent[2] > 1 && rows < extent[1] {
        return Err(INVALID);
    }
    let slice = pitch.checked_mul(rows).ok_or(INVALID)?;
    let skip = (end.z as u64).checked_mul(slice).and_then(|z| z.checked_add((end.y as u64).checked_mul(pitch)?));
    let address = skip.and_then(|skip| base.checked_add(skip)?.checked_add(end.x as u64)).ok_or(INVALID)?;
    let last = (extent[2] - 1).checked_mul(slice).and_then(|z| z.checked_add((extent[1] - 1).checked_mul(pitch)?));
    let bytes = last.and_then(|last| last.checked_add(extent[0])).ok_or(INVALID)?;
    let known = holding(v, address);
    let device = device_at(v, address);
    let is_managed = known.as_ref().is_some_and(|(_, seen)| matches!(seen.owner, Owner::Managed | Owner::Pool(_)));
    let place = match (&known, end.kind) {
        (Some((_, seen)), _) => match seen.owner {
            Owner::HostAllocated { .. } | Owner::HostRegistered { .. } | Owner::Managed => CopyMemory::Pinned,
            // As a memset of it is refused.
            _ if end.kind == CU_MEMORYTYPE_DEVICE && super::pool::is_out_of_reach(v, &seen.owner) => {
                return Err(super::pool::refuse_unreachable(v, address));
            }
            Owner::Pool(pool) if v.pools.get(pool).is_some_and(|pool| pool.place != PoolPlace::DEVICE) => {
                CopyMemory::Pinned
            }
            _ => CopyMemory::Device,
        },
        // An address of the device's that nothing lies at is no host memory either.
        (None, CU_MEMORYTYPE_HOST | CU_MEMORYTYPE_UNIFIED) if !v.memory.is_device_address(address) => {
            CopyMemory::Pageable
        }
        (None, CU_MEMORYTYPE_DEVICE | CU_MEMORYTYPE_UNIFIED) if is_touchable(v, address, bytes, by_node) => {
            CopyMemory::Device
        }
        (None, _) => return Err(refuse(v, address, bytes)),
    };
    match place {
        CopyMemory::Pageable if base < LOWEST => return Err(INVALID),
        CopyMemory::Pageable => {}
        // A host pointer into registered memory may reach beyond it: the rest is pageable, and all of it is the program's.
        CopyMemory::Pinned if end.kind == CU_MEMORYTYPE_HOST && !is_managed && !is_visible(v, address, bytes) => {
            let (place, array) = (CopyMemory::Pageable, None);
            return Ok(Side { place, kind: end.kind, address, pitch, slice, device: None, array });
        }
        _ if !is_touchable(v, address, bytes, by_node) => return Err(refuse(v, address, bytes)),
        _ => {}
    }
    let device = device.filter(|_| place == CopyMemory::Device);
    Ok(Side { place, kind: end.kind, address, pitch, slice, device, array: None })
}

/// One end of a copy that is an array: named by its handle, and by bytes, rows and slices from its first texel.
fn array_side(v: &mut Visit<'_>, end: &End, extent: [u64; 3]) -> Result<Side, CUresult> {
    let key = super::array::named(v, end.array, INVALID)?;
    let Some(array) = v.arrays.get(key) else { return Err(INVALID) };
    let (whole, base, device) = (array.extent(), array.address, Some(v.device_of(array.context)));
    let offset = [end.x as u64, end.y as u64, end.z as u64];
    let inside = |at: usize| offset[at].checked_add(extent[at]).is_some_and(|sum| sum <= whole[at]);
    if end.level != 0 {
        return Err(INVALID);
    }
    if !(inside(0) && inside(1) && inside(2)) {
        let size = |size: [u64; 3]| format!("{} x {} x {}", size[0], size[1], size[2]);
        let what = format!(
            "{} touches {} (bytes, rows, slices) of an array from byte {}, row {} and slice {} on, and the array has {}",
            v.call.name(),
            size(extent),
            offset[0],
            offset[1],
            offset[2],
            size(whole)
        );
        let help = "copy no more than the array holds; widths and offsets in a row are bytes, not texels";
        return Err(v.refuse(Refusal::new(INVALID, "out-of-bounds", what, help)));
    }
    let (pitch, slice) = (whole[0], whole[0] * whole[1]);
    let address = base + offset[2] * slice + offset[1] * pitch + offset[0];
    let array = Some((end.array.bits(), offset));
    Ok(Side { place: CopyMemory::Device, kind: end.kind, address, pitch, slice, device, array })
}

/// The device whose memory lies at `address`, or will when a launch allocates it; none of the host's.
pub(crate) fn device_at(v: &Visit<'_>, address: u64) -> Option<usize> {
    match holding(v, address) {
        Some((base, seen)) => {
            let host = matches!(seen.owner, Owner::HostAllocated { .. } | Owner::HostRegistered { .. });
            let of_pool = matches!(seen.owner, Owner::Pool(pool)
                if v.pools.get(pool).is_some_and(|pool| pool.place != PoolPlace::DEVICE));
            (!host && !of_pool && !super::managed::is_managed(v, base)).then_some(seen.device)
        }
        // Arrays are seen by their handles alone.
        None => match v.memory.home_at(address) {
            Some(home) => Some(home.device),
            None => v.graph_memory.device_at(address),
        },
    }
}

/// A copy that would leave its allocation.
fn refuse(v: &mut Visit<'_>, address: u64, bytes: u64) -> CUresult {
    let from = match holding(v, address) {
        Some((base, seen)) => format!("which is at byte {} of an allocation of {} bytes", address - base, seen.bytes),
        None => format!("which is {}", v.memory.describe(address)),
    };
    let what = format!("{} touches {bytes} bytes at {address:#x}, {from}", v.call.name());
    let help = match v.memory.error(address, bytes).kind {
        AccessErrorKind::Freed => "free it after its last use",
        _ => "copy no more than the allocation holds",
    };
    v.refuse(Refusal::new(INVALID, "out-of-bounds", what, help))
}

/// A checked copy; `None` if there is nothing to copy.
fn work(
    v: &mut Visit<'_>,
    source: &End,
    target: &End,
    extent: [usize; 3],
    by_node: bool,
) -> Result<Option<CopyWork>, CUresult> {
    let extent = extent.map(|size| size as u64);
    if extent.contains(&0) {
        return Ok(None);
    }
    let (source, target) = (side(v, source, extent, by_node)?, side(v, target, extent, by_node)?);
    Ok(Some(CopyWork { source, target, extent, by: v.this().announced.by.clone() }))
}

pub(super) fn flat(kind: CUmemorytype, address: u64) -> End {
    let array = CUarray::NULL;
    End { kind, host: address, device: address, array, x: 0, y: 0, z: 0, level: 0, pitch: 0, height: 0 }
}

/// Runs or records a copy.
pub(super) fn go(
    v: &mut Visit<'_>,
    handle: CUstream,
    source: &End,
    target: &End,
    extent: [usize; 3],
    wait: bool,
) -> Answer {
    let to = v.target(handle)?;
    let by_node = matches!(to, Target::Record(..));
    let Some(copy) = work(v, source, target, extent, by_node)? else { return Ok(()) };
    let stream = match to {
        Target::Record(capture, stream) => {
            return super::capture::record(v, capture, stream, NodeKind::Copy(Arc::new(copy))).map(|_| ());
        }
        Target::Run(stream) => stream,
    };
    let wait = wait || copy.target.place == CopyMemory::Pageable;
    let task = if copy.source.place == CopyMemory::Pageable {
        let mut bytes = Vec::new();
        for (_, row) in copy.rows() {
            // SAFETY: the program promises that the source is readable when it makes the call.
            bytes.extend(unsafe { read_host(row, copy.extent[0] as usize) });
        }
        v.submit(stream, Work::CopyTaken(Arc::new(copy), bytes))
    } else {
        v.submit(stream, Work::Copy(Arc::new(copy)))
    };
    if wait {
        v.wait_until(v.device_of_stream(stream), |state| state.tasks.is_done(task))?;
        v.check_lost(stream)?;
        v.tasks.host_has([task]);
    }
    Ok(())
}

const H: CUmemorytype = CU_MEMORYTYPE_HOST;
const D: CUmemorytype = CU_MEMORYTYPE_DEVICE;
const U: CUmemorytype = CU_MEMORYTYPE_UNIFIED;

pub(crate) unsafe fn h_to_d(v: &mut Visit<'_>, to: CUdeviceptr, from: *const c_void, bytes: usize) -> Answer {
    go(v, CUstream::NULL, &flat(H, from as u64), &flat(D, to), [bytes, 1, 1], true)
}

pub(crate) unsafe fn d_to_h(v: &mut Visit<'_>, to: *mut c_void, from: CUdeviceptr, bytes: usize) -> Answer {
    go(v, CUstream::NULL, &flat(D, from), &flat(H, to as u64), [bytes, 1, 1], true)
}

pub(crate) unsafe fn d_to_d(v: &mut Visit<'_>, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Answer {
    go(v, CUstream::NULL, &flat(D, from), &flat(D, to), [bytes, 1, 1], true)
}

pub(crate) unsafe fn unified(v: &mut Visit<'_>, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Answer {
    go(v, CUstream::NULL, &flat(U, from), &flat(U, to), [bytes, 1, 1], true)
}

pub(crate) unsafe fn h_to_d_async(
    v: &mut Visit<'_>,
    to: CUdeviceptr,
    from: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> Answer {
    go(v, stream, &flat(H, from as u64), &flat(D, to), [bytes, 1, 1], false)
}

pub(crate) unsafe fn d_to_h_async(
    v: &mut Visit<'_>,
    to: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Answer {
    go(v, stream, &flat(D, from), &flat(H, to as u64), [bytes, 1, 1], false)
}

pub(crate) unsafe fn d_to_d_async(
    v: &mut Visit<'_>,
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Answer {
    go(v, stream, &flat(D, from), &flat(D, to), [bytes, 1, 1], false)
}

/// The contexts that a copy between contexts names, each with an address that is to be memory of its device. Memory of the
/// host is everybody's.
fn check_contexts(v: &mut Visit<'_>, ends: [(CUcontext, CUdeviceptr); 2]) -> Answer {
    let mut devices = Vec::new();
    for (context, _) in ends {
        match v.contexts.look_up(context.bits()) {
            Lookup::Live(key) => devices.push(v.device_of(key)),
            _ => return Err(v.unsupported("a copy between contexts of which one is not there")),
        }
    }
    for ((_, address), named) in ends.into_iter().zip(devices) {
        if let Some(device) = device_at(v, address).filter(|_| v.has_several_devices()) {
            let these = [("the memory", device), ("the context named for it", named)];
            if device != named {
                let help = "name the context of the device that the memory was allocated on, for each end";
                return Err(v.refuse_two_devices(INVALID, these, help));
            }
        }
    }
    Ok(())
}

/// A copy between contexts. No access between their devices is needed: it is staged.
pub(crate) unsafe fn peer(
    v: &mut Visit<'_>,
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    bytes: usize,
) -> Answer {
    check_contexts(v, [(to_context, to), (from_context, from)])?;
    go(v, CUstream::NULL, &flat(D, from), &flat(D, to), [bytes, 1, 1], true)
}

/// As [`peer`], on a stream.
pub(crate) unsafe fn peer_async(
    v: &mut Visit<'_>,
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    bytes: usize,
    stream: CUstream,
) -> Answer {
    check_contexts(v, [(to_context, to), (from_context, from)])?;
    go(v, stream, &flat(D, from), &flat(D, to), [bytes, 1, 1], false)
}

/// The ends of a copy between contexts, with the contexts looked at.
fn ends_peer(v: &mut Visit<'_>, c: &CUDA_MEMCPY3D_PEER) -> Result<(End, End, [usize; 3]), CUresult> {
    let source = End {
        kind: c.srcMemoryType,
        host: c.srcHost as u64,
        device: c.srcDevice,
        array: c.srcArray,
        x: c.srcXInBytes,
        y: c.srcY,
        z: c.srcZ,
        level: c.srcLOD,
        pitch: c.srcPitch,
        height: c.srcHeight,
    };
    let target = End {
        kind: c.dstMemoryType,
        host: c.dstHost as u64,
        device: c.dstDevice,
        array: c.dstArray,
        x: c.dstXInBytes,
        y: c.dstY,
        z: c.dstZ,
        level: c.dstLOD,
        pitch: c.dstPitch,
        height: c.dstHeight,
    };
    let address = |v: &Visit<'_>, end: &End| match (end.kind, v.arrays.look_up(end.array.bits())) {
        (CU_MEMORYTYPE_ARRAY, Lookup::Live(key)) => v.arrays.get(key).map_or(0, |array| array.address),
        (CU_MEMORYTYPE_ARRAY | CU_MEMORYTYPE_HOST, _) => 0,
        _ => end.device,
    };
    let named = [(c.dstContext, address(v, &target)), (c.srcContext, address(v, &source))];
    check_contexts(v, named)?;
    Ok((source, target, [c.WidthInBytes, c.Height, c.Depth]))
}

pub(crate) unsafe fn peer_three_d(v: &mut Visit<'_>, copy: *const CUDA_MEMCPY3D_PEER) -> Answer {
    // SAFETY: an in pointer of this call.
    let copy = unsafe { get(copy) }?;
    let (source, target, extent) = ends_peer(v, &copy)?;
    go(v, CUstream::NULL, &source, &target, extent, true)
}

pub(crate) unsafe fn peer_three_d_async(
    v: &mut Visit<'_>,
    copy: *const CUDA_MEMCPY3D_PEER,
    stream: CUstream,
) -> Answer {
    // SAFETY: an in pointer of this call.
    let copy = unsafe { get(copy) }?;
    let (source, target, extent) = ends_peer(v, &copy)?;
    go(v, stream, &source, &target, extent, false)
}

pub(crate) unsafe fn unified_async(
    v: &mut Visit<'_>,
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Answer {
    go(v, stream, &flat(U, from), &flat(U, to), [bytes, 1, 1], false)
}

fn ends_2d(c: &CUDA_MEMCPY2D) -> (End, End, [usize; 3]) {
    let source = End {
        kind: c.srcMemoryType,
        host: c.srcHost as u64,
        device: c.srcDevice,
        array: c.srcArray,
        x: c.srcXInBytes,
        y: c.srcY,
        z: 0,
        level: 0,
        pitch: c.srcPitch,
        height: 0,
    };
    let target = End {
        kind: c.dstMemoryType,
        host: c.dstHost as u64,
        device: c.dstDevice,
        array: c.dstArray,
        x: c.dstXInBytes,
        y: c.dstY,
        z: 0,
        level: 0,
        pitch: c.dstPitch,
        height: 0,
    };
    (source, target, [c.WidthInBytes, c.Height, 1])
}

fn ends_3d(c: &CUDA_MEMCPY3D) -> (End, End, [usize; 3]) {
    let source = End {
        kind: c.srcMemoryType,
        host: c.srcHost as u64,
        device: c.srcDevice,
        array: c.srcArray,
        x: c.srcXInBytes,
        y: c.srcY,
        z: c.srcZ,
        level: c.srcLOD,
        pitch: c.srcPitch,
        height: c.srcHeight,
    };
    let target = End {
        kind: c.dstMemoryType,
        host: c.dstHost as u64,
        device: c.dstDevice,
        array: c.dstArray,
        x: c.dstXInBytes,
        y: c.dstY,
        z: c.dstZ,
        level: c.dstLOD,
        pitch: c.dstPitch,
        height: c.dstHeight,
    };
    (source, target, [c.WidthInBytes, c.Height, c.Depth])
}

pub(crate) unsafe fn two_d(v: &mut Visit<'_>, copy: *const CUDA_MEMCPY2D) -> Answer {
    // SAFETY: an in pointer of this call.
    let (source, target, extent) = ends_2d(&unsafe { get(copy) }?);
    go(v, CUstream::NULL, &source, &target, extent, true)
}

pub(crate) unsafe fn two_d_async(v: &mut Visit<'_>, copy: *const CUDA_MEMCPY2D, stream: CUstream) -> Answer {
    // SAFETY: an in pointer of this call.
    let (source, target, extent) = ends_2d(&unsafe { get(copy) }?);
    go(v, stream, &source, &target, extent, false)
}

pub(crate) unsafe fn three_d(v: &mut Visit<'_>, copy: *const CUDA_MEMCPY3D) -> Answer {
    // SAFETY: an in pointer of this call.
    let (source, target, extent) = ends_3d(&unsafe { get(copy) }?);
    go(v, CUstream::NULL, &source, &target, extent, true)
}

pub(crate) unsafe fn three_d_async(v: &mut Visit<'_>, copy: *const CUDA_MEMCPY3D, stream: CUstream) -> Answer {
    // SAFETY: an in pointer of this call.
    let (source, target, extent) = ends_3d(&unsafe { get(copy) }?);
    go(v, stream, &source, &target, extent, false)
}

/// What a copy node does: unlike a call, a node must copy something.
pub(crate) unsafe fn node(v: &mut Visit<'_>, copy: *const CUDA_MEMCPY3D) -> Result<CopyWork, CUresult> {
    // SAFETY: an in pointer of the call that passes it on.
    let (source, target, extent) = ends_3d(&unsafe { get(copy) }?);
    work(v, &source, &target, extent, true)?.ok_or(INVALID)
}
