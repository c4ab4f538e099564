//! What recording and planning costs: `cargo bench -p dacapo --bench record`.
//!
//! A chain, and a mix over many buffers, of 1 to 100,000 ops with three accesses each, recorded and planned but not
//! lowered: no driver call is in it. Run once and small by `cargo test`.

use std::hint::black_box;
use std::time::Instant;

use dacapo::{Buffer, Device, Result, Slot};

dacapo::kernels! {
    /// Two inputs, one output.
    unsafe struct Kernels(include_str!("../tests/saxpy.ptx")) {
        fn saxpy(n: i32 = y.len(), a: f32, x: &[f32], y: &mut [f32]) {
            entry: "saxpy_f32";
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

fn main() -> Result<()> {
    let quick = !std::env::args().any(|arg| arg == "--bench");
    let device = Device::software()?;
    let k = Kernels::load(&device)?;
    let a = Slot::new(1.0f32);
    let mut buffers: Vec<Buffer<f32>> = (0..1000).map(|_| device.zeros(64)).collect::<Result<_>>()?;
    println!("recording and planning, medians of {} runs", if quick { 1 } else { 21 });
    println!("{:>8}  {:>12}  {:>12}", "ops", "chain", "mixed");
    for ops in [1usize, 10, 100, 1_000, 10_000, 100_000] {
        if quick && ops > 1_000 {
            break;
        }
        let chain = |buffers: &mut [Buffer<f32>]| {
            let (x, y) = buffers.split_at_mut(1);
            let (x, y) = (&x[0], &mut y[0]);
            device.graph().plan_only(|r: &mut dacapo::Recorder<'_>| (0..ops).try_for_each(|_| r.run(k.saxpy(&a, x, y))))
        };
        let chain_time = median(quick, || chain(&mut buffers))?;
        let mixed = |buffers: &mut [Buffer<f32>]| {
            device.graph().plan_only(|r: &mut dacapo::Recorder<'_>| {
                let mut state = 1u32;
                (0..ops).try_for_each(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let at = 1 + (state >> 8) as usize % 999;
                    let (left, right) = buffers.split_at_mut(at);
                    r.run(k.saxpy(&a, &left[at / 2], &mut right[0]))
                })
            })
        };
        let mixed_time = median(quick, || mixed(&mut buffers))?;
        println!("{ops:>8}  {chain_time:>9.1} us  {mixed_time:>9.1} us");
    }
    Ok(())
}

/// The median time of one call, in microseconds.
fn median(quick: bool, mut call: impl FnMut() -> Result<usize>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..if quick { 1 } else { 21 } {
        let started = Instant::now();
        black_box(call()?);
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
