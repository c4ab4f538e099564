//! What the benchmarks of launches and recordings share: a driver that does nothing, and what stands between two cold calls.
#![allow(dead_code, reason = "each benchmark uses some of it")]

use std::ffi::c_int;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use dacapo_driver::types::{
    CUdevice, CUdevice_attribute, CUdeviceptr, CUfunction, CUfunction_attribute, CUgraphExec, CUstream,
};
use dacapo_driver::{CUresult, Call, Driver};

dacapo::kernels! {
    pub unsafe struct Kernels(include_str!("../../tests/saxpy.ptx")) {
        fn saxpy(n: i32 = y.len(), a: f32, x: &[f32], y: &mut [f32]) {
            entry: "saxpy_f32";
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

/// Every call succeeds and does nothing; limits are generous, memory is somewhere, and kernels are `saxpy_f32`.
#[derive(Default)]
pub struct Nothing {
    /// How many calls were made that are not launches of graphs: those are not even counted.
    pub others: AtomicU64,
}

#[allow(non_snake_case, reason = "C's names")]
impl Driver for Nothing {
    fn missing(&self, _: Call) -> CUresult {
        self.others.fetch_add(1, Ordering::Relaxed);
        CUresult::CUDA_SUCCESS
    }

    unsafe fn cuGraphLaunch(&self, _: CUgraphExec, _: CUstream) -> CUresult {
        CUresult::CUDA_SUCCESS
    }

    unsafe fn cuDeviceGetAttribute(&self, pi: *mut c_int, _: CUdevice_attribute, _: CUdevice) -> CUresult {
        // SAFETY: valid for the write, as the call's page demands.
        unsafe { pi.write(1024) };
        CUresult::CUDA_SUCCESS
    }

    unsafe fn cuFuncGetAttribute(&self, pi: *mut c_int, _: CUfunction_attribute, _: CUfunction) -> CUresult {
        // SAFETY: as above.
        unsafe { pi.write(256) };
        CUresult::CUDA_SUCCESS
    }

    unsafe fn cuFuncGetParamInfo(&self, _: CUfunction, n: usize, offset: *mut usize, size: *mut usize) -> CUresult {
        let known: [(usize, usize); 4] = [(0, 4), (4, 4), (8, 8), (16, 8)];
        let Some(&(at, bytes)) = known.get(n) else { return CUresult::CUDA_ERROR_INVALID_VALUE };
        // SAFETY: as above.
        unsafe {
            offset.write(at);
            size.write(bytes);
        }
        CUresult::CUDA_SUCCESS
    }

    unsafe fn cuMemAllocAsync(&self, address: *mut CUdeviceptr, _: usize, _: CUstream) -> CUresult {
        // SAFETY: as above.
        unsafe { address.write(0x7000_0000_0000) };
        CUresult::CUDA_SUCCESS
    }
}

/// Code that is nobody's: each `N` is another function, of a few hundred bytes.
#[inline(never)]
fn other_code<const N: u64>(mut x: u64) -> u64 {
    macro_rules! rounds { ($($r:literal)*) => { $( x = (x ^ (N.wrapping_mul($r) | 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left($r); )* } }
    rounds!(1 3 5 7 11 13 17 19 23 29 31 37);
    x
}

/// What stands between two cold calls: 2 MiB of data and about 60 KiB of code, more than a core's own caches hold.
pub struct Other {
    data: Vec<u64>,
    code: Vec<fn(u64) -> u64>,
}

impl Other {
    pub fn new() -> Other {
        let mut code: Vec<fn(u64) -> u64> = Vec::new();
        macro_rules! sixteen { ($($hi:literal)*) => { $( sixteen!(@ $hi, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15); )* }; (@ $hi:literal, $($lo:literal)*) => { $( code.push(other_code::<{ $hi * 16 + $lo }>); )* } }
        sixteen!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23);
        Other { data: vec![1; 2 * 1024 * 1024 / 8], code }
    }

    pub fn walk(&mut self) {
        for word in self.data.iter_mut().step_by(8) {
            *word = word.wrapping_add(1);
        }
        black_box(&mut self.data);
        black_box(self.code.iter().fold(0, |x, code| code(x)));
    }
}
