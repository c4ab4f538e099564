//! What a program that links against our `libcuda.so.1` can rely on: every symbol is there, and `cuGetProcAddress` answers
//! as NVIDIA's was observed to.
//!
//! The library is loaded as a program would: opened by path, through the same loader that opens NVIDIA's.

use std::ffi::CString;
use std::path::PathBuf;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, Driver, Nvidia, PerThreadTwin};

/// Where cargo put the library: beside this test, or one folder up.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = "libdacapo_libcuda.so";
    // The folder of the test first: that one was built together with it.
    let found = test.ancestors().skip(1).take(2).map(|folder| folder.join(name)).find(|path| path.exists());
    found.expect("cargo builds the library before its tests")
}

fn symbol(name: &str) -> Option<*mut c_void> {
    // SAFETY: our own library, whose loading does nothing; only addresses are asked for.
    unsafe {
        let library = libloading::Library::new(library()).unwrap();
        let address = library.get::<*mut c_void>(name).ok().and_then(|symbol| symbol.try_as_raw_ptr());
        std::mem::forget(library);
        address
    }
}

/// Asks for a name as a C program would: what it answers, the address and the status.
fn ask(driver: &Nvidia, name: &str, version: c_int, flags: u64) -> (CUresult, *mut c_void, u32) {
    let name = CString::new(name).unwrap();
    let (mut address, mut status) = (UNTOUCHED as *mut c_void, 9);
    // SAFETY: the name ends in NUL and both pointers are to locals.
    let answer =
        unsafe { driver.cuGetProcAddress_v2(name.as_ptr(), &raw mut address, version, flags, &raw mut status) };
    (answer, address, status)
}

const UNTOUCHED: usize = 7;

#[test]
fn every_symbol_of_the_table_and_its_twin_are_exported() {
    for call in Call::ALL {
        assert!(symbol(call.symbol()).is_some(), "{}", call.symbol());
        let suffix = match call.per_thread_twin() {
            PerThreadTwin::None => continue,
            PerThreadTwin::Ptsz => "_ptsz",
            PerThreadTwin::Ptds => "_ptds",
        };
        let twin = format!("{}{suffix}", call.symbol());
        assert!(symbol(&twin).is_some(), "{twin}");
        assert_ne!(symbol(&twin), symbol(call.symbol()));
    }
}

#[test]
fn the_loader_finds_it_complete_and_knows_what_it_is() {
    // SAFETY: it is the library of this workspace.
    let driver = unsafe { Nvidia::open_path(&library()) }.unwrap();
    assert_eq!(driver.lacking(), []);
    assert!(driver.is_software());
    assert_eq!(driver.version(), 13_000);
}

#[test]
fn a_name_and_a_version_give_the_newest_signature_of_that_version() {
    // SAFETY: it is the library of this workspace.
    let driver = unsafe { Nvidia::open_path(&library()) }.unwrap();
    for (name, version, expected) in [
        ("cuInit", 13_000, "cuInit"),
        ("cuMemAlloc", 13_000, "cuMemAlloc_v2"),
        ("cuGraphAddNode", 12_020, "cuGraphAddNode"),
        ("cuGraphAddNode", 12_030, "cuGraphAddNode_v2"),
        ("cuStreamGetCaptureInfo", 12_020, "cuStreamGetCaptureInfo_v2"),
        ("cuStreamGetCaptureInfo", 13_000, "cuStreamGetCaptureInfo_v3"),
        ("cuCtxCreate", 12_040, "cuCtxCreate_v3"),
        ("cuCtxCreate", 13_000, "cuCtxCreate_v4"),
        ("cuGraphInstantiateWithFlags", 11_040, "cuGraphInstantiateWithFlags"),
        ("cuGraphInstantiate", 12_000, "cuGraphInstantiate_v2"),
        ("cuGetProcAddress", 11_080, "cuGetProcAddress"),
        ("cuGetProcAddress", 12_000, "cuGetProcAddress_v2"),
    ] {
        let expected = (CUresult::CUDA_SUCCESS, symbol(expected).unwrap(), CU_GET_PROC_ADDRESS_SUCCESS);
        assert_eq!(ask(&driver, name, version, 0), expected, "{name} of {version}");
    }
}

