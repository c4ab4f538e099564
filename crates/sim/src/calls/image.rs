//! What a program hands over to be loaded: PTX text, a fat binary, the wrapper that a compiler puts around one, or an image
//! that a link made here. Machine code is recognised and refused.
//!
//! The rules of who takes what are an H200's: `cuModuleLoadData` and its kin take text and containers, libraries take
//! wrappers as well. The wrapper of a program that is linked at load (version 2) has a list of containers; their texts are
//! one module where they were compiled for that (`--compile-only`).
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{CStr, c_void};
use std::fs::File;
use std::io::Read as _;

use dacapo_driver::CUresult;

use super::jit::{Refusal, SM, is_ptx, refusal};
use crate::fatbin::{self, Broken, Entry, Image, Kind};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_IMAGE: CUresult = CUresult::CUDA_ERROR_INVALID_IMAGE;
const NO_BINARY: CUresult = CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU;
/// The ELF machine of NVIDIA's devices.
const EM_CUDA: u16 = 190;
/// Containers in the list of a wrapper: a program has one for each of its files.
const LIST_MAX: usize = 1 << 16;
/// What to do where there is no PTX.
const GET_PTX: &str = "compile to PTX: `nvcc -gencode arch=compute_90,code=compute_90`, NVRTC with \
                       `--gpu-architecture=compute_90`; programs that ask NVRTC or nvJitLink for cubins run under `dacapo run`";

/// PTX, as a load was given it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// One module; several texts are linked.
    pub(crate) texts: Vec<SourceText>,
}

/// One text.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    /// What it is called where that is known.
    pub(crate) name: Option<String>,
    /// It may end with a NUL, or with several.
    pub(crate) bytes: Vec<u8>,
}

impl Source {
    pub(crate) fn text(bytes: &[u8]) -> Source {
        Source { texts: vec![SourceText { name: None, bytes: bytes.to_vec() }] }
    }
}

/// What the first bytes of an image say that it is.
pub(crate) enum Look {
    Elf,
    Container,
    Wrapper,
    Text,
}

pub(crate) fn look(first: [u8; 4]) -> Look {
    match (first, u32::from_le_bytes(first)) {
        ([0x7f, b'E', b'L', b'F'], _) => Look::Elf,
        (_, fatbin::MAGIC) => Look::Container,
        (_, fatbin::WRAPPER_MAGIC) => Look::Wrapper,
        _ => Look::Text,
    }
}

/// The first four bytes of an image; what lies behind a NUL counts as zeros.
unsafe fn first_bytes(image: *const c_void) -> [u8; 4] {
    let mut first = [0; 4];
    for (at, byte) in first.iter_mut().enumerate() {
        // SAFETY: an image is text up to its NUL, or begins with a header of 16 bytes or more. A byte is read only if
        // those before it are no NUL.
        *byte = unsafe { image.cast::<u8>().add(at).read() };
        if *byte == 0 {
            break;
        }
    }
    first
}

/// The PTX of an image for a module.
pub(crate) unsafe fn of_module(image: *const c_void) -> Result<Source, Refusal> {
    if image.is_null() {
        return Err(INVALID.into());
    }
    // SAFETY: an image, by this call's page.
    match look(unsafe { first_bytes(image) }) {
        // SAFETY: as above.
        Look::Elf => Err(machine_code(unsafe { elf_machine(image) })),
        // SAFETY: as above.
        Look::Container => container(unsafe { container_bytes(image) }?),
        Look::Wrapper => Err(refusal(
            INVALID_IMAGE,
            "the image is the wrapper around a fat binary, which only cuLibraryLoadData takes",
            "give the container that its second field points to, or load it as a library",
        )),
        // SAFETY: anything else is text that ends with a NUL, by this call's page.
        Look::Text => Ok(Source::text(unsafe { CStr::from_ptr(image.cast()) }.to_bytes())),
    }
}

