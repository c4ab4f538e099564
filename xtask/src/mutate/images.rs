//! Mutants of what holds PTX: fat binaries, plain and packed, lists of them, and texts that are linked with each other.
//!
//! A container is made of committed kernels, some of them mutants, and is changed itself: its header, the headers of its
//! entries, what is stored. It is handed to a link, which is told its length, and in the list of a wrapper; there its own
//! length is put right, as that is a promise of the caller's.

use std::ffi::{CString, c_void};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::fatbin::{Packing, WRAPPER_MAGIC, Written, write};
use dacapo_sim::{Machine, Options};

use super::{BUDGET, CAPACITY, Choices, POLLS, Source, Tally, change, kernel_names, launch};

/// What a case hands over.
pub(super) struct Images {
    kind: Kind,
    /// Texts, or containers.
    parts: Vec<Vec<u8>>,
    /// Kernels that may be in it.
    names: Vec<CString>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A container for a link.
    Container,
    /// Containers in the list of a wrapper.
    List,
    /// Texts for a link.
    Texts,
}

/// The case of a seed.
pub(super) fn mutant(sources: &[Source], seed: u64) -> Images {
    let mut choices = Choices(seed ^ 0x5eed_1a6e);
    let kind = [Kind::Container, Kind::Container, Kind::Container, Kind::List, Kind::Texts][choices.below(5)];
    let mut names = Vec::new();
    let count = if kind == Kind::Container { 1 } else { 1 + choices.below(3) };
    let mut parts = Vec::new();
    for _ in 0..count {
        let mut texts: Vec<Vec<u8>> = (0..1 + choices.below(2)).map(|_| text(sources, &mut choices)).collect();
        texts.iter().for_each(|text| names.extend(kernel_names(text)));
        if kind == Kind::Texts {
            parts.extend(texts.pop());
            continue;
        }
        let mut container = container(&texts, &mut choices);
        for _ in 0..choices.below(4) {
            damage(&mut container, &mut choices);
        }
        parts.push(container);
    }
    Images { kind, parts, names }
}

/// A committed kernel; linkage is turned about, so that texts have something to say to each other.
fn text(sources: &[Source], choices: &mut Choices) -> Vec<u8> {
    let source = &sources[choices.below(sources.len())];
    let kernel = source.kernels.get(choices.below(source.kernels.len())).unwrap_or(&source.whole);
    let mut text = kernel.clone();
    if choices.below(2) == 0 {
        let spelled = String::from_utf8_lossy(&text).into_owned();
        let (from, to) = [
            (".visible", ".weak"),
            (".visible .func", ".extern .func"),
            ("\n.func", "\n.visible .func"),
            (".global", ".visible .global"),
            (".global", ".extern .global"),
            (".global", ".common .global"),
            (".const", ".extern .const"),
        ][choices.below(7)];
        text = spelled.replacen(from, to, 1 + choices.below(3)).into_bytes();
    }
    if choices.below(3) == 0 {
        change(&mut text, &source.whole, choices);
    }
    text
}

fn container(texts: &[Vec<u8>], choices: &mut Choices) -> Vec<u8> {
    let packed: Vec<(Vec<u8>, Packing)> = texts
        .iter()
        .map(|text| match choices.below(3) {
            0 => (text.clone(), Packing::Plain),
            1 => (lz4_flex::block::compress(text), Packing::Lz4(text.len() as u64)),
            _ => {
                let level = ruzstd::encoding::CompressionLevel::Fastest;
                (ruzstd::encoding::compress_to_vec(&text[..], level), Packing::Zstd(text.len() as u64))
            }
        })
        .collect();
    let entries = packed.iter().map(|(stored, packing)| Written {
        kind: [1, 1, 1, 2, 8, 0x40][choices.below(6)],
        architecture: [52, 70, 80, 90, 90, 100][choices.below(6)],
        flags: [0, 0, 0x10_0000, 0x20_0000, dacapo_sim::fatbin::LINKED][choices.below(5)],
        name: ["", "", "a.cu", "a name that is rather long"][choices.below(4)],
        stored,
        packing: *packing,
    });
    write(&entries.collect::<Vec<_>>())
}

