//! Drops: of anything, at any time, also while it is in use; nothing is freed under work that runs.

use dacapo::{Device, Slot, baked, copy, upload};

use super::check::{Outcome, holds, same, shape};
use super::forms;
use super::kernels::{Kernels, churned};

forms!("drops":
    buffer_while_running, kernels_while_running, stream_while_running, graph_while_running, device_last, host_while_running,
    memory_again, slot, in_another_thread,
);

/// Work that is still running when the next line is reached, on a GPU as well.
const ROUNDS: u32 = 2000;

/// The graph holds its buffers: the user's handle may go, before and while it runs.
fn buffer_while_running(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut hidden, mut y) = (device.zeros::<u32>(64)?, device.zeros::<u32>(64)?);
    let mut graph = device.record(|r| {
        r.run(k.churn(baked(ROUNDS), &mut hidden))?;
        r.run(copy(&hidden, &mut y))
    })?;
    shape(&graph, 2, &[(0, 1)])?;
    graph.launch(&stream)?;
    drop(hidden);
    graph.launch(&stream)?;
    // Whatever is allocated now is not what the graph still uses.
    let strangers: Vec<_> = (0..8).map(|_| device.buffer(&[u32::MAX; 64])).collect::<dacapo::Result<_>>()?;
    same("y", stream.read(&y)?, [churned(0, 2 * ROUNDS); 64])?;
    for stranger in &strangers {
        same("a stranger's memory", stream.read(stranger)?, [u32::MAX; 64])?;
    }
    let held: Vec<bool> = graph.inspect().memories.iter().map(|memory| memory.graph_only).collect();
    same("the report says what only the graph holds", held, [true, false])
}

/// A module stays loaded as long as a graph has one of its kernels.
fn kernels_while_running(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut y = device.zeros::<u32>(8)?;
    let before = device.counters().modules;
    let k = Kernels::load(device)?;
    let mut graph = device.record(k.churn(baked(ROUNDS), &mut y))?;
    shape(&graph, 1, &[])?;
    stream.run(k.churn(baked(ROUNDS), &mut y))?;
    drop(k);
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [churned(0, 2 * ROUNDS); 8])?;
    same("the module is there", device.counters().modules, before + 1)?;
    graph.launch(&stream)?;
    drop(graph);
    same("y again", stream.read(&y)?, [churned(0, 3 * ROUNDS); 8])?;
    device.synchronize()?;
    device.synchronize()?;
    same("the module is gone", device.counters().modules, before)
}

/// What is on a stream goes on without it, and who comes after still waits for it.
fn stream_while_running(device: &Device) -> Outcome {
    let k = Kernels::load(device)?;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(k.churn(baked(ROUNDS), &mut y))?;
    shape(&graph, 1, &[])?;
    for _ in 0..3 {
        let stream = device.stream()?;
        graph.launch(&stream)?;
        drop(stream);
    }
    let stream = device.stream()?;
    let launched = graph.launch(&stream)?;
    drop(stream);
    launched.wait()?;
    same("y", device.stream()?.read(&y)?, [churned(0, 4 * ROUNDS); 8])
}

/// A graph may go while it runs; its temps stay until it is over.
fn graph_while_running(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(64)?;
    for _ in 0..3 {
        let mut graph = device.record(|r| {
            let mut t = r.alloc(64)?;
            r.run(copy(&y, &mut t))?;
            r.run(k.churn(baked(ROUNDS), &mut t))?;
            r.run(copy(&t, &mut y))
        })?;
        shape(&graph, 3, &[(0, 1), (1, 2)])?;
        graph.launch(&stream)?;
        drop(graph);
        // Takes the memory that a temp freed too early would give.
        drop(device.buffer(&[u32::MAX; 64])?);
    }
    same("y", stream.read(&y)?, [churned(0, 3 * ROUNDS); 64])
}

/// Everything holds its device: the handle may go first.
fn device_last(device: &Device) -> Outcome {
    let clone = device.clone();
    let (stream, k) = (clone.stream()?, Kernels::load(&clone)?);
    let mut y = clone.zeros::<u32>(8)?;
    let mut graph = clone.record(k.churn(baked(ROUNDS), &mut y))?;
    shape(&graph, 1, &[])?;
    drop(clone);
    graph.launch(&stream)?;
    drop(k);
    same("y", stream.read(&y)?, [churned(0, ROUNDS); 8])?;
    same("its device", graph.device(), device)?;
    drop(stream);
    drop(y);
    holds("the graph is the last", !graph.is_empty())
}

/// Host memory is not given back while a copy reads it.
fn host_while_running(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(64)?;
    for value in 1..4 {
        let host = device.host(&[value; 64])?;
        stream.run(k.churn(baked(ROUNDS), &mut y))?;
        stream.run(upload(&host, &mut y))?;
        drop(host);
        let other = device.host(&[0u32; 64])?;
        same("y", stream.read(&y)?, [value; 64])?;
        drop(other);
    }
    let host = device.host(&[5u32; 64])?;
    let mut graph = device.record(upload(&host, &mut y))?;
    shape(&graph, 1, &[])?;
    drop(host);
    graph.launch(&stream)?;
    same("through the graph", stream.read(&y)?, [5; 64])
}

/// A busy buffer that is dropped gives its memory back in order: what takes it next is not overwritten.
fn memory_again(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    for round in 0..6u32 {
        let mut busy = device.buffer(&[round; 64])?;
        one.run(k.churn(baked(ROUNDS), &mut busy))?;
        drop(busy);
        let mut next = device.buffer(&[round + 100; 64])?;
        let mut graph = device.record(k.increment_first(baked(64), &mut next))?;
        shape(&graph, 1, &[])?;
        graph.launch(&two)?;
        same("next", two.read(&next)?, [round + 101; 64])?;
    }
    Ok(())
}

/// A slot may go: the graph keeps the last value.
fn slot(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let rounds = Slot::new(1);
    let mut graph = device.record(k.churn(&rounds, &mut y))?;
    shape(&graph, 1, &[])?;
    rounds.set(5);
    drop(rounds);
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [churned(0, 10); 4])
}

/// Made here, dropped there: graphs, buffers and streams are `Send`, and drops run on any thread.
fn in_another_thread(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let mut graph = device.record(|r| {
        r.run(k.churn(baked(ROUNDS), &mut x))?;
        r.run(copy(&x, &mut y))
    })?;
    shape(&graph, 2, &[(0, 1)])?;
    graph.launch(&stream)?;
    let other = device.stream()?;
    graph.launch(&other)?;
    std::thread::spawn(move || drop((graph, x, k, other))).join().map_err(|_| super::Failure::new("a panic"))?;
    same("y", stream.read(&y)?, [churned(0, 2 * ROUNDS); 8])
}
