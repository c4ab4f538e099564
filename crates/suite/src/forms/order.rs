//! Order inside a graph: edges come from what is read and written, and from nothing else.

use std::collections::BTreeSet;

use dacapo::inspect::Kind;
use dacapo::{Device, Recorder, baked, copy, fill};

use super::check::{Outcome, holds, same, shape};
use super::forms;
use super::kernels::{Kernels, ramp};

forms!("order": halves, chunks, diamond, straight_line, write_after_read, many_to_many);

/// The halves of one buffer, written in parallel.
fn halves(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(10))?, device.zeros::<f32>(10)?);
    let mut graph = device.record(|r| {
        let (low, high) = y.split_at_mut(4);
        r.run(k.add(&x[..4], baked(1.0), low))?;
        r.run(k.add(&x[4..], baked(2.0), high))
    })?;
    shape(&graph, 2, &[])?;
    graph.launch(&stream)?;
    let want: Vec<f32> = (0..10).map(|i| i as f32 + if i < 4 { 1.0 } else { 2.0 }).collect();
    same("y", stream.read(&y)?, want)
}

/// Pieces in parallel, then one op over all of them.
fn chunks(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(10)?;
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let mut total = r.output_scalar::<f32>()?;
        for (i, piece) in y.chunks_mut(3).enumerate() {
            r.run(fill(piece, baked(i as f32)))?;
        }
        r.run(k.sum(&y, &mut total))?;
        Ok(total)
    })?;
    shape(&graph, 5, &[(0, 4), (1, 4), (2, 4), (3, 4)])?;
    same("the total", graph.launch_sync(&stream)?.get(&stream)?, 12.0)
}

/// A fork and a join.
fn diamond(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&ramp(8))?;
    //        ┌─► left ──┐
    // first ─┤          ├─► product
    //        └─► right ─┘
    let mut graph = device.record(|r| {
        let (mut first, mut left, mut right) = (r.alloc(8)?, r.alloc(8)?, r.alloc(8)?);
        let mut y = r.output(8)?;
        r.run(k.add(&x, baked(1.0), &mut first))?;
        r.run(k.add(&first, baked(1.0), &mut left))?;
        r.run(k.add(&first, baked(2.0), &mut right))?;
        r.run(k.multiply(&left, &right, &mut y))?;
        Ok(y)
    })?;
    shape(&graph, 4, &[(0, 1), (0, 2), (1, 3), (2, 3)])?;
    let want: Vec<f32> = ramp(8).iter().map(|x| (x + 2.0) * (x + 3.0)).collect();
    for _ in 0..3 {
        same("y", stream.read(graph.launch_sync(&stream)?)?, &want[..])?;
    }
    Ok(())
}

/// One after the other, whatever the data would allow.
fn straight_line(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let body = |r: &mut Recorder<'_>| {
        let mut y = r.output::<u32>(8)?;
        for (i, piece) in y.chunks_mut(2).enumerate() {
            r.run(fill(piece, baked(i as u32)))?;
        }
        Ok(y)
    };
    let mut line = device.graph().straight_line().record(body)?;
    shape(&line, 4, &[(0, 1), (1, 2), (2, 3)])?;
    let mut data = device.record(body)?;
    shape(&data, 4, &[])?;
    let (line, data) = (line.launch_sync(&stream)?, data.launch_sync(&stream)?);
    same("the line", stream.read(line)?, [0, 0, 1, 1, 2, 2, 3, 3])?;
    same("by data", stream.read(data)?, stream.read(line)?)
}

/// A write waits for the reads before it, also when nobody reads it again.
fn write_after_read(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut x = device.buffer(&ramp(6))?;
    let (mut y, mut z) = (device.zeros::<f32>(6)?, device.zeros::<f32>(6)?);
    let mut graph = device.record(|r| {
        r.run(copy(&x, &mut y))?;
        r.run(k.add(&x, baked(1.0), &mut z))?;
        r.run(fill(&mut x, baked(-1.0)))?;
        r.run(k.saxpy(baked(1.0), &z, &mut y))
    })?;
    shape(&graph, 4, &[(0, 2), (0, 3), (1, 2), (1, 3)])?;
    graph.launch(&stream)?;
    let want: Vec<f32> = ramp(6).iter().map(|x| x + x + 1.0).collect();
    same("y", stream.read(&y)?, want)?;
    same("x", stream.read(&x)?, [-1.0; 6])
}

/// Many readers, then many writers of parts: a node between them stands for all the edges.
fn many_to_many(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut x = device.buffer(&[1.0f32; 32])?;
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let mut totals = r.output::<f32>(16)?;
        for i in 0..16 {
            r.run(k.sum(&x, totals.at_mut(i)))?;
        }
        for (i, piece) in x.chunks_mut(2).enumerate() {
            r.run(fill(piece, baked(i as f32)))?;
        }
        Ok(totals)
    })?;
    same("ops", graph.len(), 32)?;
    let report = graph.inspect();
    holds("there is a join", report.nodes.iter().any(|node| node.kind == Kind::Join))?;
    holds("there are fewer edges than pairs", report.totals.edges < 16 * 16)?;
    // Every writer is behind every reader, by whatever path.
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    for node in 0..report.nodes.len() {
        let behind = report.edges.iter().filter(|(_, to, _)| *to == node).map(|(from, _, _)| *from);
        before.push(behind.flat_map(|from| before[from].iter().copied().chain([from])).collect());
    }
    let named = |name: &'static str| report.nodes.iter().filter(move |node| node.name == name).map(|node| node.index);
    for writer in named("fill") {
        for reader in named("sum") {
            holds("a writer is behind each reader", before[writer].contains(&reader))?;
        }
    }
    same("the totals", stream.read(graph.launch_sync(&stream)?)?, [32.0; 16])?;
    let want = (0..16).flat_map(|i| [i as f32; 2]).collect::<Vec<_>>();
    same("x", stream.read(&x)?, &want[..])?;
    same("the totals of the second launch", stream.read(graph.launch_sync(&stream)?)?, [240.0; 16])
}
