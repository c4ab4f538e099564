//! Arrays, and the copies that name a place in one by an offset.
//!
//! What is there: arrays of one, two and three dimensions, of the eight plain formats with 1, 2 or 4 channels, read by
//! textures and written by surfaces. Layers, cubes, mipmaps, sparse arrays and formats of video and compression are not.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::c_void;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::copy::{End, flat, go};
use crate::foreign::{get, put};
use crate::memory::{Kind, Request};
use crate::model::array::{Array, channel_bytes};
use crate::model::table::{Key, Lookup};
use crate::visit::{Answer, Refusal, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
/// Largest arrays, as an H200 says: of one dimension, of two, and of three in one shape or the other.
const WIDTH_MAX: usize = 131_072;
const HEIGHT_MAX: usize = 65_536;
const CUBE_MAX: [[usize; 3]; 2] = [[16_384; 3], [8_192, 8_192, 32_768]];
/// Formats that cuda.h names beyond the plain ones.
const FORMATS_RARE: [std::ops::RangeInclusive<u32>; 3] = [0x50..=0x50, 0x91..=0xb5, 0xc0..=0xcb];
/// Flags that change nothing of what is there: surfaces, and gathers of four texels, which no instruction here does.
const FLAGS_KNOWN: u32 = CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_TEXTURE_GATHER;
const FLAGS_RARE: u32 = CUDA_ARRAY3D_LAYERED
    | CUDA_ARRAY3D_CUBEMAP
    | CUDA_ARRAY3D_SPARSE
    | CUDA_ARRAY3D_DEFERRED_MAPPING
    | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

/// The array behind a handle; nothing else is followed.
pub(crate) fn named(v: &mut Visit<'_>, handle: CUarray, refusal: CUresult) -> Result<Key<Array>, CUresult> {
    match v.arrays.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        Lookup::Stale => {
            let what = format!("{} was given an array that is destroyed", v.call.name());
            let help = "destroy an array after its last use";
            Err(v.refuse(Refusal::new(refusal, "destroyed-array", what, help)))
        }
        Lookup::Foreign => Err(refusal),
    }
}

pub(crate) unsafe fn create(v: &mut Visit<'_>, out: *mut CUarray, descriptor: *const CUDA_ARRAY_DESCRIPTOR) -> Answer {
    v.check_unsafe()?;
    // SAFETY: an in pointer of this call.
    let d = unsafe { get(descriptor) }?;
    let whole = CUDA_ARRAY3D_DESCRIPTOR {
        Width: d.Width,
        Height: d.Height,
        Depth: 0,
        Format: d.Format,
        NumChannels: d.NumChannels,
        Flags: 0,
    };
    // SAFETY: an out pointer of this call.
    unsafe { make(v, out, whole) }
}

pub(crate) unsafe fn create_3d(
    v: &mut Visit<'_>,
    out: *mut CUarray,
    descriptor: *const CUDA_ARRAY3D_DESCRIPTOR,
) -> Answer {
    v.check_unsafe()?;
    // SAFETY: an in pointer of this call.
    let d = unsafe { get(descriptor) }?;
    // SAFETY: an out pointer of this call.
    unsafe { make(v, out, d) }
}

/// Is there an array of this size on an H200?
fn is_possible(d: &CUDA_ARRAY3D_DESCRIPTOR) -> bool {
    match (d.Height, d.Depth) {
        (0, 0) => (1..=WIDTH_MAX).contains(&d.Width),
        (height, 0) => (1..=WIDTH_MAX).contains(&d.Width) && height <= HEIGHT_MAX,
        (0, _) => false,
        (height, depth) => {
            let fits = |most: [usize; 3]| d.Width <= most[0] && height <= most[1] && depth <= most[2];
            d.Width > 0 && CUBE_MAX.into_iter().any(fits)
        }
    }
}

