//! What a launch costs beside the driver: `cargo bench -p dacapo --bench launch`.
//!
//! Under the library is a driver that does nothing and succeeds, so all the time is the library's own. Each row is
//! measured twice: *warm*, in a row, the mean of the best block; and *cold*, the best median of single calls between which
//! other data and other code were walked through, because a driver's launch leaves little of ours in the caches. What
//! the clock itself costs is taken off. Run once and small by `cargo test`.

mod kit;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use dacapo::{Device, Result, Slot, baked, fill};
use kit::{Kernels, Nothing, Other};

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
    let device = unsafe { Device::from_driver(Arc::new(Nothing::default()), 0) }?;
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
