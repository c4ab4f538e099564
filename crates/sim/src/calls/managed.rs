//! Managed memory: one address for the host and for kernels.
//!
//! It is host memory of ours, which kernels reach as they reach pinned memory. So nothing has to move: prefetches and
//! advice are checked as an H200 checks them, kept, and answered when asked for. The host reads and writes the memory
//! without a call, and nobody can see it do so: to every detector it counts as initialised, and an access of the host's is
//! neither before nor after anything.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::memory::{holding, show};
use crate::foreign::{list, put};
use crate::memory::Kind;
use crate::memory::home::bit;
use crate::model::device::DEVICES_MAX;
use crate::model::managed::{Managed, Page, Residence};
use crate::model::objects::{Owner, Stream};
use crate::model::table::Key;
use crate::model::work::{SetWork, Work};
use crate::visit::{Answer, Refusal, Target, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_DEVICE: CUresult = CUresult::CUDA_ERROR_INVALID_DEVICE;
/// `CU_DEVICE_CPU`: the host in the older calls.
const HOST: c_int = -1;
/// `CU_DEVICE_INVALID`: no place, or not the same one for all of a range.
const NOWHERE: c_int = -2;

/// Whether the allocation that begins at `base` is managed memory: allocated so, or a managed variable.
pub(crate) fn is_managed(v: &Visit<'_>, base: u64) -> bool {
    v.memory.begins_at(base).is_some_and(|(_, kind)| kind == Kind::Managed)
}

pub(crate) unsafe fn alloc(v: &mut Visit<'_>, out: *mut CUdeviceptr, bytes: usize, flags: c_uint) -> Answer {
    v.check_unsafe()?;
    // SAFETY: an out pointer of this call; 0 after a failure, as observed.
    unsafe { put(out, 0) }?;
    if bytes == 0 || ![CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST].contains(&flags) {
        return Err(INVALID);
    }
    let address = v.memory.alloc_managed(bytes as u64, "").map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    show(v, address, bytes as u64, Owner::Managed)?;
    // SAFETY: as above.
    unsafe { put(out, address) }
}

/// A range of managed memory: the start of the allocation that holds it, and the range counted from there.
type Range = (u64, u64, u64);

fn range_of(v: &mut Visit<'_>, address: u64, bytes: usize) -> Result<Range, CUresult> {
    let found = holding(v, address).filter(|(base, _)| is_managed(v, *base));
    if let Some((base, seen)) = found
        && bytes != 0
        && bytes as u64 <= seen.bytes - (address - base)
    {
        return Ok((base, address - base, address - base + bytes as u64));
    }
    if bytes == 0 {
        return Err(INVALID);
    }
    if let Some((base, seen)) = holding(v, address).filter(|(base, _)| is_managed(v, *base)) {
        let at = address - base;
        let what = format!(
            "{} names {bytes} bytes at {address:#x}, which is at byte {at} of {} bytes of managed memory",
            v.call.name(),
            seen.bytes
        );
        let help = "name no more than the allocation holds";
        return Err(v.refuse(Refusal::new(INVALID, "out-of-bounds", what, help)));
    }
    let there = v.memory.describe(address);
    let what = format!("{} names {bytes} bytes at {address:#x}, which is no managed memory: {there}", v.call.name());
    let help = "name bytes of one allocation of cuMemAllocManaged, or of one `__managed__` variable";
    Err(v.refuse(Refusal::new(INVALID, "not-managed", what, help)))
}

/// The stream of a call that no capture takes up.
fn stream_of(v: &mut Visit<'_>, handle: CUstream) -> Result<Key<Stream>, CUresult> {
    let stream = v.stream(handle)?;
    v.refuse_if_capturing(stream)?;
    match v.target_of(stream)? {
        Target::Run(stream) => Ok(stream),
        Target::Record(..) => Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
    }
}

/// Where a prefetch goes.
fn place_of(v: &Visit<'_>, location: CUmemLocation) -> Result<Residence, CUresult> {
    match (location.r#type, location.id) {
        (CU_MEM_LOCATION_TYPE_DEVICE, id) if v.is_device(id) => Ok(Some((CU_MEM_LOCATION_TYPE_DEVICE, id))),
        (CU_MEM_LOCATION_TYPE_DEVICE, _) => Err(INVALID_DEVICE),
        (CU_MEM_LOCATION_TYPE_HOST, _) => Ok(Some((CU_MEM_LOCATION_TYPE_HOST, HOST))),
        // There is one node.
        (CU_MEM_LOCATION_TYPE_HOST_NUMA, 0) => Ok(Some((CU_MEM_LOCATION_TYPE_HOST_NUMA, 0))),
        (CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, _) => Ok(Some((CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0))),
        _ => Err(INVALID),
    }
}

/// A device number of the older calls as a location.
fn location_of(v: &Visit<'_>, device: CUdevice) -> Result<CUmemLocation, CUresult> {
    match device {
        id if v.is_device(id) => Ok(CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id }),
        HOST => Ok(CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_HOST, id: 0 }),
        _ => Err(INVALID_DEVICE),
    }
}

