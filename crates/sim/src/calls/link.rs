//! Links: PTX texts, and fat binaries that hold PTX, to one image.
//!
//! What is handed out is no machine code but a container with all the texts, marked as linked: `cuModuleLoadData`,
//! `cuLibraryLoadData` and `cuLinkAddData` take it. It lives until `cuLinkDestroy`.
//!
//! Codes are those of an H200 (580.159.04):
//!
//! - What is wrong with one text is the answer to adding it, and the text is left out.
//! - What is wrong between texts is the answer to adding the second, and to every call behind it: `INVALID_SOURCE`, or
//!   `UNKNOWN` for another prototype. So it is with what is no cubin, or code that no driver links any more.
//! - What is not defined is told by `cuLinkComplete` alone: `INVALID_SOURCE`, and in the log, where there is one.
//! - Host objects, and archives of them, are looked through for fat binaries.
//! - A container with nothing for this device is left out without a word. Here it leaves a finding.
//! - Used after its end, a link makes NVIDIA's driver crash. Here it answers `INVALID_HANDLE`.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{c_char, c_uint, c_void};

use dacapo_driver::CUresult;
use dacapo_driver::types::*;
use dacapo_ptx::link::{self, LinkErrorKind, Text};

use super::image::{self, Look, Source, SourceText};
use super::jit::{PROVIDED, Refusal, SM, module_of, not_linked, refusal};
use super::log::Logs;
use super::module::report;
use crate::fatbin::{self, LINKED, Packing, Written};
use crate::foreign::{list, put, put_optional, text};
use crate::model::library::Link;
use crate::model::table::{Key, Lookup};
use crate::visit::{self, Answer, Visit};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;
/// `CU_JIT_INPUT_NVVM`, which is old.
const NVVM: CUjitInputType = 5;
/// `CU_JIT_NUM_OPTIONS` of CUDA 13.0.
const OPTIONS: u32 = 35;

pub(crate) unsafe fn create(
    v: &mut Visit<'_>,
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
    out: *mut CUlinkState,
) -> Answer {
    v.context()?;
    if out.is_null() {
        return Err(INVALID);
    }
    // SAFETY: arrays of `count` elements, by this call's page.
    let (numbers, given) = unsafe { check_options(count, options, values) }?;
    // SAFETY: the arrays of this call; they and the buffers stay valid as long as the link, by its page.
    let logs = unsafe { Logs::of(&numbers, &given, values) };
    let key = v.links.insert(Link { logs, ..Link::default() });
    let handle = CUlinkState::from_bits(v.links.handle(key));
    // SAFETY: an out pointer of this call.
    unsafe { put(out, handle) }
}

/// The options of a call and their values; none may be unknown.
unsafe fn check_options(
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
) -> Result<(Vec<CUjit_option>, Vec<*mut c_void>), CUresult> {
    // SAFETY: arrays of `count` elements, by the caller's promise.
    let (numbers, given) = unsafe { (list(options, count as usize)?, list(values, count as usize)?) };
    if numbers.iter().any(|number| *number >= OPTIONS) { Err(INVALID) } else { Ok((numbers, given)) }
}

fn named(v: &mut Visit<'_>, handle: CUlinkState) -> Result<Key<Link>, CUresult> {
    match v.links.look_up(handle.bits()) {
        Lookup::Live(key) => Ok(key),
        Lookup::Stale => {
            v.find_stale("link", "cuLinkDestroy");
            Err(INVALID_HANDLE)
        }
        Lookup::Foreign => Err(INVALID_HANDLE),
    }
}

#[allow(clippy::too_many_arguments, reason = "C's signature")]
pub(crate) unsafe fn add_data(
    v: &mut Visit<'_>,
    state: CUlinkState,
    kind: CUjitInputType,
    data: *mut c_void,
    size: usize,
    name: *const c_char,
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
) -> Answer {
    let key = named(v, state)?;
    // SAFETY: arrays of `count` elements, by this call's page.
    unsafe { check_options(count, options, values) }?;
    if data.is_null() || size == 0 || size > isize::MAX as usize {
        return Err(INVALID);
    }
    // SAFETY: `size` bytes, by this call's page.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) };
    // SAFETY: a C string or null, by this call's page.
    let name = unsafe { text(name) }.ok().filter(|name| !name.is_empty());
    add(v, key, kind, bytes, name)
}

