//! Opening a device beside another one on the same driver, using it, closing it.
//!
//! The first device holds the primary context, so nothing of the second goes with it: what its end leaves behind is seen.

use dacapo::{Device, Result, baked, copy, fill};

use super::{Bench, right, scenarios};
use crate::forms::kernels::{Kernels, churned};

scenarios!("opening": open_close, use_and_close, close_in_flight, close_with_all_kinds, streams, load_and_unload);

fn open(bench: &Bench) -> Result<Device> {
    // SAFETY: the machine with faults before it, which claims no success that was none.
    unsafe { Device::from_driver(bench.driver.clone(), 0) }
}

/// A device that is not used.
fn open_close(bench: &Bench) -> Result<()> {
    let device = open(bench)?;
    right("its name", device.properties().name.is_empty(), false)
}

/// Some of everything, all of it given back before the device goes.
fn use_and_close(bench: &Bench) -> Result<()> {
    let device = open(bench)?;
    let stream = device.stream()?;
    let mut y = device.buffer(&[1u32, 2, 3])?;
    let mut graph = device.record(fill(&mut y[..2], baked(7)))?;
    graph.launch_sync(&stream)?;
    right("y", stream.read(&y)?, [7, 7, 3])?;
    drop((graph, y));
    device.synchronize()
}

/// The device goes while its work runs: nobody waits, and nothing is freed under it.
fn close_in_flight(bench: &Bench) -> Result<()> {
    let device = open(bench)?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let mut y = device.zeros::<u32>(64)?;
    let mut graph = device.record(k.churn(baked(40), &mut y))?;
    graph.launch(&stream)?;
    right("y", stream.read(&y)?, [churned(0, 40); 64])?;
    graph.launch(&stream)?;
    // It is over when somebody asked.
    stream.synchronize()
}

/// What is in the queue when the device goes: memory, host memory, graphs, streams, modules, values.
fn close_with_all_kinds(bench: &Bench) -> Result<()> {
    let device = open(bench)?;
    let (stream, other, k) = (device.stream()?, device.stream()?, Kernels::load(&device)?);
    let host = device.host(&[5u32; 8])?;
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let mut graph = device.record(|r| {
        r.keep(bench.token.clone());
        r.run(dacapo::upload(&host, &mut x))?;
        r.run(k.churn(baked(3), &mut x))?;
        r.run(copy(&x, &mut y))
    })?;
    graph.launch(&stream)?;
    graph.launch(&other)?;
    right("y", other.read(&y)?, [churned(5, 3); 8])?;
    stream.synchronize()?;
    drop((graph, host, x, y, k, stream, other));
    Ok(())
}

/// Streams come and go, with work on them.
fn streams(bench: &Bench) -> Result<()> {
    let mut y = bench.device.zeros::<u32>(8)?;
    for _ in 0..3 {
        let stream = bench.device.stream()?;
        stream.run(bench.k.churn(baked(2), &mut y))?;
    }
    let last = bench.device.stream()?;
    right("y", last.read(&y)?, [churned(0, 6); 8])?;
    right("it is done", last.is_done()?, true)?;
    bench.device.synchronize()
}

/// A module with its entry points and a global; its kernels; unloaded when its last work is over.
fn load_and_unload(bench: &Bench) -> Result<()> {
    let k = Kernels::load(&bench.device)?;
    let mut calls = bench.device.scalar(0u32)?;
    bench.stream.run(k.count_call(&mut calls))?;
    bench.stream.run(k.count_call(&mut calls))?;
    right("calls", calls.get(&bench.stream)?, 2)?;
    drop(k);
    bench.device.synchronize()
}
