//! Fat binaries, and libraries of them: which entry is taken, what is refused and how, and that what is damaged is said to be.

mod kit;

use std::ffi::c_void;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::fatbin::{self, Image, LINKED, Packing, Written};
use kit::images::*;
use kit::*;

const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const INVALID_IMAGE: CUresult = CUresult::CUDA_ERROR_INVALID_IMAGE;
const INVALID_PTX: CUresult = CUresult::CUDA_ERROR_INVALID_PTX;
const NO_BINARY: CUresult = CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU;
const NOT_FOUND: CUresult = CUresult::CUDA_ERROR_NOT_FOUND;
const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

fn ptx(architecture: u32, flags: u64, text: &str) -> Written<'_> {
    Written { kind: 1, architecture, flags, name: "", stored: text.as_bytes(), packing: Packing::Plain }
}

fn elf(architecture: u32) -> Written<'static> {
    Written { kind: 2, architecture, flags: 0, name: "", stored: b"\x7fELF machine code", packing: Packing::Plain }
}

#[test]
fn nvidias_own_tool_makes_containers_that_load_packed_or_not() {
    let device = Device::seeded(1);
    for packed in ["plain", "lz4", "zstd"] {
        let module = device.load(&fat(packed)).unwrap_or_else(|code| panic!("{packed}: {code}"));
        assert_eq!(device.stored_by(module, "k"), 7, "{packed}");
        let mut module = CUmodule::NULL;
        // SAFETY: a whole container, and a valid out pointer.
        ok(unsafe { device.cuModuleLoadFatBinary(&mut module, fat(packed).as_ptr().cast()) });
        let path = std::env::temp_dir().join(format!("dacapo-{packed}-{}.fatbin", std::process::id()));
        std::fs::write(&path, fat(packed)).expect("writable");
        let name = std::ffi::CString::new(path.to_str().expect("UTF-8")).expect("no NUL");
        // SAFETY: a C string and a valid out pointer.
        ok(unsafe { device.cuModuleLoad(&mut module, name.as_ptr()) });
        assert_eq!(device.stored_by(module, "k"), 7);
        // The same file, cut off.
        std::fs::write(&path, &fat(packed)[..200]).expect("writable");
        // SAFETY: as above.
        assert_eq!(unsafe { device.cuModuleLoad(&mut module, name.as_ptr()) }, INVALID_IMAGE);
        std::fs::remove_file(&path).expect("there");
    }
    assert_eq!(device.found(), ["invalid-image"; 3]);
}