pub(crate) unsafe fn add_file(
    v: &mut Visit<'_>,
    state: CUlinkState,
    kind: CUjitInputType,
    path: *const c_char,
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
) -> Answer {
    let key = named(v, state)?;
    // SAFETY: arrays of `count` elements, by this call's page.
    unsafe { check_options(count, options, values) }?;
    // SAFETY: a C string, by this call's page.
    let path = unsafe { text(path) }?;
    let bytes = image::file(&path)?;
    add(v, key, kind, &bytes, Some(path))
}

/// What becomes of one input.
enum Input {
    Texts(Source),
    /// It ends the link as well: `cuLinkComplete` answers the same.
    Fatal(Refusal),
}

/// The texts of an input of this kind.
fn input(kind: CUjitInputType, bytes: &[u8]) -> Result<Input, Refusal> {
    let look = bytes.first_chunk().map_or(Look::Text, |first| image::look(*first));
    match (kind, look) {
        (CU_JIT_INPUT_PTX, Look::Text) | (CU_JIT_INPUT_FATBINARY, Look::Text) => Ok(Input::Texts(Source::text(bytes))),
        (CU_JIT_INPUT_FATBINARY, Look::Container) => image::container(bytes).map(Input::Texts),
        // An image that was linked here stands for the cubin that a driver would have made.
        (CU_JIT_INPUT_CUBIN, Look::Container) if fatbin::is_linked(bytes) => image::container(bytes).map(Input::Texts),
        (CU_JIT_INPUT_CUBIN, Look::Elf) => Ok(Input::Fatal(image::machine_code_of(bytes))),
        (CU_JIT_INPUT_CUBIN, _) => {
            Ok(Input::Fatal(not_that("a cubin", "give its kind, CU_JIT_INPUT_PTX, for PTX text")))
        }
        (CU_JIT_INPUT_PTX | CU_JIT_INPUT_FATBINARY, _) => Err(not_that("PTX or a fat binary", "link PTX text")),
        (CU_JIT_INPUT_OBJECT, Look::Elf) => host_code(&[bytes]),
        (CU_JIT_INPUT_LIBRARY, _) if fatbin::is_archive(bytes) => host_code(&fatbin::members(bytes)),
        (CU_JIT_INPUT_OBJECT | CU_JIT_INPUT_LIBRARY, _) => {
            let what = "the input of a link is no object of a host compiler, and no archive of them";
            Err(refusal(
                UNKNOWN,
                what,
                "give its kind: CU_JIT_INPUT_PTX for text, CU_JIT_INPUT_FATBINARY for a fat binary",
            ))
        }
        (NVVM, _) => {
            let code = CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
            Ok(Input::Fatal(refusal(code, "NVVM code is not linked by a driver any more", "compile it to PTX")))
        }
        _ => Err(INVALID.into()),
    }
}

/// The texts of the fat binaries in objects of a host compiler. One without anything for this device is left out: NVIDIA's
/// device runtime is of that kind, and whoever calls it is told by the linker.
fn host_code(objects: &[&[u8]]) -> Result<Input, Refusal> {
    let (mut texts, mut bytes) = (Vec::new(), 0);
    let mut is_object = false;
    for object in objects {
        let Some(containers) = fatbin::containers_of(object) else { continue };
        is_object = true;
        for container in containers {
            match image::container(container) {
                Ok(source) => image::extend(&mut texts, &mut bytes, source.texts)?,
                Err(refusal) if refusal.code == CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => {}
                Err(refusal) => return Err(refusal),
            }
        }
    }
    if is_object {
        Ok(Input::Texts(Source { texts }))
    } else {
        Err(not_that("an object of a host compiler", "link PTX text"))
    }
}

fn not_that(what: &str, help: &str) -> Refusal {
    refusal(CUresult::CUDA_ERROR_INVALID_IMAGE, format!("the input of a link is not {what}"), help)
}

