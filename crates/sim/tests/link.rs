//! `cuLink*`: PTX of several texts becomes one image, and what is wrong is told by the call that an H200 tells it by.

mod kit;

use std::ffi::{CString, c_void};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::fatbin::{self, Packing, Written};
use kit::images::*;
use kit::*;

const INVALID_SOURCE: CUresult = CUresult::CUDA_ERROR_INVALID_SOURCE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const INVALID_IMAGE: CUresult = CUresult::CUDA_ERROR_INVALID_IMAGE;
const INVALID_PTX: CUresult = CUresult::CUDA_ERROR_INVALID_PTX;
const NO_BINARY: CUresult = CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU;
const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

/// A link with a buffer for errors.
struct Link<'d> {
    device: &'d Device,
    state: CUlinkState,
    log: Box<[u8; 4096]>,
    values: Box<[*mut c_void; 2]>,
}

impl<'d> Link<'d> {
    fn new(device: &'d Device) -> Link<'d> {
        let mut log = Box::new([0xff; 4096]);
        let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = Box::new([log.as_mut_ptr().cast(), 4096 as *mut c_void]);
        let mut state = CUlinkState::NULL;
        // SAFETY: two options, and buffers that live as long as this.
        ok(unsafe { device.cuLinkCreate_v2(2, options.as_mut_ptr(), values.as_mut_ptr(), &mut state) });
        Link { device, state, log, values }
    }

    fn quiet(device: &'d Device) -> Link<'d> {
        let mut state = CUlinkState::NULL;
        // SAFETY: no options.
        ok(unsafe { device.cuLinkCreate_v2(0, std::ptr::null_mut(), std::ptr::null_mut(), &mut state) });
        Link { device, state, log: Box::new([0; 4096]), values: Box::new([std::ptr::null_mut(); 2]) }
    }

    fn add_as(&self, kind: CUjitInputType, bytes: &[u8], name: &str) -> CUresult {
        let name = CString::new(name).expect("no NUL");
        let (none, nothing) = (std::ptr::null_mut(), std::ptr::null_mut());
        let data = bytes.as_ptr().cast_mut().cast();
        // SAFETY: `bytes.len()` bytes, a C string and no options.
        unsafe { self.device.cuLinkAddData_v2(self.state, kind, data, bytes.len(), name.as_ptr(), 0, none, nothing) }
    }

    fn add(&self, text: &str, name: &str) -> CUresult {
        self.add_as(CU_JIT_INPUT_PTX, text.as_bytes(), name)
    }

    fn complete(&self) -> Result<&'d [u8], CUresult> {
        let (mut image, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: valid out pointers; the image lives until the link is destroyed, which no test does before it is used.
        match unsafe { self.device.cuLinkComplete(self.state, &mut image, &mut size) } {
            // SAFETY: as above.
            OK => Ok(unsafe { std::slice::from_raw_parts(image.cast(), size) }),
            code => Err(code),
        }
    }

    fn log(&self) -> String {
        let length = self.values[1] as usize;
        assert_eq!(self.log[length], 0, "a NUL behind it");
        String::from_utf8_lossy(&self.log[..length]).into_owned()
    }

    fn destroy(&self) -> CUresult {
        // SAFETY: any handle may be given.
        unsafe { self.device.cuLinkDestroy(self.state) }
    }
}

#[test]
fn a_function_of_another_text_runs_and_the_module_outlives_the_link() {
    let device = Device::seeded(1);
    for order in [[caller(), definition(".visible", 42)], [definition(".visible", 42), caller()]] {
        let link = Link::new(&device);
        for (text, name) in order.iter().zip(["one.ptx", "two.ptx"]) {
            ok(link.add(text, name));
        }
        let image = link.complete().expect("links");
        let module = device.load(image).expect("loads");
        assert_eq!(link.log(), "");
        ok(link.destroy());
        assert_eq!(device.stored_by(module, "k"), 42);
    }
    assert_eq!(device.found(), [""; 0]);
    assert_eq!(device.machine.check(), []);
}

#[test]
fn statics_of_two_texts_are_two_things_and_both_are_seen() {
    let text = |kernel_name: &str, value: u32| {
        format!("{HEAD}.global .u32 s = {value};\n{}", kernel(kernel_name, "ld.global.u32 %r1, [s];"))
    };
    let device = Device::seeded(1);
    let link = Link::new(&device);
    ok(link.add(&text("k", 3), "one"));
    ok(link.add(&text("k2", 4), "two"));
    let module = device.load(link.complete().expect("links")).expect("loads");
    assert_eq!((device.stored_by(module, "k"), device.stored_by(module, "k2")), (3, 4));
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: valid out pointers and a C string.
    ok(unsafe { device.cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"s".as_ptr()) });
    assert_eq!(bytes, 4);
}

#[test]
fn what_is_not_defined_is_told_by_complete() {
    let device = Device::seeded(1);
    let link = Link::new(&device);
    ok(link.add(&caller(), "one.ptx"));
    assert_eq!(link.complete(), Err(INVALID_SOURCE));
    assert!(link.log().contains("`f` is used in one.ptx and defined in none"), "{}", link.log());
    assert_eq!(device.found(), ["link"]);
    // It is over, and stays so.
    assert_eq!(link.add(&definition(".visible", 1), "two.ptx"), INVALID);
    assert_eq!(device.found(), ["link"; 2]);
    assert_eq!(link.complete(), Err(INVALID_SOURCE));
    ok(link.destroy());
    // The code does not depend on whether there is a buffer for errors.
    let link = Link::quiet(&device);
    ok(link.add(&caller(), "one.ptx"));
    assert_eq!(link.complete(), Err(INVALID_SOURCE));
}

#[test]
fn what_two_texts_define_is_told_by_the_second_and_by_complete() {
    let device = Device::seeded(1);
    for second in [definition(".visible", 2), format!("{HEAD}.visible .global .u32 f;\n")] {
        let link = Link::new(&device);
        ok(link.add(&definition(".visible", 1), "one.ptx"));
        assert_eq!(link.add(&second, "two.ptx"), INVALID_SOURCE);
        assert_eq!(link.add(&alone(1), "three.ptx"), INVALID_SOURCE, "and from now on");
        assert!(link.log().contains("one.ptx") && link.log().contains("two.ptx"), "{}", link.log());
        assert_eq!(link.complete(), Err(INVALID_SOURCE));
    }
    let link = Link::new(&device);
    ok(link.add(&caller(), "one.ptx"));
    let other = format!("{HEAD}.visible .func (.param .b64 r) f() {{ ret; }}\n");
    assert_eq!(link.add(&other, "two.ptx"), UNKNOWN, "another prototype");
}

#[test]
fn a_text_that_does_not_compile_is_left_out() {
    let device = Device::seeded(1);
    let link = Link::new(&device);
    assert_eq!(link.add(&format!("{HEAD}.visible .entry x() {{ nonsense; }}"), "bad.ptx"), INVALID_PTX);
    assert!(link.log().contains("bad.ptx:4:"), "{}", link.log());
    assert_eq!(link.add("no PTX at all", "bad.txt"), INVALID_IMAGE);
    let newer = alone(1).replace(".version 8.0", ".version 9.9");
    assert_eq!(link.add(&newer, "newer.ptx"), CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    ok(link.add(&alone(9), "good.ptx"));
    let module = device.load(link.complete().expect("links")).expect("loads");
    assert_eq!(device.stored_by(module, "k"), 9);
}

#[test]
fn each_call_has_its_place() {
    let device = Device::seeded(1);
    let link = Link::quiet(&device);
    let (mut image, mut size) = (std::ptr::null_mut(), 0usize);
    // SAFETY: null is what is tried here.
    unsafe {
        assert_eq!(device.cuLinkComplete(link.state, std::ptr::null_mut(), &mut size), INVALID);
        ok(link.add(&alone(1), ""));
        ok(device.cuLinkComplete(link.state, &mut image, std::ptr::null_mut()));
        assert_eq!(device.cuLinkComplete(link.state, &mut image, &mut size), INVALID_HANDLE, "once is enough");
    }
    assert_eq!(link.add(&alone(1), ""), INVALID, "too late");
    ok(link.destroy());
    assert_eq!(device.found(), ["link"; 2]);
    // NVIDIA's driver crashes here.
    assert_eq!(link.destroy(), INVALID_HANDLE);
    assert_eq!(link.add(&alone(1), ""), INVALID_HANDLE);
    assert_eq!(link.complete(), Err(INVALID_HANDLE));
    assert_eq!(device.found()[2..], ["stale-handle"; 3]);
}

#[test]
fn bad_arguments_have_the_codes_of_an_h200() {
    let device = Device::seeded(1);
    let mut state = CUlinkState::NULL;
    let (none, nothing) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: wrong arguments are what is tried here.
    unsafe {
        assert_eq!(device.cuLinkCreate_v2(0, none, nothing, std::ptr::null_mut()), INVALID);
        assert_eq!(device.cuLinkCreate_v2(1, none, nothing, &mut state), INVALID);
        let (mut option, mut value) = ([77], [nothing.cast()]);
        assert_eq!(device.cuLinkCreate_v2(1, option.as_mut_ptr(), value.as_mut_ptr(), &mut state), INVALID);
        assert_eq!(device.cuLinkDestroy(CUlinkState::NULL), INVALID_HANDLE);
    }
    let link = Link::quiet(&device);
    let text = alone(1);
    assert_eq!(link.add("", ""), INVALID);
    for (kind, code) in [(CU_JIT_INPUT_OBJECT, UNKNOWN), (CU_JIT_INPUT_LIBRARY, UNKNOWN), (6, INVALID), (99, INVALID)] {
        assert_eq!(link.add_as(kind, text.as_bytes(), ""), code, "{kind}");
    }
    ok(link.add_as(CU_JIT_INPUT_FATBINARY, text.as_bytes(), "text in the place of a fat binary"));
    link.complete().expect("what was refused is left out");
    for (kind, code) in [(CU_JIT_INPUT_CUBIN, INVALID_IMAGE), (5, CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND)] {
        let link = Link::quiet(&device);
        assert_eq!(link.add_as(kind, text.as_bytes(), ""), code);
        assert_eq!(link.complete(), Err(code), "and it is over");
    }
}

#[test]
fn a_file_without_an_end_is_refused() {
    let device = Device::seeded(1);
    let (link, path) = (Link::quiet(&device), CString::new("/dev/zero").expect("no NUL"));
    let (none, nothing) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: a C string and no options.
    let added = unsafe { device.cuLinkAddFile_v2(link.state, CU_JIT_INPUT_PTX, path.as_ptr(), 0, none, nothing) };
    assert_eq!(added, CUresult::CUDA_ERROR_FILE_NOT_FOUND);
}

#[test]
fn fat_binaries_and_linked_images_are_inputs_too() {
    let device = Device::seeded(1);
    for packed in ["plain", "lz4", "zstd"] {
        let link = Link::quiet(&device);
        ok(link.add_as(CU_JIT_INPUT_FATBINARY, &fat(packed), packed));
        let image = link.complete().expect("links").to_vec();
        assert_eq!(device.stored_by(device.load(&image).expect("loads"), "k"), 7);
        // In the place of a cubin, which it stands for.
        let again = Link::quiet(&device);
        ok(again.add_as(CU_JIT_INPUT_CUBIN, &image, "linked"));
        assert_eq!(device.stored_by(device.load(again.complete().expect("links")).expect("loads"), "k"), 7);
    }
    let link = Link::quiet(&device);
    let mut elf = vec![0; 64];
    elf[..4].copy_from_slice(b"\x7fELF");
    elf[18] = 190;
    assert_eq!(link.add_as(CU_JIT_INPUT_CUBIN, &elf, "a.cubin"), NO_BINARY);
    assert_eq!(link.complete(), Err(NO_BINARY));
    assert_eq!(device.found(), ["no-binary"]);
}

/// An object as a host compiler leaves it, with a text.
fn object(text: &str) -> Vec<u8> {
    object_of(&fatbin::write(&[Written {
        kind: 1,
        architecture: 70,
        flags: 0,
        name: "",
        stored: text.as_bytes(),
        packing: Packing::Plain,
    }]))
}

/// An object with containers in the section that `nvcc -dc` uses.
fn object_of(container: &[u8]) -> Vec<u8> {
    let names = b"\0__nv_relfatbin\0.shstrtab\0";
    let names_at = 64 + container.len();
    let sections_at = (names_at + names.len()).next_multiple_of(8);
    let mut elf = vec![0; 64];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    elf[18] = 62;
    elf[40..48].copy_from_slice(&(sections_at as u64).to_le_bytes());
    // Three sections of 64 bytes each; the last has the names.
    elf[58..64].copy_from_slice(&[64, 0, 3, 0, 2, 0]);
    elf.extend(container);
    elf.extend(names);
    elf.resize(sections_at + 64, 0);
    for (name, at, bytes) in [(1u32, 64, container.len()), (16, names_at, names.len())] {
        let mut header = [0; 64];
        header[..4].copy_from_slice(&name.to_le_bytes());
        header[24..32].copy_from_slice(&(at as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(bytes as u64).to_le_bytes());
        elf.extend(header);
    }
    elf
}

/// An archive with one member.
fn archive(member: &[u8]) -> Vec<u8> {
    [b"!<arch>\n".to_vec(), in_archive(member)].concat()
}

fn in_archive(member: &[u8]) -> Vec<u8> {
    let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "member/", 0, 0, 0, 644, member.len());
    [header.as_bytes(), member].concat()
}

#[test]
fn members_begin_at_even_bytes_and_containers_at_multiples_of_eight() {
    let (odd, even) = (in_archive(b"odd"), in_archive(b"even"));
    let both = [b"!<arch>\n", &odd[..], b"\n", &even].concat();
    assert_eq!(fatbin::members(&both), [&b"odd"[..], b"even"]);
    // The first one has 4 bytes more than its entries.
    let mut first = fatbin::write(&[]);
    first[8] = 4;
    first.extend([7; 4]);
    let second = fatbin::write(&[]);
    let object = object_of(&[&first[..], &[0; 4], &second].concat());
    assert_eq!(fatbin::containers_of(&object), Some(vec![&first[..], &second]));
}

#[test]
fn an_object_whose_sections_all_mean_the_same_bytes_is_looked_through_once() {
    // One section, which begins with its own name and has a container behind it.
    let section = [&b"\0.nv_fatbin\0\0\0\0\0"[..], &fatbin::write(&[])].concat();
    let mut object = vec![0; 128];
    object[..6].copy_from_slice(b"\x7fELF\x02\x01");
    object[40] = 64;
    // Headers of no bytes, and as many as can be said.
    object[60..62].fill(0xff);
    (object[64], object[64 + 24], object[64 + 32]) = (1, 128, section.len() as u8);
    object.extend(section);
    let found = fatbin::containers_of(&object).expect("an object");
    assert!((1..100).contains(&found.len()), "{}", found.len());
}

#[test]
fn host_objects_and_archives_of_them_are_looked_through() {
    let device = Device::seeded(1);
    let (caller, callee) = (object(&caller()), object(&definition(".visible", 42)));
    let both = [
        [(CU_JIT_INPUT_OBJECT, caller.clone()), (CU_JIT_INPUT_OBJECT, callee.clone())],
        [(CU_JIT_INPUT_OBJECT, caller.clone()), (CU_JIT_INPUT_LIBRARY, archive(&callee))],
        [(CU_JIT_INPUT_LIBRARY, archive(&callee)), (CU_JIT_INPUT_OBJECT, caller)],
    ];
    for inputs in both {
        let link = Link::new(&device);
        for (kind, bytes) in &inputs {
            ok(link.add_as(*kind, bytes, "an input"));
        }
        let module = device.load(link.complete().expect("links")).expect("loads");
        assert_eq!(device.stored_by(module, "k"), 42);
    }
    assert_eq!(device.found(), [""; 0]);
    // Machine code for other devices only, as NVIDIA's device runtime is: left out.
    let machine_code =
        Written { kind: 2, architecture: 52, flags: 0, name: "", stored: b"code", packing: Packing::Plain };
    let link = Link::new(&device);
    ok(link.add_as(CU_JIT_INPUT_OBJECT, &object_of(&fatbin::write(&[machine_code])), "devrt.o"));
    link.complete().expect("links without it");
    assert_eq!(device.found(), [""; 0]);
    // An archive of something else.
    let link = Link::new(&device);
    assert_eq!(link.add_as(CU_JIT_INPUT_LIBRARY, &archive(alone(1).as_bytes()), "libptx.a"), INVALID_IMAGE);
    // Damaged in every way, nothing worse than a refusal comes of it.
    for at in 0..callee.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut damaged = callee.clone();
            damaged[at] = value;
            assert!(fatbin::containers_of(&damaged).is_none_or(|found| found.len() < 2));
            let _ = fatbin::containers_of(&damaged[..at]);
        }
    }
    link.complete().expect("it was left out");
}