#[test]
fn the_highest_architecture_that_is_not_above_the_device_is_taken() {
    let device = Device::seeded(1);
    let texts: Vec<String> = (0..5).map(alone).collect();
    let of = |entries: &[Written<'_>]| device.load(&fatbin::write(entries)).map(|module| device.stored_by(module, "k"));
    let (old, newer, newest) = (ptx(70, 0, &texts[0]), ptx(80, 0, &texts[1]), ptx(100, 0, &texts[2]));
    let (plain, only) = (ptx(90, 0, &texts[3]), ptx(90, 0x10_0000, &texts[4]));
    assert_eq!(of(&[old, newer, newest]), Ok(1));
    assert_eq!(of(&[newest, newer, old]), Ok(1));
    assert_eq!(of(&[only, plain, newer]), Ok(4), "90a before 90");
    assert_eq!(of(&[plain, only]), Ok(4));
    assert_eq!(of(&[newer, plain, old]), Ok(3), "for this very device");
    assert_eq!(of(&[newer, ptx(80, 0, &texts[2])]), Ok(1), "the first of two");
    assert_eq!(of(&[Written { kind: 0x40, ..newer }]), Ok(1), "another number for PTX");
    assert_eq!(of(&[elf(90), old]), Ok(0), "machine code is left out");
    // For that very architecture, which is another.
    assert_eq!(of(&[ptx(80, 0x10_0000, &texts[1]), old]), Ok(0));
    assert_eq!(device.found(), [""; 0]);
}

#[test]
fn without_ptx_for_the_device_it_says_what_there_is_and_what_to_do() {
    let device = Device::seeded(1);
    let text = alone(1);
    let image = fatbin::write(&[elf(80), elf(90), ptx(120, 0, &text)]);
    assert_eq!(device.load(&image), Err(NO_BINARY));
    let finding = device.machine.findings()[0].to_string();
    let what = "error[no-binary]: the fat binary has no PTX for this device (sm_90): compute_120, sm_80, sm_90\n";
    assert!(finding.starts_with(what), "{finding}");
    assert!(finding.contains("help: compile to PTX") && finding.contains("dacapo run"), "{finding}");
    assert_eq!(device.load(&fatbin::write(&[])), Err(NO_BINARY));
    let mut cubin = vec![0; 64];
    cubin[..4].copy_from_slice(b"\x7fELF");
    cubin[18] = 190;
    assert_eq!(device.load(&cubin), Err(NO_BINARY));
    assert!(device.machine.findings()[2].what.contains("is a cubin"));
}

#[test]
fn what_is_damaged_is_refused() {
    let device = Device::seeded(1);
    let damaged = |name: &str, change: fn(&mut Vec<u8>)| {
        let mut image = fat(name);
        change(&mut image);
        device.load(&image)
    };
    assert_eq!(damaged("lz4", |image| image[100..140].fill(0xff)), Err(INVALID_PTX));
    assert_eq!(damaged("zstd", |image| image[120..160].fill(0xff)), Err(UNKNOWN));
    // It says that it unpacks to less, to more, and to far more than it does.
    assert_eq!(damaged("zstd", |image| image[72..80].copy_from_slice(&20u64.to_le_bytes())), Err(UNKNOWN));
    assert_eq!(damaged("lz4", |image| image[72..80].copy_from_slice(&20u64.to_le_bytes())), Err(INVALID_PTX));
    for bytes in [1u64 << 30, 1 << 40, u64::MAX] {
        for name in ["lz4", "zstd"] {
            let mut image = fat(name);
            image[72..80].copy_from_slice(&bytes.to_le_bytes());
            assert_eq!(device.load(&image), Err(INVALID_IMAGE), "{name} {bytes}");
        }
    }
    assert_eq!(damaged("plain", |image| image[4] = 2), Err(INVALID_IMAGE), "of another version");
}

/// A gigabyte of zeros in a frame of zstd: it would unpack, and is not let.
#[test]
fn a_bomb_is_not_unpacked() {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    for block in 0..8192u32 {
        // A block that repeats one byte 128 KiB long; the last one says so.
        let header = u32::from(block == 8191) | 1 << 1 | (128 << 10) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    for unpacked in [0, 200 << 20] {
        let packing = Packing::Zstd(unpacked);
        let image =
            fatbin::write(&[Written { kind: 1, architecture: 70, flags: 0, name: "", stored: &frame, packing }]);
        let began = std::time::Instant::now();
        assert!(fatbin::choose(&image, 90).is_err());
        assert!(began.elapsed().as_secs() < 20);
    }
}

/// Each text of a linked image is small enough; together they are not.
#[test]
fn texts_of_one_image_have_a_limit_together() {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    for block in 0..1100u32 {
        let header = u32::from(block == 1099) | 1 << 1 | (128 << 10) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b' ');
    }
    let packing = Packing::Zstd(0);
    let text = Written { kind: 1, architecture: 70, flags: LINKED, name: "", stored: &frame, packing };
    assert!(matches!(fatbin::choose(&fatbin::write(&[text]), 90), Ok(Image::Linked(_))));
    let error = fatbin::choose(&fatbin::write(&[text; 3]), 90).err();
    assert!(matches!(error, Some(fatbin::Broken::TooLarge(_))), "{error:?}");
}

/// What `nvcc` puts into a program.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    container: *const c_void,
    list: *const *const c_void,
}

#[test]
fn a_wrapper_is_for_libraries() {
    let device = Device::seeded(1);
    let image = fat("zstd");
    for version in [1, 3, 7] {
        let container = image.as_ptr().cast();
        let wrapper = Wrapper { magic: fatbin::WRAPPER_MAGIC, version, container, list: std::ptr::null() };
        let address: *const c_void = (&raw const wrapper).cast();
        let library = device.library(address);
        let kernel = device.kernel(library, "k").expect("there");
        assert_eq!(device.stored(CUfunction::from_bits(kernel.bits())), 7);
        let mut module = CUmodule::NULL;
        // SAFETY: a wrapper and a valid out pointer.
        assert_eq!(unsafe { device.cuModuleLoadData(&mut module, address) }, INVALID_IMAGE);
    }
    let nothing =
        Wrapper { magic: fatbin::WRAPPER_MAGIC, version: 1, container: std::ptr::null(), list: std::ptr::null() };
    let library = device.library((&raw const nothing).cast());
    assert_eq!(device.kernel(library, "k"), Err(NOT_FOUND));
}

/// A container as `nvcc -rdc=true` writes it: its text is to be linked.
fn to_be_linked(text: &str) -> Vec<u8> {
    let mut image = fatbin::write(&[ptx(70, 0, text)]);
    let options = b"--compile-only  ";
    // The record of options points behind the text.
    let at = (image.len() - 16) as u32;
    let stored = u64::from_le_bytes(image[24..32].try_into().expect("eight"));
    image[16 + 64..16 + 72].copy_from_slice(&[at.to_le_bytes(), (options.len() as u32).to_le_bytes()].concat());
    image[24..32].copy_from_slice(&(stored + 16).to_le_bytes());
    image.extend(options);
    let bytes = image.len() as u64 - 16;
    image[8..16].copy_from_slice(&bytes.to_le_bytes());
    image
}