fn add(v: &mut Visit<'_>, key: Key<Link>, kind: CUjitInputType, bytes: &[u8], name: Option<String>) -> Answer {
    let link = v.links.get(key).ok_or(INVALID_HANDLE)?;
    if link.is_over {
        let what = "the link is complete, and takes no more input";
        return Err(v.refuse(visit::Refusal::new(
            INVALID,
            "link",
            what,
            "add everything before cuLinkComplete, or make a new link",
        )));
    }
    if let Some(code) = link.failed {
        return Err(code);
    }
    let source = match input(kind, bytes) {
        Ok(Input::Texts(source)) => source,
        Ok(Input::Fatal(refusal)) => {
            let code = tell(v, key, refusal);
            fail(v, key, code);
            return Err(code);
        }
        // Nothing in a container for this device: an H200 goes on without it.
        Err(refusal) if kind == CU_JIT_INPUT_FATBINARY && refusal.code == CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => {
            tell(v, key, refusal);
            return Ok(());
        }
        Err(refusal) => return Err(tell(v, key, refusal)),
    };
    for SourceText { name: own, bytes } in source.texts {
        let count = v.links.get(key).map_or(0, |link| link.sources.len());
        let name = own.or_else(|| name.clone()).unwrap_or_else(|| format!("input {}", count + 1));
        let module = match module_of(&bytes, &name) {
            Ok(module) => module,
            Err(refusal) => return Err(tell(v, key, refusal)),
        };
        let Some(link) = v.links.get_mut(key) else { return Err(INVALID_HANDLE) };
        let errors = link.texts.add(Text { name, module });
        link.sources.push(bytes);
        if let Some(first) = errors.first() {
            let code =
                if first.kind == LinkErrorKind::Prototype { UNKNOWN } else { CUresult::CUDA_ERROR_INVALID_SOURCE };
            let code = tell(v, key, not_linked(code, &errors));
            fail(v, key, code);
            return Err(code);
        }
    }
    tell_nothing(v, key);
    Ok(())
}

fn fail(v: &mut Visit<'_>, key: Key<Link>, code: CUresult) {
    if let Some(link) = v.links.get_mut(key) {
        link.failed.get_or_insert(code);
    }
}

/// Leaves the finding, and adds it to the log.
fn tell(v: &mut Visit<'_>, key: Key<Link>, refusal: Refusal) -> CUresult {
    let (code, words) = report(v, refusal);
    if let Some(link) = v.links.get_mut(key) {
        if !link.log.is_empty() && !words.is_empty() {
            link.log.push('\n');
        }
        link.log.push_str(&words);
    }
    tell_nothing(v, key);
    code
}

/// Writes the log as it is.
fn tell_nothing(v: &Visit<'_>, key: Key<Link>) {
    if let Some(link) = v.links.get(key) {
        link.logs.write(&link.log, "");
    }
}

pub(crate) unsafe fn complete(
    v: &mut Visit<'_>,
    state: CUlinkState,
    image_out: *mut *mut c_void,
    size_out: *mut usize,
) -> Answer {
    let key = named(v, state)?;
    if image_out.is_null() {
        return Err(INVALID);
    }
    let Some(link) = v.links.get_mut(key) else { return Err(INVALID_HANDLE) };
    if let Some(code) = link.failed {
        link.is_over = true;
        return Err(code);
    }
    if std::mem::replace(&mut link.is_over, true) {
        let (what, help) =
            ("the link was completed before", "keep the image of the first time: it lives as long as the link");
        return Err(v.refuse(visit::Refusal::new(INVALID_HANDLE, "link", what, help)));
    }
    if let Err(errors) = link::link(link.texts.texts().to_vec(), PROVIDED) {
        let code = tell(v, key, not_linked(CUresult::CUDA_ERROR_INVALID_SOURCE, &errors));
        fail(v, key, code);
        return Err(code);
    }
    let mut entries: Vec<Written<'_>> = link.texts.texts().iter().zip(&link.sources).map(written).collect();
    if entries.is_empty() {
        // Of nothing comes an image with nothing in it, and it loads.
        entries.push(entry("", b".version 8.0\n.target sm_70\n.address_size 64\n"));
    }
    let image = link.image.insert(fatbin::write(&entries).into_boxed_slice());
    let (start, size) = (image.as_mut_ptr(), image.len());
    tell_nothing(v, key);
    // SAFETY: out pointers of this call; the size may be null.
    unsafe {
        put(image_out, start.cast())?;
        put_optional(size_out, size);
    }
    Ok(())
}

fn written<'a>((text, source): (&'a Text, &'a Vec<u8>)) -> Written<'a> {
    entry(&text.name, source)
}

fn entry<'a>(name: &'a str, stored: &'a [u8]) -> Written<'a> {
    Written { kind: 1, architecture: SM, flags: LINKED, name, stored, packing: Packing::Plain }
}

pub(crate) unsafe fn destroy(v: &mut Visit<'_>, state: CUlinkState) -> Answer {
    let key = named(v, state)?;
    v.links.remove(key);
    Ok(())
}