fn note_prefetch(v: &mut Visit<'_>, (base, from, to): Range, place: Residence) {
    v.managed.entry(base).or_default().change(from, to, |page| page.prefetched = place);
}

pub(crate) unsafe fn prefetch(
    v: &mut Visit<'_>,
    address: CUdeviceptr,
    bytes: usize,
    location: CUmemLocation,
    flags: c_uint,
    handle: CUstream,
) -> Answer {
    let stream = stream_of(v, handle)?;
    let range = range_of(v, address, bytes)?;
    if flags != 0 {
        return Err(INVALID);
    }
    let place = place_of(v, location)?;
    note_prefetch(v, range, place);
    v.submit(stream, Work::Nothing);
    Ok(())
}

/// As [`prefetch`], with the older signature.
pub(crate) unsafe fn prefetch_v1(
    v: &mut Visit<'_>,
    address: CUdeviceptr,
    bytes: usize,
    device: CUdevice,
    handle: CUstream,
) -> Answer {
    let stream = stream_of(v, handle)?;
    let range = range_of(v, address, bytes)?;
    let place = place_of(v, location_of(v, device)?)?;
    note_prefetch(v, range, place);
    v.submit(stream, Work::Nothing);
    Ok(())
}

pub(crate) unsafe fn advise(
    v: &mut Visit<'_>,
    address: CUdeviceptr,
    bytes: usize,
    advice: CUmem_advise,
    location: CUmemLocation,
) -> Answer {
    let range = range_of(v, address, bytes)?;
    if !(CU_MEM_LOCATION_TYPE_DEVICE..=CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT).contains(&location.r#type) {
        return Err(INVALID);
    }
    note_advice(v, range, advice, location)
}