#[test]
fn a_list_of_containers_is_linked() {
    let device = Device::seeded(1);
    let machine_code = fatbin::write(&[elf(90), ptx(121, 0, "")]);
    let parts = [to_be_linked(&caller()), to_be_linked(&definition(".visible", 42)), machine_code];
    let library = |count: usize| {
        let mut list: Vec<*const c_void> = parts[..count].iter().map(|part| part.as_ptr().cast()).collect();
        list.push(std::ptr::null());
        let wrapper = Wrapper { magic: fatbin::WRAPPER_MAGIC, version: 2, container: list[0], list: list.as_ptr() };
        device.library((&raw const wrapper).cast())
    };
    for whole in [2, 3] {
        let kernel = device.kernel(library(whole), "k").expect("there");
        assert_eq!(device.stored(CUfunction::from_bits(kernel.bits())), 42);
    }
    assert_eq!(device.found(), [""; 0]);
    assert_eq!(device.kernel(library(1), "k"), Err(INVALID_PTX), "what it calls is in the second");
}

#[test]
fn a_library_needs_no_context_and_is_lazy() {
    let device = Device::seeded(1);
    // SAFETY: no context is what is tried here.
    ok(unsafe { device.cuCtxSetCurrent(CUcontext::NULL) });
    let bad = [
        (fatbin::write(&[elf(80)]), NO_BINARY),
        (format!("{HEAD}.visible .entry k() {{ nonsense; }}\0").into_bytes(), INVALID_PTX),
        (caller().into_bytes(), INVALID_PTX),
        (alone(1).replace("8.0", "9.9").into_bytes(), CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
        (b"junk\0".to_vec(), INVALID_IMAGE),
    ];
    for (mut image, code) in bad {
        image.extend([0; 64]);
        let library = device.library(image.as_ptr().cast());
        assert_eq!(device.kernel(library, "k"), Err(code));
        assert_eq!(device.kernel(library, "nobody"), Err(code));
        let mut count = 9;
        // SAFETY: valid out pointers.
        unsafe {
            ok(device.cuLibraryGetKernelCount(&mut count, library));
            assert_eq!(count, 0);
            ok(device.cuLibraryUnload(library));
        }
    }
    let text = std::ffi::CString::new(alone(5)).expect("no NUL");
    let library = device.library(text.as_ptr().cast());
    let kernel = device.kernel(library, "k").expect("without a context");
    assert_eq!(device.kernel(library, "k"), Ok(kernel), "the same each time");
    // SAFETY: the context of the device.
    ok(unsafe { device.cuCtxSetCurrent(device.context) });
    assert_eq!(device.stored(CUfunction::from_bits(kernel.bits())), 5);
}

#[test]
fn libraries_and_kernels_survive_a_reset_and_variables_begin_anew() {
    let device = Device::seeded(1);
    let text = format!("{HEAD}.visible .global .u32 v = 3;\n{}", kernel("k", "ld.global.u32 %r1, [v];"));
    let text = std::ffi::CString::new(text).expect("no NUL");
    let library = device.library(text.as_ptr().cast());
    let kernel = device.kernel(library, "k").expect("there");
    let function = CUfunction::from_bits(kernel.bits());
    let global = || {
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: valid out pointers and a C string.
        ok(unsafe { device.cuLibraryGetGlobal(&mut address, &mut bytes, library, c"v".as_ptr()) });
        address
    };
    device.write(global(), 77);
    assert_eq!(device.stored(function), 77);
    // SAFETY: the one device there is.
    unsafe {
        ok(device.cuDevicePrimaryCtxReset_v2(0));
        let mut context = CUcontext::NULL;
        ok(device.cuDevicePrimaryCtxRetain(&mut context, 0));
        ok(device.cuCtxSetCurrent(context));
    }
    assert_eq!(device.kernel(library, "k"), Ok(kernel));
    assert_eq!(device.stored(function), 3);
    assert_eq!(device.read(global()), 3);
    let mut name = std::ptr::null();
    // SAFETY: valid out pointers.
    unsafe {
        ok(device.cuKernelGetName(&mut name, kernel));
        assert_eq!(std::ffi::CStr::from_ptr(name), c"k");
        let mut module = CUmodule::NULL;
        ok(device.cuLibraryGetModule(&mut module, library));
        assert_eq!(device.cuModuleUnload(module), CUresult::CUDA_ERROR_NOT_PERMITTED);
        ok(device.cuLibraryUnload(library));
        // NVIDIA's driver crashes here.
        assert_eq!(device.cuLibraryUnload(library), INVALID_HANDLE);
    }
    assert_eq!(device.kernel(library, "k"), Err(INVALID_HANDLE));
    assert_eq!(device.machine.check(), []);
}

#[test]
fn an_entry_tells_of_itself() {
    let text = alone(1);
    let image = fatbin::write(&[Written { name: "saxpy.cu", flags: LINKED, ..ptx(90, 0x10_0000, &text) }, elf(80)]);
    let entries = fatbin::entries(&image).expect("whole");
    assert_eq!(entries.iter().map(fatbin::Entry::target).collect::<Vec<_>>(), ["compute_90", "sm_80"]);
    assert_eq!(entries[0].name.as_deref(), Some("saxpy.cu"));
    assert_eq!(entries[0].contents().expect("plain")[..text.len()], *text.as_bytes());
    let Ok(Image::Linked(texts)) = fatbin::choose(&image, 90) else { panic!("not linked") };
    assert_eq!(texts[0].0, "saxpy.cu");
}