/// What NVIDIA's `cuGetProcAddress` gave for every public name, every version that brought one, and both default streams.
#[test]
fn every_name_of_every_version_is_the_symbol_that_an_h200_gave() {
    let recording = include_str!("../recordings/proc-address-h200.txt");
    let asked = recording.lines().find_map(|line| line.split_once("Versions asked: ")).unwrap().1;
    let versions: Vec<c_int> = asked.trim_end_matches('.').split(' ').map(|word| word.parse().unwrap()).collect();
    // SAFETY: it is the library of this workspace.
    let driver = unsafe { Nvidia::open_path(&library()) }.unwrap();
    let (mut questions, mut different) = (0, Vec::new());
    for line in recording.lines().filter(|line| !line.starts_with('#')) {
        let (question, answers) = line.split_once(": ").unwrap();
        let (name, flags) = question.split_once(' ').unwrap();
        let answers: Vec<(c_int, &str)> = answers
            .split(' ')
            .map(|answer| answer.split_once('=').unwrap())
            .map(|(v, s)| (v.parse().unwrap(), s))
            .collect();
        for &version in &versions {
            let expected = answers.iter().rfind(|(since, _)| *since <= version).unwrap().1;
            let (ok, too_old) = (CUresult::CUDA_SUCCESS, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
            let expected = match expected {
                "-" => (ok, std::ptr::null_mut(), too_old),
                symbol_of_it => {
                    (ok, symbol(symbol_of_it).unwrap_or(UNTOUCHED as *mut c_void), CU_GET_PROC_ADDRESS_SUCCESS)
                }
            };
            questions += 1;
            if ask(&driver, name, version, flags.parse().unwrap()) != expected {
                different.push(format!("{name} of {version}, flags {flags}"));
            }
        }
    }
    assert_eq!(different, Vec::<String>::new());
    assert_eq!(questions, 906 * versions.len());
}

#[test]
fn flags_choose_the_default_stream() {
    // SAFETY: it is the library of this workspace.
    let driver = unsafe { Nvidia::open_path(&library()) }.unwrap();
    let address = |name, flags| ask(&driver, name, 13_000, flags).1;
    assert_eq!(address("cuLaunchKernel", 0), symbol("cuLaunchKernel").unwrap());
    assert_eq!(address("cuLaunchKernel", 1), symbol("cuLaunchKernel").unwrap());
    assert_eq!(address("cuLaunchKernel", 2), symbol("cuLaunchKernel_ptsz").unwrap());
    assert_eq!(address("cuMemcpyHtoD", 2), symbol("cuMemcpyHtoD_v2_ptds").unwrap());
    assert_eq!(address("cuInit", 2), symbol("cuInit").unwrap(), "no stream, no twin");
}

#[test]
fn what_cannot_be_found_is_answered_as_observed() {
    // SAFETY: it is the library of this workspace.
    let driver = unsafe { Nvidia::open_path(&library()) }.unwrap();
    let (ok, invalid) = (CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_INVALID_VALUE);
    let (null, untouched) = (std::ptr::null_mut(), UNTOUCHED as *mut c_void);
    let unknown = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    let too_old = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    assert_eq!(ask(&driver, "cuNoSuchThing", 13_000, 0), (ok, null, unknown));
    assert_eq!(ask(&driver, "cuGraphConditionalHandleCreate", 12_000, 0), (ok, null, too_old));
    assert_eq!(ask(&driver, "cuInit", 0, 0), (ok, null, too_old));
    assert_eq!(ask(&driver, "cuInit", 99_000, 0), (invalid, untouched, 9));
    assert_eq!(ask(&driver, "cuInit", 13_000, 9), (invalid, untouched, 9));
    // SAFETY: null is what is asked about; the name ends in NUL and the address is a local.
    unsafe {
        let mut address = std::ptr::null_mut();
        let no_status = std::ptr::null_mut();
        assert_eq!(driver.cuGetProcAddress_v2(c"cuInit".as_ptr(), &raw mut address, 13_000, 0, no_status), ok);
        assert_eq!(Some(address), symbol("cuInit"));
        assert_eq!(driver.cuGetProcAddress(c"cuInit".as_ptr(), &raw mut address, 13_000, 0), ok);
        assert_eq!(driver.cuGetProcAddress_v2(std::ptr::null(), &raw mut address, 13_000, 0, no_status), invalid);
        assert_eq!(driver.cuGetProcAddress_v2(c"cuInit".as_ptr(), std::ptr::null_mut(), 13_000, 0, no_status), invalid);
    }
}

/// The legacy stream cannot capture, a thread's own can: so the two meanings of the null stream can be told apart.
#[test]
fn the_null_stream_of_a_twin_is_the_threads_own() {
    type Begin = unsafe extern "C" fn(CUstream, CUstreamCaptureMode) -> CUresult;
    type End = unsafe extern "C" fn(CUstream, *mut CUgraph) -> CUresult;
    // SAFETY: it is the library of this workspace.
    let driver = unsafe { Nvidia::open_path(&library()) }.unwrap();
    let (mut context, mut graph) = (CUcontext::NULL, CUgraph::NULL);
    // SAFETY: the addresses are those of the symbols whose signatures the types state; the pointers are to locals.
    unsafe {
        assert_eq!(driver.cuInit(0), CUresult::CUDA_SUCCESS);
        assert_eq!(driver.cuDevicePrimaryCtxRetain(&raw mut context, 0), CUresult::CUDA_SUCCESS);
        assert_eq!(driver.cuCtxSetCurrent(context), CUresult::CUDA_SUCCESS);
        let begin = |name| std::mem::transmute::<*mut c_void, Begin>(symbol(name).unwrap());
        let end = std::mem::transmute::<*mut c_void, End>(symbol("cuStreamEndCapture_ptsz").unwrap());
        let unsupported = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        assert_eq!(begin("cuStreamBeginCapture_v2")(CUstream::NULL, CU_STREAM_CAPTURE_MODE_RELAXED), unsupported);
        let begun = begin("cuStreamBeginCapture_v2_ptsz")(CUstream::NULL, CU_STREAM_CAPTURE_MODE_RELAXED);
        assert_eq!(begun, CUresult::CUDA_SUCCESS);
        assert_eq!(end(CUstream::NULL, &raw mut graph), CUresult::CUDA_SUCCESS);
        // Only inside the twin: the thread's null stream is the legacy one again.
        assert_eq!(begin("cuStreamBeginCapture_v2")(CUstream::NULL, CU_STREAM_CAPTURE_MODE_RELAXED), unsupported);
    }
}
