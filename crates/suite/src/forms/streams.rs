//! Several streams and threads: every call takes effect in the order in which the calls were made.

use std::sync::{Barrier, Mutex};

use dacapo::{Device, baked, copy, fill};

use super::check::{Failure, Outcome, same, shape};
use super::forms;
use super::kernels::{Kernels, churned};

forms!("streams":
    write_here_launch_there, alternately, two_graphs_one_buffer, next_batch_beside, three_threads, ten_graphs, eager_beside_graph,
    eager_on_two,
);

/// Steps of `churn`: long enough that what does not wait would come too early.
const ROUNDS: u32 = 3000;

/// Written on one stream, used by a graph on another, read on the first.
fn write_here_launch_there(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let mut graph = device.record(|r| {
        r.run(k.churn(baked(ROUNDS), &mut x))?;
        r.run(copy(&x, &mut y))
    })?;
    shape(&graph, 2, &[(0, 1)])?;
    for value in 1..5 {
        one.write(&mut x, &[value; 8])?;
        graph.launch(&two)?;
        same("y", one.read(&y)?, [churned(value, ROUNDS); 8])?;
    }
    Ok(())
}

/// One graph, launched on two streams in turn: it never overlaps itself.
fn alternately(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let mut graph = device.record(k.churn(baked(ROUNDS), &mut y))?;
    shape(&graph, 1, &[])?;
    for launch in 0..6 {
        graph.launch(if launch % 2 == 0 { &one } else { &two })?;
    }
    same("y", one.read(&y)?, [churned(0, 6 * ROUNDS); 4])
}

/// Two graphs that share a buffer, on two streams: one writes it, the other reads it.
fn two_graphs_one_buffer(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut x, mut seen) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
    let mut writer = device.record(k.churn(baked(ROUNDS), &mut x))?;
    let mut reader = device.record(copy(&x, &mut seen))?;
    shape(&writer, 1, &[])?;
    shape(&reader, 1, &[])?;
    for launch in 1..5 {
        writer.launch(&one)?;
        reader.launch(&two)?;
        // The next write waits for this read.
        writer.launch(&one)?;
        same("what was seen", two.read(&seen)?, [churned(0, (2 * launch - 1) * ROUNDS); 4])?;
    }
    Ok(())
}

/// The next batch is copied on a second stream beside the graph, into the other of two inputs.
fn next_batch_beside(device: &Device) -> Outcome {
    let (compute, transfer, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let mut inputs = [device.zeros::<u32>(8)?, device.zeros::<u32>(8)?];
    let mut results = [device.zeros::<u32>(8)?, device.zeros::<u32>(8)?];
    let mut graphs = Vec::new();
    for (input, result) in inputs.iter_mut().zip(&mut results) {
        let graph = device.record(|r| {
            r.run(copy(input, result))?;
            r.run(k.churn(baked(ROUNDS), result))
        })?;
        shape(&graph, 2, &[(0, 1)])?;
        graphs.push(graph);
    }
    transfer.write(&mut inputs[0], &[1; 8])?;
    for batch in 0..6u32 {
        let (now, next) = (batch as usize % 2, (batch as usize + 1) % 2);
        graphs[now].launch(&compute)?;
        transfer.write(&mut inputs[next], &[batch + 2; 8])?;
        same("the result", compute.read(&results[now])?, [churned(batch + 1, ROUNDS); 8])?;
    }
    Ok(())
}

/// Three threads, each with its stream, add to one buffer through graphs of their own.
fn three_threads(device: &Device) -> Outcome {
    let k = Kernels::load(device)?;
    let y = Mutex::new(device.zeros::<f32>(16)?);
    let begin = Barrier::new(3);
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let work = |by: f32| {
            let (begin, y, k) = (&begin, &y, &k);
            move || {
                let stream = device.stream();
                // Recorded before the barrier, so that nobody is left waiting if it fails.
                let graph = {
                    let mut y = y.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    device.record(k.add_stride(baked(by), &mut y))
                };
                begin.wait();
                let (stream, mut graph) = (stream?, graph?);
                shape(&graph, 1, &[])?;
                (0..10).try_for_each(|_| graph.launch(&stream).map(drop))?;
                Ok(stream.synchronize()?)
            }
        };
        let threads = [1.0, 100.0, 10_000.0].map(|by| scope.spawn(work(by)));
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| Err(Failure::new("a thread panicked")))).collect()
    });
    outcomes.into_iter().collect::<Outcome>()?;
    let y = y.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    same("y", device.stream()?.read(&y)?, [101_010.0; 16])
}

/// Ten graphs in flight on five streams, with a buffer between neighbours.
fn ten_graphs(device: &Device) -> Outcome {
    let k = Kernels::load(device)?;
    let streams = (0..5).map(|_| device.stream()).collect::<dacapo::Result<Vec<_>>>()?;
    let mut y = device.zeros::<u32>(11)?;
    let mut graphs = Vec::new();
    for i in 0..10 {
        // Each adds to two elements; neighbours share one.
        graphs.push(device.record(k.increment_first(baked(2), &mut y[i..i + 2]))?);
    }
    for round in 0..3 {
        for (i, graph) in graphs.iter_mut().enumerate() {
            shape(graph, 1, &[])?;
            graph.launch(&streams[(i + round) % 5])?;
        }
    }
    let mut want = [6; 11];
    (want[0], want[10]) = (3, 3);
    same("y", streams[0].read(&y)?, want)
}

/// Eager work and a graph on the same memory, on two streams.
fn eager_beside_graph(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    // The graph is quick and what it must wait for is slow: without an order it would come first.
    let mut graph = device.record(k.churn(baked(1), &mut y))?;
    shape(&graph, 1, &[])?;
    for round in 0..4 {
        one.run(fill(&mut y, baked(round)))?;
        one.run(k.churn(baked(ROUNDS), &mut y))?;
        graph.launch(&two)?;
        one.run(k.churn(baked(ROUNDS), &mut y))?;
        same("y", two.read(&y)?, [churned(round, 2 * ROUNDS + 1); 4])?;
    }
    Ok(())
}

/// Eager work on two streams, each behind the other's; reads that both may do at once change nothing.
fn eager_on_two(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut x, mut y, mut z) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
    for round in 1..4 {
        one.run(k.churn(baked(ROUNDS), &mut x))?;
        two.run(copy(&x, &mut y))?;
        one.run(copy(&x, &mut z))?;
        two.run(fill(&mut x, baked(round)))?;
        let want = churned(round - 1, ROUNDS);
        same("both copies", (one.read(&y)?, two.read(&z)?), (vec![want; 4], vec![want; 4]))?;
        same("x", one.read(&x)?, [round; 4])?;
    }
    Ok(())
}
