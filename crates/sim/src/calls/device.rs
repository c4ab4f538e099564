//! The devices: each an H200, as far as it was observed.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use crate::foreign::{put, put_optional, text};
use crate::model::objects::{Context, Owner};
use crate::model::table::Key;
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// `CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID`.
const MULTI_GPU_BOARD_GROUP_ID: CUdevice_attribute = 85;
const NAME: &[u8] = b"Dacapo software device (as NVIDIA H200)\0";

pub(crate) unsafe fn get_count(v: &mut Visit<'_>, count: *mut c_int) -> Answer {
    // SAFETY: an out pointer of this call.
    unsafe { put(count, v.devices.len() as c_int) }
}

pub(crate) unsafe fn get(v: &mut Visit<'_>, device: *mut CUdevice, ordinal: c_int) -> Answer {
    v.device(ordinal)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(device, ordinal) }
}

pub(crate) unsafe fn get_name(v: &mut Visit<'_>, name: *mut c_char, len: c_int, dev: CUdevice) -> Answer {
    v.device(dev)?;
    if name.is_null() || len <= 0 {
        return Err(INVALID);
    }
    let len = (len as usize).min(NAME.len());
    for (at, byte) in NAME[..len - 1].iter().chain(&[0]).enumerate() {
        // SAFETY: `name` is valid for `len` bytes, and `at` is below that.
        unsafe { name.add(at).write(*byte as c_char) };
    }
    Ok(())
}

pub(crate) unsafe fn total_mem(v: &mut Visit<'_>, bytes: *mut usize, dev: CUdevice) -> Answer {
    v.device(dev)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(bytes, v.memory.capacity() as usize) }
}

pub(crate) unsafe fn get_uuid(v: &mut Visit<'_>, uuid: *mut CUuuid, dev: CUdevice) -> Answer {
    let mut bytes = *b"dacapo-software\0";
    bytes[15] = v.device(dev)? as u8;
    // SAFETY: an out pointer of this call.
    unsafe { put(uuid, CUuuid { bytes }) }
}

pub(crate) unsafe fn compute_capability(
    v: &mut Visit<'_>,
    major: *mut c_int,
    minor: *mut c_int,
    dev: CUdevice,
) -> Answer {
    v.device(dev)?;
    // SAFETY: out pointers of this call.
    unsafe { put(major, 9).and_then(|()| put(minor, 0)) }
}

pub(crate) unsafe fn get_attribute(
    v: &mut Visit<'_>,
    out: *mut c_int,
    attribute: CUdevice_attribute,
    dev: CUdevice,
) -> Answer {
    let device = v.device(dev)?;
    let value = match attribute {
        // Where it sits, and which board it is on.
        CU_DEVICE_ATTRIBUTE_PCI_BUS_ID | MULTI_GPU_BOARD_GROUP_ID if device > 0 => dev,
        _ => crate::h200::attribute(attribute).ok_or(INVALID)?,
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, value) }
}

pub(crate) unsafe fn primary_retain(v: &mut Visit<'_>, out: *mut CUcontext, dev: CUdevice) -> Answer {
    v.check_fault_of(dev)?;
    let device = v.device(dev)?;
    if out.is_null() {
        return Err(INVALID);
    }
    let primary = v.devices[device].primary;
    v.devices[device].primary_retains += 1;
    if let Some(context) = v.contexts.get_mut(primary) {
        context.is_active = true;
    }
    let handle = CUcontext::from_bits(v.contexts.handle(primary));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn primary_release(v: &mut Visit<'_>, dev: CUdevice) -> Answer {
    let device = v.device(dev)?;
    if v.devices[device].primary_retains == 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    v.devices[device].primary_retains -= 1;
    if v.devices[device].primary_retains == 0 {
        let primary = v.devices[device].primary;
        empty(v, primary);
    }
    Ok(())
}

pub(crate) unsafe fn primary_reset(v: &mut Visit<'_>, dev: CUdevice) -> Answer {
    let device = v.device(dev)?;
    let primary = v.devices[device].primary;
    empty(v, primary);
    Ok(())
}

pub(crate) unsafe fn primary_get_state(
    v: &mut Visit<'_>,
    dev: CUdevice,
    flags: *mut c_uint,
    active: *mut c_int,
) -> Answer {
    let device = v.device(dev)?;
    let Some(context) = v.contexts.get(v.devices[device].primary) else { return Err(INVALID) };
    // SAFETY: out pointers of this call.
    unsafe {
        put_optional(flags, context.flags);
        put_optional(active, c_int::from(context.is_active));
    }
    Ok(())
}

pub(crate) unsafe fn primary_set_flags(v: &mut Visit<'_>, dev: CUdevice, flags: c_uint) -> Answer {
    let device = v.device(dev)?;
    let primary = v.devices[device].primary;
    if let Some(context) = v.contexts.get_mut(primary) {
        context.flags = flags;
    }
    Ok(())
}

/// Ends everything in a context: its work, streams, events, modules and memory.
pub(crate) fn empty(v: &mut Visit<'_>, key: Key<Context>) {
    // What still runs is let run out, unless the device is broken, in which case it is gone already.
    let _ = v.wait_for_context(key);
    let Some(context) = v.contexts.get_mut(key) else { return };
    context.is_active = false;
    context.legacy = None;
    context.per_thread = HashMap::new();
    context.limits.clear();
    context.left_behind.clear();
    context.held.clear();
    context.peers.clear();
    let (id, device) = (context.id, context.device);
    for other in v.contexts.keys() {
        if let Some(other) = v.contexts.get_mut(other) {
            other.peers.remove(&id);
        }
    }
    for stream in v.streams.keys() {
        if v.streams.get(stream).is_some_and(|stream| stream.context == key) {
            super::stream::remove(v, stream);
        }
    }
    for event in v.events.keys() {
        if v.events.get(event).is_some_and(|event| event.context == key) {
            v.events.remove(event);
        }
    }
    for module in v.modules.keys() {
        if v.modules.get(module).is_some_and(|module| module.context == key) {
            super::module::remove(v, module);
        }
    }
    for texture in v.textures.keys() {
        if v.textures.get(texture).is_some_and(|texture| texture.context == key) {
            super::texture::remove(v, texture);
        }
    }
    for array in v.arrays.keys() {
        if v.arrays.get(array).is_some_and(|array| array.context == key) {
            super::array::remove(v, array);
        }
    }
    // One heap serves all contexts of a device here, so it goes with the last of them that has anything to lose.
    if v.contexts.iter().all(|(_, context)| !context.is_active || context.device != device) {
        v.memory.heap_clear(device);
    }
    let gone: Vec<u64> = v.visible.iter().filter(|(_, seen)| seen.context == key).map(|(at, _)| *at).collect();
    for address in gone {
        match v.visible.get(&address).map(|seen| seen.owner.clone()) {
            Some(Owner::Pool(pool)) => super::pool::give_back_now(v, pool, address),
            // Mapped memory belongs to the device.
            Some(Owner::Mapped) => {}
            _ => super::memory::forget(v, address),
        }
    }
}

/// Where the first device says it sits; the others sit on buses by their number.
const BUS: u8 = 0xda;

/// Where a device says it sits.
fn place(device: usize) -> String {
    let bus = if device == 0 { BUS } else { device as u8 };
    format!("0000:{bus:02x}:00.0")
}

pub(crate) unsafe fn get_pci_bus_id(v: &mut Visit<'_>, out: *mut c_char, len: c_int, dev: CUdevice) -> Answer {
    let text = format!("{}\0", place(v.device(dev)?));
    let bytes = text.as_bytes();
    if out.is_null() || usize::try_from(len).unwrap_or(0) < bytes.len() {
        return Err(INVALID);
    }
    for (at, byte) in bytes.iter().enumerate() {
        // SAFETY: `out` is valid for `len` bytes, and `at` is below that.
        unsafe { out.add(at).write(*byte as c_char) };
    }
    Ok(())
}

pub(crate) unsafe fn get_by_pci_bus_id(v: &mut Visit<'_>, out: *mut CUdevice, bus: *const c_char) -> Answer {
    // SAFETY: a C string, by this call's page.
    let bus = unsafe { text(bus) }?;
    let found = (0..v.devices.len()).find(|device| place(*device) == bus);
    let device = found.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, device as CUdevice) }
}