/// Two texts that are small by themselves and packed well.
#[test]
fn texts_of_one_object_have_a_limit_together() {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    // A block as it is, then blocks that repeat a blank 128 KiB long.
    frame.extend(&((HEAD.len() as u32) << 3).to_le_bytes()[..3]);
    frame.extend(HEAD.as_bytes());
    for block in 0..1100u32 {
        frame.extend(&(u32::from(block == 1099) | 1 << 1 | (128 << 10) << 3).to_le_bytes()[..3]);
        frame.push(b' ');
    }
    let packing = Packing::Zstd(0);
    let one = fatbin::write(&[Written { kind: 1, architecture: 70, flags: 0, name: "", stored: &frame, packing }]);
    let device = Device::seeded(1);
    let link = Link::new(&device);
    assert_eq!(link.add_as(CU_JIT_INPUT_OBJECT, &object_of(&[&one[..], &one].concat()), "two.o"), INVALID_IMAGE);
    assert!(link.log().contains("it unpacks to more than is taken"), "{}", link.log());
}

#[test]
fn a_text_without_a_name_has_its_number_and_the_log_has_a_line_for_each() {
    let device = Device::seeded(1);
    let link = Link::new(&device);
    ok(link.add(&alone(1), ""));
    assert_eq!(link.add("no PTX", ""), INVALID_IMAGE);
    assert_eq!(link.add("nor this", ""), INVALID_IMAGE);
    let log = link.log();
    assert_eq!(log.lines().count(), 2, "{log}");
    ok(link.add(&caller().replace(" k(", " k2("), ""));
    assert_eq!(link.complete(), Err(INVALID_SOURCE));
    assert!(link.log().contains("`f` is used in input 2"), "{}", link.log());
}