/// Changes a byte, a number of a header, or the length.
fn damage(image: &mut Vec<u8>, choices: &mut Choices) {
    if image.is_empty() {
        return;
    }
    let at = choices.below(image.len());
    let in_a_header = choices.below(image.len().min(120));
    match choices.below(7) {
        0 => image[at] ^= 1 << choices.below(8),
        1 => image[in_a_header] ^= 1 << choices.below(8),
        2 => image[in_a_header] = choices.next() as u8,
        3 => image.truncate(at),
        4 => {
            let numbers = [0u64, 1, 63, 64, 0xff, 0xffff, 0xffff_ffff, u64::MAX, 1 << 40, 1 << 63];
            let number = numbers[choices.below(numbers.len())].to_le_bytes();
            let start = in_a_header / 4 * 4;
            let end = (start + [2, 4, 8][choices.below(3)]).min(image.len());
            image[start..end].copy_from_slice(&number[..end - start]);
        }
        5 => {
            let piece: Vec<u8> = image[..at.min(200)].to_vec();
            image.extend(piece);
        }
        _ => drop(image.drain(at..(at + 1 + choices.below(16)).min(image.len()))),
    }
}

/// Hands it over, and launches what loads.
pub(super) fn try_out(images: &Images, seed: u64, tally: &mut Tally) {
    let options = Options { seed, budget: BUDGET, polls_max: POLLS, capacity: CAPACITY, ..Default::default() };
    let machine = Machine::new(options);
    let (mut context, mut buffer) = (CUcontext::NULL, 0);
    // SAFETY: every out pointer is valid.
    unsafe {
        machine.cuInit(0);
        machine.cuDevicePrimaryCtxRetain(&mut context, 0);
        machine.cuCtxSetCurrent(context);
        machine.cuMemAlloc_v2(&mut buffer, 1 << 16);
    }
    let loaded = match images.kind {
        Kind::List => listed(&machine, images),
        kind => linked(&machine, images, kind),
    };
    match loaded {
        Some(module) => {
            tally.loaded += 1;
            for name in images.names.iter().take(3) {
                launch(&machine, module, name, buffer, tally);
            }
        }
        None => tally.refused += 1,
    }
    tally.findings += machine.findings().len() as u64;
    let broken = machine.check();
    assert!(broken.is_empty(), "the machine is broken: {}", broken[0]);
}

fn linked(machine: &Machine, images: &Images, kind: Kind) -> Option<CUmodule> {
    let kind = if kind == Kind::Texts { CU_JIT_INPUT_PTX } else { CU_JIT_INPUT_FATBINARY };
    let (mut state, none, null) = (CUlinkState::NULL, std::ptr::null_mut(), std::ptr::null_mut());
    let (mut image, mut size, mut module) = (std::ptr::null_mut(), 0, CUmodule::NULL);
    // SAFETY: each input is as long as it says, out pointers are valid, and the image lives until the link is destroyed.
    unsafe {
        machine.cuLinkCreate_v2(0, none, null, &mut state);
        for part in &images.parts {
            let data = part.as_ptr().cast_mut().cast();
            machine.cuLinkAddData_v2(state, kind, data, part.len(), c"mutant".as_ptr(), 0, none, null);
        }
        let complete = machine.cuLinkComplete(state, &mut image, &mut size) == CUresult::CUDA_SUCCESS;
        let loaded = complete && machine.cuModuleLoadData(&mut module, image) == CUresult::CUDA_SUCCESS;
        machine.cuLinkDestroy(state);
        loaded.then_some(module)
    }
}

/// What a compiler puts around containers.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    container: *const c_void,
    list: *const *const c_void,
}

fn listed(machine: &Machine, images: &Images) -> Option<CUmodule> {
    let mut parts = images.parts.clone();
    for part in &mut parts {
        part.resize(part.len().max(16), 0);
        part[..4].copy_from_slice(&dacapo_sim::fatbin::MAGIC.to_le_bytes());
        part[6..8].copy_from_slice(&16u16.to_le_bytes());
        let bytes = part.len() as u64 - 16;
        part[8..16].copy_from_slice(&bytes.to_le_bytes());
    }
    let mut list: Vec<*const c_void> = parts.iter().map(|part| part.as_ptr().cast()).collect();
    list.push(std::ptr::null());
    let wrapper = Wrapper { magic: WRAPPER_MAGIC, version: 2, container: list[0], list: list.as_ptr() };
    let (mut library, mut module) = (CUlibrary::NULL, CUmodule::NULL);
    let (none, null) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: a wrapper with a list that ends with a null, of containers that are as long as they say.
    unsafe {
        let address = (&raw const wrapper).cast();
        machine.cuLibraryLoadData(&mut library, address, none, null, 0, none, null, 0);
        (machine.cuLibraryGetModule(&mut module, library) == CUresult::CUDA_SUCCESS).then_some(module)
    }
}
