//! Images that are no plain text, libraries of them, and what texts may say of symbols and loads.

use std::ffi::c_void;

use super::super::case::Case;
use super::texts::*;
use dacapo_driver::types::*;
use dacapo_sim::fatbin::{Packing, WRAPPER_MAGIC, Written, write};

super::list! { "image";
    containers, containers_as_fat_binaries, text_as_a_fat_binary, highest_architecture, that_architecture_alone, machine_code_of_another_device,
    machine_code_beside_ptx, empty_container, newer_architecture, text_that_does_not_compile, unresolved_in_a_container,
    container_of_another_version, damaged_zstd, damaged_lz4, junk, wrapper_for_a_module, wrapper_for_a_library, wrapper_of_nothing,
    lazy_no_binary, lazy_bad_text, lazy_newer_version, lazy_damaged, lazy_junk, kernel_and_library, kernel_cache_config, managed_not_found,
    unified_function, global_of_a_library_in_part, library_without_a_context, elements_of_an_array, used_bytes,
}

fn padded(image: &[u8]) -> Vec<u8> {
    [image, &[0; 64]].concat()
}

/// Loads an image as a module, and runs `k`.
fn loaded(c: &mut Case<'_>, what: &str, image: &[u8]) {
    let image = padded(image);
    let module = c.load_image(what, image.as_ptr().cast());
    c.stored_by(module, "k");
}

/// Loads an image as a library, and asks it for things.
fn lazy(c: &mut Case<'_>, what: &str, image: &[u8]) {
    let image = padded(image);
    let library = c.library_image(what, image.as_ptr().cast());
    c.library_kernel(library, "k");
    c.library_kernel(library, "none");
    c.library_module(library);
    c.library_count(library);
}

fn containers(c: &mut Case<'_>) {
    for (what, image) in PACKED {
        loaded(c, what, image);
    }
}

fn containers_as_fat_binaries(c: &mut Case<'_>) {
    for (what, image) in PACKED {
        let module = c.load_fat(what, image);
        c.stored_by(module, "k");
    }
}

fn text_as_a_fat_binary(c: &mut Case<'_>) {
    let module = c.load_fat("text", &padded(alone(3).as_bytes()));
    c.stored_by(module, "k");
}

fn highest_architecture(c: &mut Case<'_>) {
    let texts = [alone(1), alone(2), alone(3)];
    let (old, newer, newest) = ((70, 0, &*texts[0]), (80, 0, &*texts[1]), (100, 0, &*texts[2]));
    loaded(c, "70, 80, 100", &container(&[old, newer, newest]));
    loaded(c, "100, 80, 70", &container(&[newest, newer, old]));
    loaded(c, "70, 100", &container(&[old, newest]));
}

fn that_architecture_alone(c: &mut Case<'_>) {
    let texts = [alone(1), alone(2)];
    loaded(c, "90, 90a", &container(&[(90, 0, &texts[0]), (90, 0x10_0000, &texts[1])]));
    loaded(c, "90a, 90", &container(&[(90, 0x10_0000, &texts[1]), (90, 0, &texts[0])]));
}

fn elf(architecture: u32) -> Written<'static> {
    // A header of ELF and no more: it is looked at only if it is for this device.
    const CODE: &[u8] = b"\x7fELF\x02\x01\x01\x33\x07\0\0\0\0\0\0\0\x02\0\xbe\0";
    Written { kind: 2, architecture, flags: 0, name: "", stored: CODE, packing: Packing::Plain }
}

fn machine_code_of_another_device(c: &mut Case<'_>) {
    loaded(c, "a container with machine code for sm_80", &write(&[elf(80)]));
}

fn machine_code_beside_ptx(c: &mut Case<'_>) {
    let text = format!("{}\0", alone(4));
    let ptx = Written { kind: 1, architecture: 70, stored: text.as_bytes(), ..elf(70) };
    loaded(c, "machine code for sm_80, PTX for 70", &write(&[elf(80), ptx]));
}

fn empty_container(c: &mut Case<'_>) {
    loaded(c, "an empty container", &container(&[]));
}

fn newer_architecture(c: &mut Case<'_>) {
    loaded(c, "PTX for sm_100", &container(&[(100, 0, &alone(1))]));
}

fn text_that_does_not_compile(c: &mut Case<'_>) {
    loaded(c, "a text that does not compile", &container(&[(70, 0, &bad())]));
}

fn unresolved_in_a_container(c: &mut Case<'_>) {
    loaded(c, "a text that calls another", &container(&[(70, 0, &caller())]));
}

fn container_of_another_version(c: &mut Case<'_>) {
    let mut image = container(&[(70, 0, &alone(1))]);
    image[4] = 2;
    loaded(c, "a container of version 2", &image);
}

/// The container with zstd, its frame damaged.
fn damaged() -> Vec<u8> {
    let mut image = PACKED[2].1.to_vec();
    image[120..160].fill(0xff);
    image
}

fn damaged_zstd(c: &mut Case<'_>) {
    loaded(c, "a damaged frame", &damaged());
}

fn damaged_lz4(c: &mut Case<'_>) {
    let mut image = PACKED[1].1.to_vec();
    image[100..140].fill(0xff);
    loaded(c, "a damaged block", &image);
}