/// All devices can access each other, or none can. A device is no peer of itself.
pub(crate) unsafe fn can_access_peer(v: &mut Visit<'_>, out: *mut c_int, dev: CUdevice, peer: CUdevice) -> Answer {
    let can = v.device(dev)? != v.device(peer)? && v.has_peers();
    // SAFETY: an out pointer of this call.
    unsafe { put(out, c_int::from(can)) }
}

/// What two devices have between them: access with atomics at one rank, or nothing; and none to arrays.
pub(crate) unsafe fn get_p2p_attribute(
    v: &mut Visit<'_>,
    out: *mut c_int,
    attribute: CUdevice_P2PAttribute,
    source: CUdevice,
    target: CUdevice,
) -> Answer {
    if v.device(source)? == v.device(target)? {
        return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
    }
    let value = match attribute {
        CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK | CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED => 0,
        CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED | CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED => {
            c_int::from(v.has_peers())
        }
        _ => return Err(INVALID),
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, value) }
}

/// No context can have a share of the multiprocessors, of whatever kind.
pub(crate) unsafe fn get_exec_affinity_support(
    v: &mut Visit<'_>,
    out: *mut c_int,
    _: CUexecAffinityType,
    dev: CUdevice,
) -> Answer {
    v.device(dev)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, 0) }
}

/// The properties that CUDA 2 knew.
pub(crate) unsafe fn get_properties(v: &mut Visit<'_>, out: *mut CUdevprop, dev: CUdevice) -> Answer {
    v.device(dev)?;
    let of = |number| crate::h200::attribute(number).unwrap_or(0);
    let properties = CUdevprop {
        maxThreadsPerBlock: of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        maxThreadsDim: [2, 3, 4].map(of),
        maxGridSize: [5, 6, 7].map(of),
        sharedMemPerBlock: of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        totalConstantMemory: of(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
        SIMDWidth: of(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        memPitch: of(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
        regsPerBlock: of(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        clockRate: of(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        textureAlign: of(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
    };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, properties) }
}

/// Texels that a 1D texture over plain memory may have: 4 GiB of them, and 2^30.
pub(crate) unsafe fn get_texture_1d_linear_max_width(
    v: &mut Visit<'_>,
    out: *mut usize,
    format: CUarray_format,
    channels: c_uint,
    dev: CUdevice,
) -> Answer {
    v.device(dev)?;
    let bytes = match format {
        CU_AD_FORMAT_UNSIGNED_INT8 | CU_AD_FORMAT_SIGNED_INT8 => 1,
        CU_AD_FORMAT_UNSIGNED_INT16 | CU_AD_FORMAT_SIGNED_INT16 | CU_AD_FORMAT_HALF => 2,
        CU_AD_FORMAT_UNSIGNED_INT32 | CU_AD_FORMAT_SIGNED_INT32 | CU_AD_FORMAT_FLOAT => 4,
        _ => return Err(INVALID),
    };
    if ![1, 2, 4].contains(&channels) {
        return Err(INVALID);
    }
    // SAFETY: an out pointer of this call.
    unsafe { put(out, (1 << 30).min((1 << 32) / (bytes * channels as usize))) }
}
