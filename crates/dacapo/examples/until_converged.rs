//! A loop that the device ends: one launch runs rounds until a number is small enough.
//!
//! `cargo run -p dacapo --example until_converged`

use dacapo::flow::{above, nonzero, up_to};
use dacapo::{Device, Result, Slot, baked, copy, fill};

dacapo::kernels! {
    /// What is in `saxpy.ptx`.
    pub unsafe struct Kernels(include_str!("../kernels/saxpy.ptx")) {
        /// y ← a·x + y
        fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

/// Halves a number until it is at most the tolerance; says whether that took too long.
pub fn main() -> Result<()> {
    let device = Device::best()?;
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;

    let mut x = device.buffer(&[8.0f32])?;
    let (mut rounds, mut gave_up) = (device.scalar(0u32)?, device.scalar(0u32)?);
    let tolerance = Slot::new(1.0f32); // a slot: changed between launches

    let mut graph = device.record(|r| {
        let mut half = r.alloc(1)?;
        let done = r.repeat(up_to(baked(20)), |r| {
            r.run(copy(&x, &mut half))?;
            r.run(k.saxpy(baked(-0.5), &half, &mut x))?; // x ← x - x / 2
            Ok(above(x.at(0), &tolerance)) // goes on while this holds
        })?;
        r.run(copy(done.count().as_slice(), rounds.as_mut_slice()))?;
        // What is only done sometimes: here, if the bound ended the loop.
        r.when(nonzero(done.hit_bound()), |r| r.run(fill(gave_up.as_mut_slice(), baked(1)))).map(drop)
    })?;
    graph.launch(&stream)?;
    assert_eq!((stream.read(&x)?[0], rounds.get(&stream)?), (1.0, 3));

    tolerance.set(0.0); // never reached
    graph.launch(&stream)?;
    assert_eq!((rounds.get(&stream)?, gave_up.get(&stream)?), (20, 1));
    Ok(())
}