unsafe fn make(v: &mut Visit<'_>, out: *mut CUarray, d: CUDA_ARRAY3D_DESCRIPTOR) -> Answer {
    if out.is_null() || d.Flags & !(FLAGS_KNOWN | FLAGS_RARE) != 0 || ![1, 2, 4].contains(&d.NumChannels) {
        return Err(INVALID);
    }
    if d.Flags & FLAGS_RARE != 0 {
        return Err(v.unsupported(format!("arrays with the flags {:#x}: layers, cubes and sparse arrays", d.Flags)));
    }
    if channel_bytes(d.Format).is_none() {
        if FORMATS_RARE.iter().any(|formats| formats.contains(&d.Format)) {
            return Err(v.unsupported(format!("arrays of format {:#x}", d.Format)));
        }
        return Err(INVALID);
    }
    if !is_possible(&d) {
        return Err(INVALID);
    }
    let context = v.context()?;
    let mut array = Array { context, descriptor: d, address: 0 };
    let home = v.home_of(context);
    if !super::memory::has_room(v, home.device, array.bytes()) {
        return Err(OUT_OF_MEMORY);
    }
    let size: Vec<String> =
        [d.Width, d.Height, d.Depth].iter().filter(|size| **size > 0).map(ToString::to_string).collect();
    let label = format!("array of {} texels", size.join(" x "));
    let request = Request { bytes: array.bytes(), align: 512, kind: Kind::Array, label: &label };
    array.address = v.memory.alloc_for(home, request).map_err(|_| OUT_OF_MEMORY)?;
    let key = v.arrays.insert(array);
    let handle = CUarray::from_bits(v.arrays.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn destroy(v: &mut Visit<'_>, handle: CUarray) -> Answer {
    v.check_unsafe()?;
    let key = named(v, handle, INVALID_HANDLE)?;
    if let Some(context) = v.arrays.get(key).map(|array| array.context) {
        v.wait_for_context(context)?;
    }
    remove(v, key);
    Ok(())
}

/// Takes an array away. Textures over it stay, and have nothing to read.
pub(crate) fn remove(v: &mut Visit<'_>, key: Key<Array>) {
    if let Some(array) = v.arrays.remove(key) {
        v.memory.free(array.address);
    }
}

pub(crate) unsafe fn get_descriptor(v: &mut Visit<'_>, out: *mut CUDA_ARRAY_DESCRIPTOR, handle: CUarray) -> Answer {
    let key = named(v, handle, INVALID_HANDLE)?;
    let Some(d) = v.arrays.get(key).map(|array| array.descriptor) else { return Err(INVALID_HANDLE) };
    let flat = CUDA_ARRAY_DESCRIPTOR { Width: d.Width, Height: d.Height, Format: d.Format, NumChannels: d.NumChannels };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, flat) }
}

pub(crate) unsafe fn get_descriptor_3d(
    v: &mut Visit<'_>,
    out: *mut CUDA_ARRAY3D_DESCRIPTOR,
    handle: CUarray,
) -> Answer {
    let key = named(v, handle, INVALID_HANDLE)?;
    let Some(d) = v.arrays.get(key).map(|array| array.descriptor) else { return Err(INVALID_HANDLE) };
    // SAFETY: an out pointer of this call.
    unsafe { put(out, d) }
}

/// A place in the first row of an array.
fn at(array: CUarray, offset: usize) -> End {
    End { array, x: offset, ..flat(CU_MEMORYTYPE_ARRAY, 0) }
}

const H: CUmemorytype = CU_MEMORYTYPE_HOST;
const D: CUmemorytype = CU_MEMORYTYPE_DEVICE;

pub(crate) unsafe fn a_to_a(
    v: &mut Visit<'_>,
    to: CUarray,
    to_offset: usize,
    from: CUarray,
    from_offset: usize,
    bytes: usize,
) -> Answer {
    go(v, CUstream::NULL, &at(from, from_offset), &at(to, to_offset), [bytes, 1, 1], true)
}

pub(crate) unsafe fn a_to_d(v: &mut Visit<'_>, to: CUdeviceptr, from: CUarray, offset: usize, bytes: usize) -> Answer {
    go(v, CUstream::NULL, &at(from, offset), &flat(D, to), [bytes, 1, 1], true)
}

pub(crate) unsafe fn d_to_a(v: &mut Visit<'_>, to: CUarray, offset: usize, from: CUdeviceptr, bytes: usize) -> Answer {
    go(v, CUstream::NULL, &flat(D, from), &at(to, offset), [bytes, 1, 1], true)
}

pub(crate) unsafe fn a_to_h(v: &mut Visit<'_>, to: *mut c_void, from: CUarray, offset: usize, bytes: usize) -> Answer {
    go(v, CUstream::NULL, &at(from, offset), &flat(H, to as u64), [bytes, 1, 1], true)
}

pub(crate) unsafe fn h_to_a(
    v: &mut Visit<'_>,
    to: CUarray,
    offset: usize,
    from: *const c_void,
    bytes: usize,
) -> Answer {
    go(v, CUstream::NULL, &flat(H, from as u64), &at(to, offset), [bytes, 1, 1], true)
}

pub(crate) unsafe fn a_to_h_async(
    v: &mut Visit<'_>,
    to: *mut c_void,
    from: CUarray,
    offset: usize,
    bytes: usize,
    stream: CUstream,
) -> Answer {
    go(v, stream, &at(from, offset), &flat(H, to as u64), [bytes, 1, 1], false)
}

pub(crate) unsafe fn h_to_a_async(
    v: &mut Visit<'_>,
    to: CUarray,
    offset: usize,
    from: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> Answer {
    go(v, stream, &flat(H, from as u64), &at(to, offset), [bytes, 1, 1], false)
}
