//! Texture and surface objects: what kernels read texels through.
//!
//! What is there: reads without filtering of linear memory, of rows of memory and of arrays. What is not: filtering, views
//! of a resource, mipmaps, layers, cubes and sRGB. An H200 looks at little when an object is made; so does this.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::memory::holding;
use crate::foreign::{get, put};
use crate::memory::texture::{Shape, Texture};
use crate::model::array::channel_bytes;
use crate::model::table::{Key, Lookup};
use crate::visit::{Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// Linear memory begins at a multiple of this, rows of memory are apart by a multiple of the other.
const ALIGNMENT: u64 = 512;
const PITCH_ALIGNMENT: u64 = 32;
/// Most texels of linear memory; widest and highest rows of memory, and how far they may lie apart.
const LINEAR_MAX: u64 = 268_435_456;
const ROWS_MAX: [u64; 2] = [131_072, 65_000];
const PITCH_MAX: u64 = 2_097_120;
/// Flags that an H200 takes, known or not.
const FLAGS: u32 = 0x3f;

/// What an object reads, without how.
struct Source {
    shape: Shape,
    base: u64,
    generation: Option<u64>,
    size: [u64; 3],
    pitch: u64,
    slice: u64,
    format: u32,
    channels: u32,
}

/// Bytes of a texel of a format that is known, with channels that there can be.
fn texel_bytes(v: &mut Visit<'_>, format: u32, channels: u32) -> Result<u64, CUresult> {
    match channel_bytes(format) {
        Some(bytes) if [1, 2, 4].contains(&channels) => Ok(bytes * u64::from(channels)),
        None if format >= 0x50 => Err(v.unsupported(format!("textures of format {format:#x}"))),
        _ => Err(INVALID),
    }
}

fn source_of(v: &mut Visit<'_>, resource: &CUDA_RESOURCE_DESC) -> Result<Source, CUresult> {
    let words = resource.res;
    // Of a union: a pointer or a handle, format and channels, sizes.
    let (format, channels) = (words[1] as u32, (words[1] >> 32) as u32);
    match resource.resType {
        CU_RESOURCE_TYPE_ARRAY => {
            let key = super::array::named(v, CUarray::from_bits(words[0]), INVALID)?;
            let Some(array) = v.arrays.get(key) else { return Err(INVALID) };
            let (d, [pitch, rows, _]) = (array.descriptor, array.extent());
            let dimensions = 1 + u8::from(d.Height > 0) + u8::from(d.Depth > 0);
            let generation = v.memory.containing(array.address).map(|found| found.generation);
            Ok(Source {
                shape: Shape::Image(dimensions),
                base: array.address,
                generation,
                size: [d.Width as u64, d.Height.max(1) as u64, d.Depth.max(1) as u64],
                pitch,
                slice: pitch * rows,
                format: d.Format,
                channels: d.NumChannels,
            })
        }
        CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => Err(v.unsupported("textures of mipmapped arrays")),
        CU_RESOURCE_TYPE_LINEAR => {
            let (base, texel) = (words[0], texel_bytes(v, format, channels)?);
            let count = words[2] / texel;
            if !base.is_multiple_of(ALIGNMENT) || holding(v, base).is_none() || count > LINEAR_MAX {
                return Err(INVALID);
            }
            let size = [count, 1, 1];
            Ok(Source { shape: Shape::Linear, base, generation: None, size, pitch: 0, slice: 0, format, channels })
        }
        CU_RESOURCE_TYPE_PITCH2D => {
            texel_bytes(v, format, channels)?;
            let base = words[0];
            let [width, height, pitch] = [words[2], words[3], words[4]];
            // Rows may overlap, or be none, as observed.
            let fits = width <= ROWS_MAX[0] && height <= ROWS_MAX[1];
            let apart = pitch.is_multiple_of(PITCH_ALIGNMENT) && pitch <= PITCH_MAX;
            if !fits || !apart {
                return Err(INVALID);
            }
            if !base.is_multiple_of(ALIGNMENT) || holding(v, base).is_none() {
                return Err(INVALID);
            }
            let size = [width, height, 1];
            Ok(Source { shape: Shape::Image(2), base, generation: None, size, pitch, slice: 0, format, channels })
        }
        _ => Err(INVALID),
    }
}

/// Keeps an object; its handle is what kernels are given.
fn keep(
    v: &mut Visit<'_>,
    source: Source,
    resource: CUDA_RESOURCE_DESC,
    texture: CUDA_TEXTURE_DESC,
    is_surface: bool,
) -> Result<u64, CUresult> {
    let context = v.context()?;
    let device = v.device_of(context);
    if let Some(other) = v.memory.containing(source.base).and_then(|found| found.device) {
        let these = [("the texels", other), ("the current context", device)];
        if other != device {
            let help = "make the object in a context of the device that the memory was allocated on";
            return Err(v.refuse_two_devices(INVALID, these, help));
        }
    }
    let Source { shape, base, generation, size, pitch, slice, format, channels } = source;
    let object = Arc::new(Texture {
        device,
        context,
        resource,
        texture,
        is_surface,
        shape,
        base,
        generation,
        size,
        pitch,
        slice,
        format,
        channels,
    });
    let key = v.textures.insert(object.clone());
    let handle = v.textures.handle(key);
    v.memory.textures.insert(handle, object);
    Ok(handle)
}

pub(crate) unsafe fn create(
    v: &mut Visit<'_>,
    out: *mut CUtexObject,
    resource: *const CUDA_RESOURCE_DESC,
    texture: *const CUDA_TEXTURE_DESC,
    view: *const CUDA_RESOURCE_VIEW_DESC,
) -> Answer {
    v.check_unsafe()?;
    // SAFETY: in pointers of this call.
    let (resource, texture) = unsafe { (get(resource)?, get(texture)?) };
    let modes_known = texture.addressMode.iter().all(|mode| *mode <= CU_TR_ADDRESS_MODE_BORDER);
    let filters_known = texture.filterMode.max(texture.mipmapFilterMode) <= CU_TR_FILTER_MODE_LINEAR;
    if out.is_null() || resource.flags != 0 || texture.reserved != [0; 12] || !modes_known || !filters_known {
        return Err(INVALID);
    }
    if texture.flags & !FLAGS != 0 {
        return Err(INVALID);
    }
    let source = source_of(v, &resource)?;
    if !view.is_null() {
        return Err(v.unsupported("textures with a view of their resource"));
    }
    // Linear memory is read texel by texel whatever is asked for.
    if texture.filterMode == CU_TR_FILTER_MODE_LINEAR && source.shape != Shape::Linear {
        return Err(v.unsupported("textures with linear filtering"));
    }
    if texture.flags & CU_TRSF_SRGB != 0 {
        return Err(v.unsupported("sRGB textures"));
    }
    let handle = keep(v, source, resource, texture, false)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn create_surface(
    v: &mut Visit<'_>,
    out: *mut CUsurfObject,
    resource: *const CUDA_RESOURCE_DESC,
) -> Answer {
    v.check_unsafe()?;
    // SAFETY: an in pointer of this call.
    let resource = unsafe { get(resource) }?;
    if out.is_null() || resource.flags != 0 || resource.resType != CU_RESOURCE_TYPE_ARRAY {
        return Err(INVALID);
    }
    // That the array was not made for it is no matter, as observed.
    let source = source_of(v, &resource)?;
    let handle = keep(v, source, resource, CUDA_TEXTURE_DESC::default(), true)?;
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

/// Destroys what there is; an H200 has nothing against the rest.
fn destroy_any(v: &mut Visit<'_>, handle: u64) {
    if let Lookup::Live(key) = v.textures.look_up(handle) {
        remove(v, key);
    }
}

/// Takes an object away.
pub(crate) fn remove(v: &mut Visit<'_>, key: Key<Arc<Texture>>) {
    let handle = v.textures.handle(key);
    v.textures.remove(key);
    v.memory.textures.remove(&handle);
}

pub(crate) unsafe fn destroy(v: &mut Visit<'_>, handle: CUtexObject) -> Answer {
    v.check_unsafe()?;
    destroy_any(v, handle);
    Ok(())
}

pub(crate) unsafe fn destroy_surface(v: &mut Visit<'_>, handle: CUsurfObject) -> Answer {
    v.check_unsafe()?;
    destroy_any(v, handle);
    Ok(())
}

fn named(v: &Visit<'_>, handle: u64, surface: bool) -> Result<Arc<Texture>, CUresult> {
    match v.textures.look_up(handle) {
        Lookup::Live(key) => v.textures.get(key).filter(|found| found.is_surface == surface).cloned().ok_or(INVALID),
        _ => Err(INVALID),
    }
}

pub(crate) unsafe fn get_resource(v: &mut Visit<'_>, out: *mut CUDA_RESOURCE_DESC, handle: CUtexObject) -> Answer {
    let resource = named(v, handle, false)?.resource;
    // SAFETY: an out pointer of this call.
    unsafe { put_resource(out, &resource) }
}

/// Writes what this kind of resource has, and leaves the rest as it is, as an H200 does.
unsafe fn put_resource(out: *mut CUDA_RESOURCE_DESC, resource: &CUDA_RESOURCE_DESC) -> Answer {
    if out.is_null() {
        return Err(INVALID);
    }
    let words = match resource.resType {
        CU_RESOURCE_TYPE_LINEAR => 3,
        CU_RESOURCE_TYPE_PITCH2D => 5,
        _ => 1,
    };
    // SAFETY: the fields of what an out pointer of this call points to; C code packs what it likes.
    unsafe {
        (&raw mut (*out).resType).write_unaligned(resource.resType);
        (&raw mut (*out).flags).write_unaligned(resource.flags);
        let target = (&raw mut (*out).res).cast::<u64>();
        for (at, word) in resource.res.iter().enumerate().take(words) {
            target.add(at).write_unaligned(*word);
        }
    }
    Ok(())
}

pub(crate) unsafe fn get_texture(v: &mut Visit<'_>, out: *mut CUDA_TEXTURE_DESC, handle: CUtexObject) -> Answer {
    let texture = named(v, handle, false)?.texture;
    if out.is_null() {
        return Err(INVALID);
    }
    let bytes = std::mem::offset_of!(CUDA_TEXTURE_DESC, borderColor);
    // SAFETY: an out pointer of this call, and both are as long. An H200 leaves the border's colour and what is reserved as
    // they are.
    unsafe { out.cast::<u8>().copy_from_nonoverlapping((&raw const texture).cast(), bytes) };
    Ok(())
}

pub(crate) unsafe fn get_view(v: &mut Visit<'_>, out: *mut CUDA_RESOURCE_VIEW_DESC, handle: CUtexObject) -> Answer {
    named(v, handle, false)?;
    // No texture here has a view, and without one an H200 writes nothing.
    if out.is_null() { Err(INVALID) } else { Ok(()) }
}

pub(crate) unsafe fn get_surface_resource(
    v: &mut Visit<'_>,
    out: *mut CUDA_RESOURCE_DESC,
    handle: CUsurfObject,
) -> Answer {
    let resource = named(v, handle, true)?.resource;
    // SAFETY: an out pointer of this call.
    unsafe { put_resource(out, &resource) }
}
