//! Kernel launches, and what a kernel node is made of.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::function;
use crate::detect::declared::Announced;
use crate::finding::{Ending, Finding};
use crate::foreign::{get, list};
use crate::h200;
use crate::model::capture::Rule;
use crate::model::objects::{Event, EventState, Function};
use crate::model::table::Key;
use crate::model::tasks::Signal;
use crate::model::work::{KernelWork, Work};
use crate::visit::{Answer, Refusal, Target, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
/// `CU_LAUNCH_PARAM_BUFFER_POINTER`, `CU_LAUNCH_PARAM_BUFFER_SIZE`: markers in the `extra` array.
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;
/// Far behind the last launch attribute of CUDA 13.0.
const ATTRIBUTES_END: CUlaunchAttributeID = 64;
/// `CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT`.
const LAUNCH_COMPLETION_EVENT: u32 = 12;

/// Geometry that the device can run; a refusal says which limit is broken.
fn check_shape(function: &Function, grid: [u32; 3], block: [u32; 3], shared: u32) -> Result<(), Refusal> {
    let info = function.image.program().info(function.kernel);
    let name = &info.name;
    let refuse = |what: String, help| Err(Refusal::new(INVALID, "bad-launch", what, help));
    for (axis, word) in ["x", "y", "z"].into_iter().enumerate() {
        if grid[axis] == 0 || block[axis] == 0 {
            return refuse(
                format!(
                    "`{name}` was launched with no {} in {word}",
                    if grid[axis] == 0 { "blocks" } else { "threads" }
                ),
                "skip the launch where there is nothing to do",
            );
        }
        if grid[axis] > h200::GRID_MAX[axis] {
            return refuse(
                format!(
                    "`{name}` was launched with {} blocks in {word}, and {} is the limit",
                    grid[axis],
                    h200::GRID_MAX[axis]
                ),
                "use another axis, or let each thread do more",
            );
        }
        if block[axis] > h200::BLOCK_MAX[axis] {
            return refuse(
                format!(
                    "`{name}` was launched with {} threads in {word}, and {} is the limit",
                    block[axis],
                    h200::BLOCK_MAX[axis]
                ),
                "use smaller blocks and more of them",
            );
        }
    }
    let threads = block.iter().product::<u32>();
    if threads > 1024 {
        return refuse(
            format!("`{name}` was launched with {threads} threads a block, and 1024 is the limit"),
            "use smaller blocks and more of them",
        );
    }
    if let Some(required) = info.required_threads.filter(|required| *required != block) {
        return refuse(
            format!("`{name}` was launched with blocks of {block:?} and requires {required:?} (.reqntid)"),
            "launch it with the block size it was compiled for",
        );
    }
    if let Some([x, y, z]) = info.max_threads.filter(|[x, y, z]| threads > x.saturating_mul(*y).saturating_mul(*z)) {
        return refuse(
            format!(
                "`{name}` was launched with {threads} threads a block and was compiled for {} at most (.maxntid)",
                x * y * z
            ),
            "use smaller blocks, or compile it with another launch bound",
        );
    }
    let asked = function.max_dynamic_shared.load(Ordering::Relaxed);
    let most = asked.min(h200::SHARED_PER_BLOCK_OPT_IN.saturating_sub(info.static_shared));
    if shared > most || info.static_shared > h200::SHARED_PER_BLOCK {
        return refuse(
            format!(
                "`{name}` was launched with {shared} bytes of dynamic and {} of static shared memory, and {most} dynamic bytes are left to it",
                info.static_shared
            ),
            "set CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES on the function first; 232448 bytes is the most a block can have",
        );
    }
    Ok(())
}

/// The parameter block, copied from an array of pointers or from one buffer; then also how long that is.
unsafe fn copy_params(
    function: &Function,
    pointers: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<(Vec<u8>, Option<usize>), CUresult> {
    let info = function.image.program().info(function.kernel);
    let mut block = vec![0; info.param_bytes];
    if !pointers.is_null() && !extra.is_null() {
        return Err(INVALID);
    }
    if !extra.is_null() {
        // SAFETY: `extra` is an array that ends with 0, by the page of the call that passes it on.
        let given = unsafe { copy_buffer(&mut block, extra) }?;
        return Ok((block, Some(given)));
    }
    if pointers.is_null() {
        return if info.params.is_empty() { Ok((block, None)) } else { Err(INVALID) };
    }
    // SAFETY: there is a pointer for each parameter, by the page of the call.
    let pointers = unsafe { list(pointers, info.params.len()) }?;
    for (param, from) in info.params.iter().zip(pointers) {
        if from.is_null() {
            return Err(INVALID);
        }
        let (offset, size) = (param.offset, param.size);
        // SAFETY: each pointer is valid for its parameter's size, by the page of the call.
        unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), block[offset..][..size].as_mut_ptr(), size) };
    }
    Ok((block, None))
}