/// The PTX of an image for a library.
pub(crate) unsafe fn of_library(image: *const c_void) -> Result<Source, Refusal> {
    if image.is_null() {
        return Err(INVALID.into());
    }
    // SAFETY: an image, by this call's page.
    if !matches!(look(unsafe { first_bytes(image) }), Look::Wrapper) {
        // SAFETY: as above.
        return unsafe { of_module(image) };
    }
    // SAFETY: a wrapper has 24 bytes: magic, version, and two pointers.
    let (version, first, second) = unsafe {
        let words = image.cast::<u32>();
        let pointers = image.cast::<*const c_void>();
        (words.add(1).read_unaligned(), pointers.add(1).read_unaligned(), pointers.add(2).read_unaligned())
    };
    if version != 2 || second.is_null() {
        // Seen: nothing in it is a library of nothing.
        if first.is_null() {
            return Ok(Source::default());
        }
        // SAFETY: a container, by what the wrapper says.
        return container(unsafe { container_bytes(first) }?);
    }
    // SAFETY: of version 2 the second is a list of containers with a null at its end.
    unsafe { listed(second.cast()) }
}

/// The texts of a list of containers that ends with a null.
unsafe fn listed(list: *const *const c_void) -> Result<Source, Refusal> {
    let (mut texts, mut bytes_in_all) = (Vec::new(), 0);
    let mut left_out = Vec::new();
    for at in 0..LIST_MAX {
        // SAFETY: it ends with a null, and none before this one was.
        let image = unsafe { list.add(at).read_unaligned() };
        if image.is_null() {
            break;
        }
        // SAFETY: a container, by what the wrapper says.
        let bytes = unsafe { container_bytes(image) }?;
        match fatbin::choose(bytes, SM).map_err(broken)? {
            Image::Text { bytes: text, name } => {
                let part = SourceText { name: name.or(Some(format!("part {}", at + 1))), bytes: text };
                if !compiled_to_be_linked(bytes) {
                    // Whole by itself, so it is compiled alone, and the first one is the module.
                    return Ok(Source { texts: vec![part] });
                }
                extend(&mut texts, &mut bytes_in_all, [part])?;
            }
            Image::Linked(linked) => extend(&mut texts, &mut bytes_in_all, named(linked))?,
            // NVIDIA's device runtime has no PTX for this device; whoever calls it is told by the linker.
            Image::Nothing(there) => left_out.extend(there),
        }
    }
    if texts.is_empty() && !left_out.is_empty() {
        return Err(nothing_fits(&left_out));
    }
    Ok(Source { texts })
}

/// Were the texts of a container compiled to be linked with others?
fn compiled_to_be_linked(container: &[u8]) -> bool {
    let says_so = |entry: &Entry<'_>| {
        entry.kind == Kind::Ptx && (entry.options.contains("--compile-only") || entry.options.contains("-c "))
    };
    fatbin::entries(container).is_ok_and(|entries| entries.iter().any(says_so))
}

/// The bytes of the container at `image`, by the length in its header.
unsafe fn container_bytes<'a>(image: *const c_void) -> Result<&'a [u8], Refusal> {
    // SAFETY: a container begins with a header of 16 bytes.
    let header = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), fatbin::HEADER_BYTES) };
    let bytes = fatbin::length(header).and_then(|bytes| usize::try_from(bytes).map_err(|_| Broken::Cut(8)));
    let bytes = bytes.map_err(broken)?;
    if bytes > isize::MAX as usize {
        return Err(broken(Broken::Cut(8)));
    }
    // SAFETY: that it has this many bytes is what its header says, and the promise of this call.
    Ok(unsafe { std::slice::from_raw_parts(image.cast(), bytes) })
}

/// The PTX of a container.
pub(crate) fn container(bytes: &[u8]) -> Result<Source, Refusal> {
    match fatbin::choose(bytes, SM).map_err(broken)? {
        Image::Text { bytes, .. } if !is_ptx(&bytes) => {
            let what = "the fat binary has an entry for this device that does not begin with `.version`, as PTX does";
            Err(refusal(CUresult::CUDA_ERROR_INVALID_PTX, what, "build it again, or read the file again"))
        }
        Image::Text { bytes, name } => Ok(Source { texts: vec![SourceText { name, bytes }] }),
        Image::Linked(texts) => Ok(Source { texts: named(texts).collect() }),
        Image::Nothing(there) => Err(nothing_fits(&there)),
    }
}

