//! A program may load the library, fork, and use it in parent and children: nothing is started before the first work.
//!
//! One test in a binary of its own: forking is for processes whose other threads hold no locks.

use std::ffi::{c_int, c_void};
use std::path::PathBuf;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver, Nvidia};

unsafe extern "C" {
    safe fn fork() -> c_int;
    safe fn _exit(status: c_int) -> !;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
}

/// Sets 1024 words on the device and reads them back.
fn work(driver: &Nvidia, value: u32) -> Result<(), (&'static str, CUresult)> {
    let named = |name, code: CUresult| if code.is_success() { Ok(()) } else { Err((name, code)) };
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

#[test]
fn parent_and_children_use_it_after_a_fork() {
    let test = std::env::current_exe().unwrap();
    let name = "libdacapo_libcuda.so";
    let path: Option<PathBuf> = test.ancestors().skip(1).take(2).map(|at| at.join(name)).find(|path| path.exists());
    // SAFETY: it is the library of this workspace.
    let driver = unsafe { Nvidia::open_path(&path.expect("cargo builds the library before its tests")) }.unwrap();
    let children: Vec<_> = (1..=2_u32)
        .map(|value| match fork() {
            0 => _exit(if work(&driver, value).is_ok() { 0 } else { 7 }),
            child => child,
        })
        .collect();
    for child in children {
        let mut status = -1;
        // SAFETY: `status` is a local.
        assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child's work failed or it died");
    }
    assert_eq!(work(&driver, 3), Ok(()));
}