/// How long the buffer is. What is behind its end reads as zero, as an H200 was observed to do.
unsafe fn copy_buffer(block: &mut [u8], extra: *mut *mut c_void) -> Result<usize, CUresult> {
    let (mut buffer, mut size) = (std::ptr::null::<u8>(), None);
    for pair in 0..8 {
        // SAFETY: the array goes on until its 0, which ends the loop.
        let marker = unsafe { extra.add(2 * pair).read() } as usize;
        match marker {
            0 => break,
            // SAFETY: a value follows each marker.
            BUFFER_POINTER => buffer = unsafe { extra.add(2 * pair + 1).read() }.cast(),
            // SAFETY: a pointer to a size follows this marker.
            BUFFER_SIZE => size = Some(unsafe { get(extra.add(2 * pair + 1).read().cast::<usize>()) }?),
            _ => return Err(INVALID),
        }
    }
    let size = size.ok_or(INVALID)?;
    if buffer.is_null() {
        return Err(INVALID);
    }
    if size > block.len() {
        return Err(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    }
    // SAFETY: the buffer is valid for `size` bytes, by the page of the call, and `size` fits the block.
    unsafe { std::ptr::copy_nonoverlapping(buffer, block.as_mut_ptr(), size) };
    Ok(size)
}

/// A buffer of arguments that ends before the last parameter does.
fn note_short_buffer(v: &mut Visit<'_>, function: &Function, given: usize) {
    let info = function.image.program().info(function.kernel);
    // Bytes behind the last parameter are padding, and nobody's.
    let needed = info.params.iter().map(|param| param.offset + param.size).max().unwrap_or(0);
    if given >= needed || !v.options.detectors.uninitialised {
        return;
    }
    let what = format!("`{}` was given {given} bytes of arguments, and its parameters take {needed}", info.name);
    let short = info.params.iter().position(|param| given < param.offset + param.size).unwrap_or(0);
    let finding = Finding::new("short-arguments", Ending::YourProgram, what)
        .at(v.call.symbol(), "launched, as a GPU's driver does")
        .note(format!("parameter {short} and what follows it were not given, or not whole"))
        .help("let CU_LAUNCH_PARAM_BUFFER_SIZE point to the size of all parameters with the padding between them");
    v.find_of_call(finding);
}

/// Launch attributes: those with a meaning here are taken, those without one are kept, the others are not there yet.
/// The answer is the events that the launch records, and when.
fn take_attributes(
    v: &mut Visit<'_>,
    work: &mut KernelWork,
    attributes: &[CUlaunchAttribute],
) -> Result<Vec<(Key<Event>, CUgraphEdgeData)>, CUresult> {
    let mut events = Vec::new();
    for attribute in attributes {
        let [event, flags, ..] = attribute.value.words;
        match attribute.id {
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT => {
                // Its flags, then whether the begin of all blocks is enough.
                let signal = if flags >> 32 == 0 { Signal::Triggered } else { Signal::Begun };
                events.push((event_at(v, work, event)?, programmatic(signal)));
            }
            LAUNCH_COMPLETION_EVENT => {
                let plain = CUgraphEdgeData { r#type: 0, ..programmatic(Signal::Begun) };
                events.push((event_at(v, work, event)?, plain));
            }
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION => {
                work.programmatic = attribute.value.words[0] as u32 != 0;
            }
            // An attribute of streams alone, and numbers that CUDA 13.0 gives no attribute.
            CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY | ATTRIBUTES_END.. => return Err(INVALID),
            id => set_attribute(v, work, id, &attribute.value)?,
        }
    }
    Ok(events)
}

/// The data of an edge that waits for a signal of a kernel.
pub(crate) fn programmatic(signal: Signal) -> CUgraphEdgeData {
    let from_port = if signal == Signal::Begun { 2 } else { 1 };
    CUgraphEdgeData { from_port, r#type: 1, ..CUgraphEdgeData::default() }
}

/// An event that a launch records before it is over: one that measures time is refused, as observed.
fn event_at(v: &mut Visit<'_>, work: &KernelWork, handle: u64) -> Result<Key<Event>, CUresult> {
    let event = v.event(CUevent::from_bits(handle))?;
    let device = v.events.get(event).map_or(0, |event| v.device_of(event.context));
    if device != work.function.device {
        let these = [("the event", device), ("the kernel", work.function.device)];
        return Err(v.refuse_two_devices(CUresult::CUDA_ERROR_INVALID_HANDLE, these, super::event::OWN_EVENT));
    }
    match v.events.get(event) {
        Some(Event { timing: true, .. }) => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        _ => Ok(event),
    }
}

pub(crate) fn set_attribute(
    v: &mut Visit<'_>,
    work: &mut KernelWork,
    id: CUlaunchAttributeID,
    value: &CUlaunchAttributeValue,
) -> Answer {
    match id {
        CU_LAUNCH_ATTRIBUTE_IGNORE => {}
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE => work.cooperative = value.words[0] as u32 != 0,
        CU_LAUNCH_ATTRIBUTE_PRIORITY => work.priority = (value.words[0] as u32 as i32).clamp(-5, 0),
        // A cluster of one block is a block.
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION if value.words[0] == 1 | 1 << 32 && value.words[1] as u32 == 1 => {}
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW | CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => {
            work.attributes.retain(|(known, _)| *known != id);
            work.attributes.push((id, *value));
        }
        // A node has edges in place of these, as observed.
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION | CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT => {
            return Err(INVALID);
        }
        other => return Err(v.unsupported(format!("launch attribute {other}"))),
    }
    Ok(())
}

/// What a launch asks for, as every launch call gives it.
pub(crate) struct Request {
    pub(crate) function: CUfunction,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: c_uint,
    pub(crate) params: *mut *mut c_void,
    pub(crate) extra: *mut *mut c_void,
}

/// A checked launch with its arguments copied.
pub(crate) unsafe fn prepare(v: &mut Visit<'_>, request: &Request) -> Result<KernelWork, CUresult> {
    let function = function::named(v, request.function)?;
    if function.clusters[..3].iter().any(|extent| extent.load(Ordering::Relaxed) > 1) {
        return Err(v.unsupported("a kernel that runs in clusters of blocks"));
    }
    check_shape(&function, request.grid, request.block, request.shared).map_err(|refusal| v.refuse(refusal))?;
    // SAFETY: the launch call's promise about its parameters.
    let (params, opt_given) = unsafe { copy_params(&function, request.params, request.extra) }.map_err(|code| {
        let info = function.image.program().info(function.kernel);
        let what = format!(
            "`{}` has {} parameters of {} bytes in all, and was not given them",
            info.name,
            info.params.len(),
            info.param_bytes
        );
        v.refuse(Refusal::new(
            code,
            "bad-launch",
            what,
            "pass a pointer to each argument in `kernelParams`, or one buffer of that size in `extra`, not both",
        ))
    })?;
    if let Some(given) = opt_given {
        note_short_buffer(v, &function, given);
    }
    let unsupported = function.image.program().unsupported(function.kernel);
    if !unsupported.is_empty() {
        for finding in unsupported {
            v.find_of_call(finding);
        }
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let Announced { by, declared } = v.this().announced.clone();
    Ok(KernelWork {
        function,
        grid: request.grid,
        block: request.block,
        shared: request.shared,
        params: params.into(),
        as_buffer: opt_given.is_some(),
        cooperative: false,
        priority: 0,
        programmatic: false,
        attributes: Vec::new(),
        by,
        declared,
    })
}

impl KernelWork {
    /// New parameters leave a node's attributes as they were.
    pub(crate) fn keep_attributes(&mut self, old: &KernelWork) {
        (self.cooperative, self.priority, self.programmatic) = (old.cooperative, old.priority, old.programmatic);
        self.attributes = old.attributes.clone();
    }

    /// Whether the block's threads have registers enough.
    pub(crate) fn fits_registers(&self) -> bool {
        self.block.iter().product::<u32>() <= self.function.max_threads()
    }
}

unsafe fn launch(
    v: &mut Visit<'_>,
    stream: CUstream,
    request: &Request,
    attributes: &[CUlaunchAttribute],
    cooperative: bool,
) -> Answer {
    let target = v.target(stream)?;
    let (Target::Run(on) | Target::Record(_, on)) = target;
    let prepared = match v.streams.get(on).map(|stream| stream.context) {
        // A kernel of a library is in the stream's context, by the manual.
        Some(context) if v.has_several_devices() => v.within(context, |v| {
            // SAFETY: the launch call's promise about its parameters.
            unsafe { prepare(v, request) }
        }),
        // SAFETY: as above.
        _ => unsafe { prepare(v, request) },
    };
    let prepared = prepared.and_then(|mut work| {
        work.cooperative = cooperative;
        let (Target::Run(stream) | Target::Record(_, stream)) = &target;
        let stream = v.streams.get(*stream).map(|stream| (stream.context, stream.priority));
        if let Some((context, _)) = stream.filter(|(context, _)| *context != work.function.context) {
            let these = [("the kernel", work.function.device), ("the stream", v.device_of(context))];
            let help = "load the module in the stream's context too, and take the kernel from there";
            return Err(v.refuse_two_devices(CUresult::CUDA_ERROR_INVALID_HANDLE, these, help));
        }
        work.priority = stream.map_or(0, |(_, priority)| priority);
        let events = take_attributes(v, &mut work, attributes)?;
        Ok((work, events))
    });
    match target {
        Target::Run(stream) => {
            let (work, events) = prepared?;
            if !work.fits_registers() {
                return Err(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
            }
            if work.cooperative && !fits_at_once(&work) {
                return Err(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
            }
            let context = v.streams.get(stream).map(|stream| stream.context);
            let id = context.and_then(|context| v.contexts.get(context)).map_or(0, |context| context.id);
            let kernel = v.submit_kernel(stream, Arc::new(work));
            for (event, data) in events {
                let signal = Signal::of_port(data.from_port);
                let number = v.number();
                let task = v.tasks.add_early(Work::Record(event, number), id, [], [(kernel, signal)]);
                if let Some(event) = v.events.get_mut(event) {
                    event.recorded = EventState::Stream { number, task, time_ns: None };
                }
            }
            Ok(())
        }
        Target::Record(capture, stream) => {
            let (work, events) = prepared.inspect_err(|code| {
                let unknown = *code == CUresult::CUDA_ERROR_NOT_SUPPORTED;
                v.invalidate(capture, *code, if unknown { Rule::Unsupported } else { Rule::BadLaunch });
            })?;
            super::capture::record_kernel(v, capture, stream, work, &events)
        }
    }
}

/// Whether all blocks of a cooperative launch can be resident at the same time.
fn fits_at_once(work: &KernelWork) -> bool {
    let threads = work.block.iter().product::<u32>();
    let blocks: u64 = work.grid.iter().map(|size| u64::from(*size)).product();
    let per_sm = super::occupancy::blocks_per_sm(&work.function, threads, work.shared);
    blocks <= u64::from(per_sm) * h200::attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap_or(1) as u64
}

#[allow(clippy::too_many_arguments, reason = "C's signature")]
pub(crate) unsafe fn kernel(
    v: &mut Visit<'_>,
    function: CUfunction,
    gx: c_uint,
    gy: c_uint,
    gz: c_uint,
    bx: c_uint,
    by: c_uint,
    bz: c_uint,
    shared: c_uint,
    stream: CUstream,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer {
    let request = Request { function, grid: [gx, gy, gz], block: [bx, by, bz], shared, params, extra };
    // SAFETY: the arguments of this call.
    unsafe { launch(v, stream, &request, &[], false) }
}

#[allow(clippy::too_many_arguments, reason = "C's signature")]
pub(crate) unsafe fn cooperative(
    v: &mut Visit<'_>,
    function: CUfunction,
    gx: c_uint,
    gy: c_uint,
    gz: c_uint,
    bx: c_uint,
    by: c_uint,
    bz: c_uint,
    shared: c_uint,
    stream: CUstream,
    params: *mut *mut c_void,
) -> Answer {
    let extra = std::ptr::null_mut();
    let request = Request { function, grid: [gx, gy, gz], block: [bx, by, bz], shared, params, extra };
    // SAFETY: the arguments of this call.
    unsafe { launch(v, stream, &request, &[], true) }
}

pub(crate) unsafe fn kernel_ex(
    v: &mut Visit<'_>,
    config: *const CUlaunchConfig,
    function: CUfunction,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer {
    // SAFETY: an in pointer of this call.
    let c = unsafe { get(config) }?;
    // SAFETY: an array of `numAttrs` attributes, by this call's page.
    let attributes = unsafe { list(c.attrs, c.numAttrs as usize) }?;
    let request = Request {
        function,
        grid: [c.gridDimX, c.gridDimY, c.gridDimZ],
        block: [c.blockDimX, c.blockDimY, c.blockDimZ],
        shared: c.sharedMemBytes,
        params,
        extra,
    };
    // SAFETY: the arguments of this call.
    unsafe { launch(v, c.hStream, &request, &attributes, false) }
}
