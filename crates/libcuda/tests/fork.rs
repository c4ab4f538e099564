//! A program may load the library, fork, and use it in parent and children: nothing is started before the first work. After
//! `cuInit` a child is refused, as on a GPU, and is told why.
//!
//! One test in a binary of its own: forking is for processes whose other threads hold no locks. (The driver's threads may.)

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver, Nvidia};

unsafe extern "C" {
    safe fn fork() -> c_int;
    safe fn _exit(status: c_int) -> !;
    safe fn exit(status: c_int) -> !;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    safe fn kill(process: c_int, signal: c_int) -> c_int;
}

const NOT_INITIALIZED: CUresult = CUresult::CUDA_ERROR_NOT_INITIALIZED;

/// Runs until somebody writes the word, and keeps the driver's thread busy.
const SPIN: &CStr = c".version 7.0 .target sm_70 .address_size 64
.visible .entry spin(.param .u64 p) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN; ret;
}";

fn named(name: &'static str, code: CUresult) -> Result<(), (&'static str, CUresult)> {
    if code.is_success() { Ok(()) } else { Err((name, code)) }
}

/// Sets 1024 words on the device and reads them back.
fn work(driver: &Nvidia, value: u32) -> Result<(), (&'static str, CUresult)> {
    let mut words = [0_u32; 1024];
    let (mut context, mut address) = (CUcontext::NULL, 0);
    let bytes = size_of_val(&words);
    // SAFETY: every pointer is to a local that lives through its call, with room for what the call writes.
    unsafe {
        named("cuInit", driver.cuInit(0))?;
        named("cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain(&raw mut context, 0))?;
        named("cuCtxSetCurrent", driver.cuCtxSetCurrent(context))?;
        named("cuMemAlloc", driver.cuMemAlloc_v2(&raw mut address, bytes))?;
        named("cuMemsetD32Async", driver.cuMemsetD32Async(address, value, words.len(), CUstream::NULL))?;
        named("cuStreamSynchronize", driver.cuStreamSynchronize(CUstream::NULL))?;
        named("cuMemcpyDtoH", driver.cuMemcpyDtoH_v2(words.as_mut_ptr().cast::<c_void>(), address, bytes))?;
        named("cuMemFree", driver.cuMemFree_v2(address))?;
    }
    named("the words", if words == [value; 1024] { CUresult::CUDA_SUCCESS } else { CUresult::CUDA_ERROR_UNKNOWN })
}

/// Has a kernel run on the device until the word it answers is written.
fn spin(driver: &Nvidia) -> Result<*mut u32, (&'static str, CUresult)> {
    let (mut module, mut kernel) = (CUmodule::NULL, CUfunction::NULL);
    let mut word = std::ptr::null_mut::<c_void>();
    let (mut stream, none) = (CUstream::NULL, std::ptr::null_mut());
    // SAFETY: every pointer is to a local that lives through its call; the text ends in NUL, the kernel takes one pointer.
    unsafe {
        named("cuMemHostAlloc", driver.cuMemHostAlloc(&raw mut word, 4, 0))?;
        named("cuStreamCreate", driver.cuStreamCreate(&raw mut stream, 1))?;
        named("cuModuleLoadData", driver.cuModuleLoadData(&raw mut module, SPIN.as_ptr().cast()))?;
        named("cuModuleGetFunction", driver.cuModuleGetFunction(&raw mut kernel, module, c"spin".as_ptr()))?;
        let mut arguments = [(&raw mut word).cast::<c_void>()];
        let at = arguments.as_mut_ptr();
        named("cuLaunchKernel", driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, at, none))?;
    }
    Ok(word.cast())
}