#[test]
fn a_link_that_has_failed_takes_no_more_once_it_was_completed() {
    let device = Device::seeded(1);
    let link = Link::new(&device);
    ok(link.add(&definition(".visible", 1), "one.ptx"));
    assert_eq!(link.add(&definition(".visible", 2), "two.ptx"), INVALID_SOURCE);
    assert_eq!(link.complete(), Err(INVALID_SOURCE));
    assert_eq!(link.add(&alone(1), "late.ptx"), INVALID);
    // A fat binary is no cubin, unless it was linked here.
    let link = Link::new(&device);
    assert_eq!(link.add_as(CU_JIT_INPUT_CUBIN, &fat("plain"), "plain.fatbin"), INVALID_IMAGE);
}

#[test]
fn nothing_links_to_an_image_with_nothing_in_it() {
    let device = Device::seeded(1);
    let link = Link::quiet(&device);
    let module = device.load(link.complete().expect("links")).expect("loads");
    let mut count = 9;
    // SAFETY: a valid out pointer.
    ok(unsafe { device.cuModuleGetFunctionCount(&mut count, module) });
    assert_eq!(count, 0);
}

#[test]
fn a_finding_in_linked_code_names_its_text() {
    let device = Device::seeded(1);
    let link = Link::quiet(&device);
    let bad = format!(
        "{HEAD}.visible .func (.param .b32 r) f() {{
            .reg .b64 %rd; .reg .b32 %r; mov.u64 %rd, 64; ld.global.u32 %r, [%rd]; st.param.b32 [r], %r; ret;
        }}\n"
    );
    ok(link.add(&caller(), "caller.ptx"));
    ok(link.add(&bad, "callee.ptx"));
    let module = device.load(link.complete().expect("links")).expect("loads");
    let function = device.function(module, "k");
    let out = device.zeros(1);
    ok(device.launch(function, CUstream::NULL, &[out]));
    // SAFETY: no arguments.
    assert_eq!(unsafe { device.cuCtxSynchronize() }, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let findings = device.machine.findings();
    assert!(findings[0].to_string().contains("callee.ptx:5:"), "{}", findings[0]);
}