fn junk(c: &mut Case<'_>) {
    loaded(c, "junk", &[0x5a; 64]);
    loaded(c, "an empty text", &[]);
}

/// What a compiler puts around a container.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    container: *const c_void,
    list: *const c_void,
}

fn wrapper(version: u32, container: *const c_void) -> Wrapper {
    Wrapper { magic: WRAPPER_MAGIC, version, container, list: std::ptr::null() }
}

fn wrapper_for_a_module(c: &mut Case<'_>) {
    let wrapper = wrapper(1, PACKED[0].1.as_ptr().cast());
    c.load_image("a wrapper", (&raw const wrapper).cast());
}

fn wrapper_for_a_library(c: &mut Case<'_>) {
    for version in [1, 3, 7] {
        let wrapper = wrapper(version, PACKED[0].1.as_ptr().cast());
        let library = c.library_image(&format!("a wrapper of version {version}"), (&raw const wrapper).cast());
        let kernel = c.library_kernel(library, "k");
        c.stored(CUfunction::from_bits(kernel.bits()), "k");
    }
}

fn wrapper_of_nothing(c: &mut Case<'_>) {
    let wrapper = wrapper(1, std::ptr::null());
    let library = c.library_image("a wrapper of nothing", (&raw const wrapper).cast());
    c.library_kernel(library, "k");
    c.library_count(library);
}

fn lazy_no_binary(c: &mut Case<'_>) {
    lazy(c, "machine code for sm_80", &write(&[elf(80)]));
}

fn lazy_bad_text(c: &mut Case<'_>) {
    lazy(c, "a text that does not compile", bad().as_bytes());
}

fn lazy_newer_version(c: &mut Case<'_>) {
    lazy(c, "a text of PTX 9.9", alone(1).replace(".version 8.0", ".version 9.9").as_bytes());
}

fn lazy_damaged(c: &mut Case<'_>) {
    lazy(c, "a damaged frame", &damaged());
}

fn lazy_junk(c: &mut Case<'_>) {
    lazy(c, "junk", &[0x5a; 64]);
}

fn kernel_and_library(c: &mut Case<'_>) {
    let library = c.library("text", &alone(2));
    let kernel = c.library_kernel(library, "k");
    c.kernel_library(kernel);
    c.kernel_library(CUkernel::NULL);
    c.kernel_name(kernel);
    c.library_count(library);
    let function = c.kernel_function(kernel);
    c.stored(function, "k");
}

fn kernel_cache_config(c: &mut Case<'_>) {
    let library = c.library("text", &alone(2));
    let kernel = c.library_kernel(library, "k");
    c.kernel_cache(kernel, 2, 0);
    c.kernel_cache(kernel, 9, 0);
    c.kernel_cache(kernel, 2, 9);
}

fn managed_not_found(c: &mut Case<'_>) {
    let library = c.library("text", &reader(".visible .global .u32 v = 3;"));
    c.library_managed(library, "v");
    c.library_managed(library, "none");
}

fn unified_function(c: &mut Case<'_>) {
    let library = c.library("text", &alone(2));
    c.library_unified(library, "none");
    c.library_unified(library, "k");
}

fn global_of_a_library_in_part(c: &mut Case<'_>) {
    let library = c.library("text", &reader(".visible .global .u32 v = 3;"));
    c.library_global(library, "v", true, true);
    c.library_global(library, "v", false, true);
    c.library_global(library, "v", false, false);
    c.library_global(library, "none", true, true);
}

fn library_without_a_context(c: &mut Case<'_>) {
    let context = c.context;
    c.set_current(CUcontext::NULL);
    let library = c.library("text", &alone(5));
    c.set_current(context);
    let kernel = c.library_kernel(library, "k");
    c.stored(CUfunction::from_bits(kernel.bits()), "k");
}

fn elements_of_an_array(c: &mut Case<'_>) {
    let array = ".global .align 4 .b32 v[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n";
    for body in [
        "mov.u64 %rd2, v[3]; ld.global.u32 %r1, [%rd2];",
        "mov.u64 %rd2, v+12; ld.global.u32 %r1, [%rd2];",
        "ld.global.u32 %r1, v[3];",
        "cvta.global.u64 %rd2, v[1+1]; ld.u32 %r1, [%rd2];",
    ] {
        loaded(c, body, with(&format!("{array}{}", kernel("k", body))).as_bytes());
    }
}

fn used_bytes(c: &mut Case<'_>) {
    let array = ".global .align 16 .b32 v[4] = {1, 20, 300, 4000};\n";
    for (mask, sum) in [("0xfff", "%r2, %r3, %r4"), ("15", "%r2, 0, 0"), ("0xf0f", "%r2, 0, %r4")] {
        let [a, b, d] = [0, 1, 2].map(|at| sum.split(", ").nth(at).unwrap_or("0"));
        let body = format!(
            "mov.u64 %rd2, v; .pragma \"used_bytes_mask {mask}\"; ld.global.v4.b32 {{%r2, %r3, %r4, %r5}}, [%rd2];
             mov.u32 %r1, {a}; add.u32 %r1, %r1, {b}; add.u32 %r1, %r1, {d};"
        );
        let text = with(&format!("{array}{}", kernel("k", &body))).replace(".version 8.0", ".version 8.8");
        loaded(c, mask, text.as_bytes());
    }
}