/// As [`advise`], with the older signature.
pub(crate) unsafe fn advise_v1(
    v: &mut Visit<'_>,
    address: CUdeviceptr,
    bytes: usize,
    advice: CUmem_advise,
    device: CUdevice,
) -> Answer {
    let range = range_of(v, address, bytes)?;
    // Which device it is means nothing where the data may lie anywhere.
    let anywhere =
        [CU_MEM_ADVISE_SET_READ_MOSTLY, CU_MEM_ADVISE_UNSET_READ_MOSTLY, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION];
    let location = match location_of(v, device) {
        Err(_) if anywhere.contains(&advice) => CUmemLocation { r#type: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        location => location?,
    };
    note_advice(v, range, advice, location)
}

fn note_advice(v: &mut Visit<'_>, (base, from, to): Range, advice: CUmem_advise, location: CUmemLocation) -> Answer {
    let is_device = location.r#type == CU_MEM_LOCATION_TYPE_DEVICE;
    let is_host = location.r#type == CU_MEM_LOCATION_TYPE_HOST;
    let is_there = !is_device || v.is_device(location.id);
    let number = location.id;
    let change: Box<dyn Fn(&mut Page)> = match advice {
        CU_MEM_ADVISE_SET_READ_MOSTLY => Box::new(|page| page.read_mostly = true),
        CU_MEM_ADVISE_UNSET_READ_MOSTLY => Box::new(|page| page.read_mostly = false),
        CU_MEM_ADVISE_SET_PREFERRED_LOCATION if is_there => {
            // A node of the host is remembered as the host, as observed.
            let place =
                if is_device { (CU_MEM_LOCATION_TYPE_DEVICE, number) } else { (CU_MEM_LOCATION_TYPE_HOST, HOST) };
            Box::new(move |page| page.preferred = Some(place))
        }
        CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION => Box::new(|page| page.preferred = None),
        CU_MEM_ADVISE_SET_ACCESSED_BY | CU_MEM_ADVISE_UNSET_ACCESSED_BY if is_there && (is_device || is_host) => {
            let set = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
            match is_device {
                true => Box::new(move |page| {
                    let device = bit(number as usize);
                    page.accessed_by = page.accessed_by & !device | if set { device } else { 0 };
                }),
                false => Box::new(move |page| page.accessed_by_host = set),
            }
        }
        _ => return Err(INVALID),
    };
    v.managed.entry(base).or_default().change(from, to, change);
    Ok(())
}

/// What all pages of a range agree on; `None` if they do not.
fn agreed<T: PartialEq>(managed: &Managed, from: u64, to: u64, of: impl Fn(&Page) -> T) -> Option<T> {
    let mut all = managed.pages(from, to).map(of);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// The numbers that answer a question; `words` of them are asked for.
fn answers(
    managed: &Managed,
    (from, to): (u64, u64),
    attribute: CUmem_range_attribute,
    words: usize,
) -> Result<Vec<c_int>, CUresult> {
    let place = |of: fn(&Page) -> Residence| agreed(managed, from, to, of).flatten();
    let device = |place: Residence| match place {
        Some((CU_MEM_LOCATION_TYPE_DEVICE, id)) => id,
        Some(_) => HOST,
        None => NOWHERE,
    };
    let of_type = |place: Residence| place.map_or(CU_MEM_LOCATION_TYPE_INVALID, |(kind, _)| kind) as c_int;
    let id = |place: Residence| place.map_or(NOWHERE, |(_, id)| id);
    let (preferred, prefetched) = (place(|page| page.preferred), place(|page| page.prefetched));
    let one = match attribute {
        CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => {
            c_int::from(agreed(managed, from, to, |page| page.read_mostly) == Some(true))
        }
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => device(preferred),
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => device(prefetched),
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => of_type(preferred),
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => id(preferred),
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => of_type(prefetched),
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID => id(prefetched),
        CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => {
            let by_device = |device: &c_int| {
                let has = |page: &Page| page.accessed_by & bit(*device as usize) != 0;
                agreed(managed, from, to, has) == Some(true)
            };
            let host = agreed(managed, from, to, |page| page.accessed_by_host) == Some(true);
            let listed = (0..DEVICES_MAX as c_int).filter(by_device).chain(host.then_some(HOST));
            return Ok(listed.chain(std::iter::repeat(NOWHERE)).take(words).collect());
        }
        _ => return Err(INVALID),
    };
    Ok(vec![one])
}

/// Whether an answer to `attribute` may have so many bytes.
fn fits(attribute: CUmem_range_attribute, bytes: usize) -> bool {
    match attribute {
        CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => bytes != 0 && bytes.is_multiple_of(size_of::<c_int>()),
        _ => bytes == size_of::<c_int>(),
    }
}

pub(crate) unsafe fn range_get_attribute(
    v: &mut Visit<'_>,
    out: *mut c_void,
    bytes_out: usize,
    attribute: CUmem_range_attribute,
    address: CUdeviceptr,
    bytes: usize,
) -> Answer {
    let asked = [(out, bytes_out, attribute)];
    // SAFETY: an out pointer of this call with its size.
    unsafe { range_answers(v, &asked, address, bytes) }
}

pub(crate) unsafe fn range_get_attributes(
    v: &mut Visit<'_>,
    out: *mut *mut c_void,
    sizes: *mut usize,
    attributes: *mut CUmem_range_attribute,
    count: usize,
    address: CUdeviceptr,
    bytes: usize,
) -> Answer {
    if count == 0 {
        return Err(INVALID);
    }
    // SAFETY: arrays of `count` elements, by this call's page.
    let (out, sizes, attributes) = unsafe { (list(out, count)?, list(sizes, count)?, list(attributes, count)?) };
    let asked: Vec<_> = out.into_iter().zip(sizes).zip(attributes).map(|((o, s), a)| (o, s, a)).collect();
    // SAFETY: out pointers of this call with their sizes.
    unsafe { range_answers(v, &asked, address, bytes) }
}

/// Answers all questions, or none where one is wrong.
unsafe fn range_answers(
    v: &mut Visit<'_>,
    asked: &[(*mut c_void, usize, CUmem_range_attribute)],
    address: u64,
    bytes: usize,
) -> Answer {
    let (base, from, to) = range_of(v, address, bytes)?;
    let managed = v.managed.get(&base).cloned().unwrap_or_default();
    let mut found = Vec::new();
    for &(out, size, attribute) in asked {
        if out.is_null() || !fits(attribute, size) {
            return Err(INVALID);
        }
        found.push((out, answers(&managed, (from, to), attribute, size / size_of::<c_int>())?));
    }
    for (out, words) in found {
        for (at, word) in words.into_iter().enumerate() {
            // SAFETY: an out pointer with room for that many words, by the pages of the calls that pass it on.
            unsafe { out.cast::<c_int>().add(at).write_unaligned(word) };
        }
    }
    Ok(())
}

/// Which stream managed memory belongs to. An H200 lets host and kernels touch it at any time, whatever is attached; so
/// this is checked, and changes nothing.
pub(crate) unsafe fn attach(
    v: &mut Visit<'_>,
    handle: CUstream,
    address: CUdeviceptr,
    length: usize,
    flags: c_uint,
) -> Answer {
    let stream = stream_of(v, handle)?;
    let known = [CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST, CU_MEM_ATTACH_SINGLE].contains(&flags);
    // The legacy stream by its name will do, and the null stream will not, as observed.
    if !known || flags == CU_MEM_ATTACH_SINGLE && handle.is_null() && !crate::machine::null_stream_is_per_thread() {
        return Err(INVALID);
    }
    let whole = holding(v, address).filter(|(base, _)| *base == address && is_managed(v, *base));
    match whole {
        Some((_, seen)) if length == 0 || length as u64 == seen.bytes => {}
        Some((_, seen)) => {
            let what = format!("{} names {length} of the {} bytes at {address:#x}", v.call.name(), seen.bytes);
            let help = "attach whole allocations: pass their start, and 0 or their size";
            return Err(v.refuse(Refusal::new(INVALID, "not-managed", what, help)));
        }
        None => {
            let what = format!("{} was given {address:#x}, which is {}", v.call.name(), v.memory.describe(address));
            let help = "pass the start of an allocation of cuMemAllocManaged, or of a `__managed__` variable";
            return Err(v.refuse(Refusal::new(INVALID, "not-managed", what, help)));
        }
    }
    v.submit(stream, Work::Nothing);
    Ok(())
}

/// A stream, and what is to be done on it with one call.
struct Batch {
    stream: Key<Stream>,
    ranges: Vec<Range>,
}

unsafe fn batch(
    v: &mut Visit<'_>,
    addresses: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    flags: u64,
    handle: CUstream,
) -> Result<Batch, CUresult> {
    // The default streams are refused, as observed.
    if handle.bits() == 0 || handle.bits() == CUstream::LEGACY.bits() {
        return Err(INVALID);
    }
    let stream = stream_of(v, handle)?;
    if count == 0 || flags != 0 {
        return Err(INVALID);
    }
    // SAFETY: arrays of `count` elements, by this call's page.
    let (addresses, sizes) = unsafe { (list(addresses, count)?, list(sizes, count)?) };
    let ranges = addresses.into_iter().zip(sizes).map(|(address, bytes)| range_of(v, address, bytes));
    Ok(Batch { stream, ranges: ranges.collect::<Result<_, _>>()? })
}

/// A place for each range: each holds from the index beside it to the next one's.
unsafe fn places(
    v: &Visit<'_>,
    locations: *mut CUmemLocation,
    indices: *mut usize,
    locations_count: usize,
    count: usize,
) -> Result<Vec<Residence>, CUresult> {
    // SAFETY: arrays of as many elements, by the pages of the calls that pass them on.
    let (locations, indices) = unsafe { (list(locations, locations_count)?, list(indices, locations_count)?) };
    if indices.first() != Some(&0) || !indices.is_sorted_by(|a, b| a < b) || indices.iter().any(|at| *at >= count) {
        return Err(INVALID);
    }
    let found: Vec<Residence> =
        locations.into_iter().map(|location| place_of(v, location)).collect::<Result<_, _>>()?;
    Ok((0..count).map(|at| found[indices.partition_point(|index| *index <= at) - 1]).collect())
}

#[allow(clippy::too_many_arguments, reason = "C's signature")]
pub(crate) unsafe fn prefetch_batch(
    v: &mut Visit<'_>,
    addresses: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    locations: *mut CUmemLocation,
    indices: *mut usize,
    locations_count: usize,
    flags: u64,
    handle: CUstream,
) -> Answer {
    // SAFETY: the arguments of this call.
    let (batch, places) = unsafe {
        (batch(v, addresses, sizes, count, flags, handle)?, places(v, locations, indices, locations_count, count)?)
    };
    v.submit(batch.stream, Work::Nothing);
    note_prefetches(v, &batch, places);
    Ok(())
}

fn note_prefetches(v: &mut Visit<'_>, batch: &Batch, places: Vec<Residence>) {
    batch.ranges.iter().zip(places).for_each(|(range, place)| note_prefetch(v, *range, place));
}

pub(crate) unsafe fn discard_batch(
    v: &mut Visit<'_>,
    addresses: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    flags: u64,
    handle: CUstream,
) -> Answer {
    // SAFETY: the arguments of this call.
    let batch = unsafe { batch(v, addresses, sizes, count, flags, handle)? };
    discard(v, &batch);
    Ok(())
}

/// What is discarded reads as zeros, as it was seen to on an H200; by the manual it is anything.
fn discard(v: &mut Visit<'_>, batch: &Batch) {
    let by = v.this().announced.by.clone();
    for (base, from, to) in &batch.ranges {
        let (address, width) = (base + from, to - from);
        let set = SetWork { address, pitch: 0, value: 0, element: 1, width, height: 1, on: None, by: by.clone() };
        v.submit(batch.stream, Work::Set(Arc::new(set)));
    }
}

#[allow(clippy::too_many_arguments, reason = "C's signature")]
pub(crate) unsafe fn discard_and_prefetch_batch(
    v: &mut Visit<'_>,
    addresses: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    locations: *mut CUmemLocation,
    indices: *mut usize,
    locations_count: usize,
    flags: u64,
    handle: CUstream,
) -> Answer {
    // SAFETY: the arguments of this call.
    let (batch, places) = unsafe {
        (batch(v, addresses, sizes, count, flags, handle)?, places(v, locations, indices, locations_count, count)?)
    };
    discard(v, &batch);
    note_prefetches(v, &batch, places);
    Ok(())
}
