//! What recording and planning costs: `cargo bench -p dacapo --bench record`.
//!
//! A chain, and a mix over many buffers, of 1 to 100,000 ops with three accesses each, recorded and planned but not
//! lowered: no driver call is in it. The third column is the mix as a whole graph, over a driver that does nothing. Run once
//! and small by `cargo test`.
//!
//! The graphs of the third column are kept, as a program keeps its graphs. What is only planned is dropped: of a small
//! recording the allocator keeps the memory for the next one, of a large one it gives it back to the system, which takes
//! longer to hand it out again than an op takes to be recorded.

mod kit;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use dacapo::{Buffer, Device, Recorder, Result, Slot};
use kit::{Kernels, Nothing};

fn main() -> Result<()> {
    let quick = !std::env::args().any(|arg| arg == "--bench");
    let device = Device::software()?;
    let k = Kernels::load(&device)?;
    let a = Slot::new(1.0f32);
    let mut buffers: Vec<Buffer<f32>> = (0..1000).map(|_| device.zeros(64)).collect::<Result<_>>()?;
    // SAFETY: nothing is executed and no memory is read: addresses are never looked behind.
    let nowhere = unsafe { Device::from_driver(Arc::new(Nothing::default()), 0) }?;
    let nowhere_k = Kernels::load(&nowhere)?;
    let mut nowhere_buffers: Vec<Buffer<f32>> = (0..1000).map(|_| nowhere.zeros(64)).collect::<Result<_>>()?;
    println!("recording and planning, medians of {} runs", if quick { 1 } else { 21 });
    println!("{:>8}  {:>12}  {:>12}  {:>18}", "ops", "chain", "mixed", "whole, an op");
    for ops in [1usize, 10, 100, 1_000, 10_000, 100_000] {
        if quick && ops > 1_000 {
            break;
        }
        let chain = |buffers: &mut [Buffer<f32>]| {
            let (x, y) = buffers.split_at_mut(1);
            let (x, y) = (&x[0], &mut y[0]);
            device.graph().plan_only(|r: &mut Recorder<'_>| (0..ops).try_for_each(|_| r.run(k.saxpy(&a, x, y))))
        };
        let chain_time = median(if quick { 1 } else { 21 }, || chain(&mut buffers))?;
        let mixed_time = median(if quick { 1 } else { 21 }, || {
            device.graph().plan_only(|r: &mut Recorder<'_>| mixed(r, &k, &a, &mut buffers, ops))
        })?;
        // Kept: of the largest only as many as memory is sure to hold.
        let runs = if quick { 1 } else { 300_000 / ops.max(14_000) };
        let whole_time = median(runs, || {
            let graph = nowhere.record(|r: &mut Recorder<'_>| mixed(r, &nowhere_k, &a, &mut nowhere_buffers, ops))?;
            std::mem::forget(graph);
            Ok(ops)
        })?;
        let an_op = whole_time * 1e3 / ops as f64;
        println!("{ops:>8}  {chain_time:>9.1} us  {mixed_time:>9.1} us  {an_op:>15.0} ns");
    }
    Ok(())
}

/// Ops on two of the buffers each.
fn mixed(r: &mut Recorder<'_>, k: &Kernels, a: &Slot<f32>, buffers: &mut [Buffer<f32>], ops: usize) -> Result<()> {
    let mut state = 1u32;
    (0..ops).try_for_each(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let at = 1 + (state >> 8) as usize % 999;
        let (left, right) = buffers.split_at_mut(at);
        r.run(k.saxpy(a, &left[at / 2], &mut right[0]))
    })
}

/// The median time of one call, in microseconds.
fn median(runs: usize, mut call: impl FnMut() -> Result<usize>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..runs {
        let started = Instant::now();
        black_box(call()?);
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
