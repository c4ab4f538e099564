//! What a launch costs beside the driver: `cargo bench -p dacapo --bench launch`.
//!
//! Under the library is a driver that does nothing and succeeds, so all the time is the library's own. Each row is
//! measured twice: *warm*, in a row, the mean of the best block; and *cold*, the best median of single calls between which
//! other data and other code were walked through, because a driver's launch leaves little of ours in the caches. What
//! the clock itself costs is taken off. Run once and small by `cargo test`.

use std::ffi::c_int;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use dacapo::{Device, Result, Slot, baked, fill};
use dacapo_driver::types::{CUdevice, CUdevice_attribute, CUdeviceptr, CUfunction, CUfunction_attribute, CUstream};
use dacapo_driver::{CUresult, Call, Driver};

dacapo::kernels! {
    unsafe struct Kernels(include_str!("../tests/saxpy.ptx")) {
        fn saxpy(n: i32 = y.len(), a: f32, x: &[f32], y: &mut [f32]) {
            entry: "saxpy_f32";
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

/// Every call succeeds and does nothing; limits are generous, memory is somewhere, and kernels are `saxpy_f32`.
struct Nothing;

#[allow(non_snake_case, reason = "C's names")]
impl Driver for Nothing {
    fn missing(&self, _: Call) -> CUresult {
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

/// What stands between two cold launches: 2 MiB of data and about 60 KiB of code, more than a core's own caches hold.
struct Other {
    data: Vec<u64>,
    code: Vec<fn(u64) -> u64>,
}

impl Other {
    fn new() -> Other {
        let mut code: Vec<fn(u64) -> u64> = Vec::new();
        macro_rules! sixteen { ($($hi:literal)*) => { $( sixteen!(@ $hi, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15); )* }; (@ $hi:literal, $($lo:literal)*) => { $( code.push(other_code::<{ $hi * 16 + $lo }>); )* } }
        sixteen!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23);
        Other { data: vec![1; 2 * 1024 * 1024 / 8], code }
    }

    fn walk(&mut self) {
        for word in self.data.iter_mut().step_by(8) {
            *word = word.wrapping_add(1);
        }
        black_box(&mut self.data);
        black_box(self.code.iter().fold(0, |x, code| code(x)));
    }
}

struct Bench {
    launches: usize,
    other: Other,
    /// What two looks at the clock cost after a walk.
    clock: f64,
}

impl Bench {
    fn cold(&mut self, call: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let mut best = f64::MAX;
        for _ in 0..5 {
            let mut times = Vec::new();
            for _ in 0..(self.launches / 100).max(10) {
                self.other.walk();
                let started = Instant::now();
                call()?;
                times.push(started.elapsed().as_nanos() as f64);
            }
            times.sort_by(f64::total_cmp);
            best = best.min(times[times.len() / 2]);
        }
        Ok(best - self.clock)
    }

    fn row(&mut self, name: &str, call: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let mut best = f64::MAX;
        for _ in 0..11 {
            let started = Instant::now();
            for _ in 0..self.launches {
                call()?;
            }
            best = best.min(started.elapsed().as_nanos() as f64 / self.launches as f64);
        }
        let cold = self.cold(call)?;
        println!("{name:<42} {best:>7.1} {cold:>7.1}");
        Ok(())
    }
}

fn main() -> Result<()> {
    let quick = !std::env::args().any(|arg| arg == "--bench");
    let launches = if quick { 100 } else { 200_000 };
    // SAFETY: nothing is executed and no memory is read: addresses are never looked behind.
    let device = unsafe { Device::from_driver(Arc::new(Nothing), 0) }?;
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;
    let (x, mut y) = (device.zeros::<f32>(1024)?, device.zeros::<f32>(1024)?);
    let (value, factor, word) = (Slot::new(0f32), Slot::new(0f32), Slot::new(0u32));
    let mut z = device.zeros::<u32>(0)?;
    let mut plain = device.record(|r| r.run(fill(&mut z, baked(1))))?;
    let mut nothing = device.record(|r| r.run(fill(&mut z, &word)))?;
    let mut filled = device.record(|r| r.run(fill(&mut y, &value)))?;
    let mut ten = device.record(|r| {
        for n in 0..10 {
            match n {
                4 => r.run(k.saxpy(&factor, &x, &mut y))?,
                _ => r.run(k.saxpy(baked(1.0), &x, &mut y))?,
            }
        }
        Ok(())
    })?;

    let mut bench = Bench { launches, other: Other::new(), clock: 0.0 };
    bench.clock = bench.cold(&mut || Ok(()))?;
    println!("{:<42} {:>7} {:>7}   ns; {launches} launches a block", "", "warm", "cold");
    let mut number = 0;
    bench.row("launch", &mut || {
        black_box(plain.launch(&stream)?);
        Ok(())
    })?;
    bench.row("changed slot and launch: an empty fill", &mut || {
        number += 1;
        word.set(number);
        black_box(nothing.launch(&stream)?);
        Ok(())
    })?;
    bench.row("changed slot and launch: a fill", &mut || {
        number += 1;
        value.set(number as f32);
        black_box(filled.launch(&stream)?);
        Ok(())
    })?;
    bench.row("launch of ten kernels with one slot", &mut || {
        black_box(ten.launch(&stream)?);
        Ok(())
    })?;
    bench.row("changed slot and launch: one of ten kernels", &mut || {
        number += 1;
        factor.set(number as f32);
        black_box(ten.launch(&stream)?);
        Ok(())
    })
}
