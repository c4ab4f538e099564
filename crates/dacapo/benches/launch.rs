//! What a launch costs beside the driver: `cargo bench -p dacapo --bench launch`.
//!
//! Under the library is a driver that does nothing and succeeds, so all the time is the library's own. Run once and
//! small by `cargo test`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use dacapo::{Device, Result, Slot, baked, fill};
use dacapo_driver::{CUresult, Call, Driver};

/// Every call succeeds and does nothing.
struct Nothing;

impl Driver for Nothing {
    fn missing(&self, _: Call) -> CUresult {
        CUresult::CUDA_SUCCESS
    }
}

fn main() -> Result<()> {
    let quick = !std::env::args().any(|arg| arg == "--bench");
    let launches = if quick { 100 } else { 200_000 };
    // SAFETY: nothing is executed and no memory is read: buffers are at address 0 and never touched.
    let device = unsafe { Device::of_driver(Arc::new(Nothing), 0) }?;
    let stream = device.stream()?;
    let mut y = device.zeros::<u32>(0)?;
    let slot = Slot::new(0u32);
    let mut plain = device.record(|r| r.run(fill(&mut y, baked(1))))?;
    let mut slotted = device.record(|r| r.run(fill(&mut y, &slot)))?;
    let mut number = 0;
    let per_launch = |name: &str, call: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        let mut best = f64::MAX;
        for _ in 0..11 {
            let started = Instant::now();
            for _ in 0..launches {
                call()?;
            }
            best = best.min(started.elapsed().as_nanos() as f64 / launches as f64);
        }
        println!("{name:<24} {best:>7.1} ns");
        Ok(())
    };
    println!("the best of 11 blocks of {launches} launches");
    per_launch("launch", &mut || {
        black_box(plain.launch(&stream)?);
        Ok(())
    })?;
    per_launch("changed slot and launch", &mut || {
        number += 1;
        slot.set(number);
        black_box(slotted.launch(&stream)?);
        Ok(())
    })
}