fn named(texts: Vec<(String, Vec<u8>)>) -> impl Iterator<Item = SourceText> {
    texts.into_iter().map(|(name, bytes)| SourceText { name: Some(name).filter(|name| !name.is_empty()), bytes })
}

/// Adds texts to those of an image. Together they are no more than is taken of one container: each could be packed well.
pub(crate) fn extend(
    texts: &mut Vec<SourceText>,
    bytes: &mut u64,
    more: impl IntoIterator<Item = SourceText>,
) -> Result<(), Refusal> {
    for text in more {
        *bytes += text.bytes.len() as u64;
        if *bytes > fatbin::BYTES_MAX {
            return Err(broken(Broken::TooLarge(*bytes)));
        }
        texts.push(text);
    }
    Ok(())
}

/// The bytes of a file that a program names.
///
/// # Errors
///
/// - `CUDA_ERROR_FILE_NOT_FOUND`: it cannot be read, or is a device or a pipe that gives more than any image has.
pub(crate) fn file(path: &str) -> Result<Vec<u8>, CUresult> {
    let read = || -> std::io::Result<Option<Vec<u8>>> {
        let (mut file, mut bytes) = (File::open(path)?, Vec::new());
        if file.metadata()?.is_file() {
            file.read_to_end(&mut bytes)?;
            return Ok(Some(bytes));
        }
        // It has no length, and may have no end.
        file.take(fatbin::BYTES_MAX + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= fatbin::BYTES_MAX).then_some(bytes))
    };
    read().ok().flatten().ok_or(CUresult::CUDA_ERROR_FILE_NOT_FOUND)
}

fn nothing_fits(there: &[String]) -> Refusal {
    let what = match there {
        [] => "the fat binary is empty".to_string(),
        there => format!("the fat binary has no PTX for this device (sm_{SM}): {}", there.join(", ")),
    };
    refusal(NO_BINARY, what, GET_PTX)
}

fn broken(error: Broken) -> Refusal {
    // The codes of an H200, for containers that do not make it crash.
    let code = match error {
        Broken::Packed("LZ4") => CUresult::CUDA_ERROR_INVALID_PTX,
        Broken::Packed(_) => CUresult::CUDA_ERROR_UNKNOWN,
        _ => INVALID_IMAGE,
    };
    refusal(code, format!("the fat binary cannot be read: {error}"), "build it again, or read the file again")
}

/// The refusal of an ELF file.
fn machine_code(machine: u16) -> Refusal {
    match machine {
        EM_CUDA => {
            refusal(NO_BINARY, "the image is a cubin: machine code for a GPU, which is not interpreted", GET_PTX)
        }
        _ => refusal(INVALID_IMAGE, "the image is an ELF file that is no cubin", "load PTX text"),
    }
}

unsafe fn elf_machine(image: *const c_void) -> u16 {
    // SAFETY: an ELF header is 64 bytes long.
    unsafe { image.cast::<u16>().add(9).read_unaligned() }
}

/// The PTX of an image whose length is known: the contents of a file.
pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Source, Refusal> {
    match bytes.first_chunk().map_or(Look::Text, |first| look(*first)) {
        Look::Elf => Err(machine_code_of(bytes)),
        Look::Container => container(bytes),
        Look::Wrapper => {
            let what = "the file begins as the wrapper around a fat binary does, which is made of addresses";
            Err(refusal(INVALID_IMAGE, what, "write the container to the file, not its wrapper"))
        }
        Look::Text => Ok(Source::text(bytes)),
    }
}

/// The refusal of an ELF file whose length is known.
pub(crate) fn machine_code_of(bytes: &[u8]) -> Refusal {
    machine_code(bytes.get(18..20).map_or(0, |machine| u16::from_le_bytes([machine[0], machine[1]])))
}