/// What a child may rely on that was forked after `cuInit`: the number of the first expectation that does not hold, or 0.
fn refused(driver: &Nvidia) -> c_int {
    let (mut count, mut version, mut free, mut total) = (-1, -1, 7, 7);
    let (mut context, mut address) = (CUcontext::NULL, 7);
    let (mut name, mut text) = (std::ptr::null::<c_char>(), std::ptr::null::<c_char>());
    let (mut found, mut status) = (std::ptr::null_mut::<c_void>(), 7);
    // SAFETY: every pointer is to a local, with room for what the call would write.
    let expectations = unsafe {
        [
            driver.cuDeviceGetCount(&raw mut count) == NOT_INITIALIZED && count == -1,
            driver.cuInit(0) == NOT_INITIALIZED,
            driver.cuDeviceGetCount(&raw mut count) == NOT_INITIALIZED,
            driver.cuCtxGetCurrent(&raw mut context) == NOT_INITIALIZED && context == CUcontext::NULL,
            driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) == NOT_INITIALIZED && (free, total) == (7, 7),
            driver.cuMemAlloc_v2(&raw mut address, 64) == NOT_INITIALIZED && address == 7,
            driver.cuCtxSynchronize() == NOT_INITIALIZED,
            driver.cuDevicePrimaryCtxRetain(&raw mut context, 0) == NOT_INITIALIZED,
            driver.cuDriverGetVersion(&raw mut version).is_success() && version == 13_000,
            driver.cuGetErrorName(NOT_INITIALIZED, &raw mut name).is_success() && !name.is_null(),
            driver.cuGetErrorString(NOT_INITIALIZED, &raw mut text).is_success() && !text.is_null(),
            driver.cuGetProcAddress_v2(c"cuInit".as_ptr(), &raw mut found, 13_000, 0, &raw mut status).is_success()
                && !found.is_null(),
            // This one leaves a finding, which takes no lock of the parent's either.
            driver.cuGetProcAddress_v2(c"cuInitt".as_ptr(), &raw mut found, 13_000, 0, &raw mut status).is_success()
                && found.is_null(),
        ]
    };
    expectations.iter().position(|holds| !holds).map_or(0, |at| at as c_int + 1)
}

/// The status a child has ended with. One that has not ended after that many seconds hangs, and is ended.
fn status_of(child: c_int, seconds_max: u64) -> c_int {
    const NO_HANG: c_int = 1;
    let (mut status, started) = (-1, Instant::now());
    loop {
        // SAFETY: `status` is a local.
        if unsafe { waitpid(child, &raw mut status, NO_HANG) } == child {
            return status;
        }
        if started.elapsed() > Duration::from_secs(seconds_max) {
            kill(child, 9);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = "libdacapo_libcuda.so";
    let path: Option<PathBuf> = test.ancestors().skip(1).take(2).map(|at| at.join(name)).find(|path| path.exists());
    path.expect("cargo builds the library before its tests")
}

/// How many findings of each code there are in the file.
fn found(path: &Path, code: &str) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| line.starts_with(&format!("{{\"code\":\"{code}\""))).count()
}

#[test]
fn children_use_it_before_init_and_are_refused_after() {
    let findings = std::env::temp_dir().join(format!("dacapo-fork-{}.json", std::process::id()));
    // SAFETY: the harness's main thread only waits for this one.
    unsafe {
        std::env::set_var("DACAPO_FINDINGS", &findings);
        std::env::set_var("DACAPO_FINDINGS_FORMAT", "json");
    }
    // SAFETY: it is the library of this workspace.
    let driver = unsafe { Nvidia::open_path(&library()) }.unwrap();
    // A question that needs no `cuInit` does not spoil it.
    let mut version = 0;
    // SAFETY: a valid out pointer.
    assert_eq!(unsafe { driver.cuDriverGetVersion(&raw mut version) }, CUresult::CUDA_SUCCESS);
    let children: Vec<_> = (1..=2_u32)
        .map(|value| match fork() {
            0 => _exit(if work(&driver, value).is_ok() { 0 } else { 7 }),
            child => child,
        })
        .collect();
    for child in children {
        assert_eq!(status_of(child, 60), 0, "the child's work failed or it died");
    }
    assert_eq!(work(&driver, 3), Ok(()));

    // The driver's thread is at work while children come and go, and one of these has a child of its own.
    let word = spin(&driver).unwrap();
    for turn in 0..20 {
        let child = match fork() {
            0 if turn == 0 => match fork() {
                0 => exit(refused(&driver)),
                grandchild => _exit(c_int::from(status_of(grandchild, 20) != 0)),
            },
            // With `exit`: whatever the library would do at the end of a process is done in a child too.
            0 => exit(refused(&driver)),
            child => child,
        };
        assert_eq!(status_of(child, 40), 0, "9: it hangs; else 256 times the number of what failed");
    }
    assert_eq!(found(&findings, "forked"), 20, "each child that makes calls is told once");

    // The parent is as it was.
    // SAFETY: the word lives until the end of the process.
    unsafe { word.write_volatile(1) };
    assert_eq!(work(&driver, 4), Ok(()));
    // SAFETY: no arguments.
    assert_eq!(unsafe { driver.cuCtxSynchronize() }, CUresult::CUDA_SUCCESS);
    let written = std::fs::read_to_string(&findings).unwrap();
    let _ = std::fs::remove_file(&findings);
    assert!(written.contains("set_start_method") && written.contains("cuDeviceGetCount"), "{written}");
    assert!(written.contains(r#"{"code":"unknown-name","ending":"note","#), "{written}");
    assert_eq!(written.lines().count(), 40, "one for the fork and one for the name, in each child:\n{written}");
}
