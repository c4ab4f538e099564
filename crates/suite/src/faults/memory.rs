//! Memory of all kinds, and copies between them.

use dacapo::{Recorder, Result, baked, copy, download, fill, upload};

use super::{Bench, right, scenarios};
use crate::forms::kernels::churned;

scenarios!("memory":
    buffers, writes_and_reads, host_buffers, scalars, temps_and_outputs, eager_temps, wide_fills, freed_and_taken_again,
);

/// Made with elements, with zeros, empty; dropped at once.
fn buffers(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (x, y) = (device.buffer(&[1.5f32, 2.5])?, device.zeros::<u8>(100)?);
    right("nothing", device.zeros::<u64>(0)?.len(), 0)?;
    right("x", stream.read(&x)?, [1.5, 2.5])?;
    drop(x);
    right("y", stream.read(&y[..3])?, [0; 3])?;
    drop(y);
    device.synchronize()
}

/// Through page-locked memory of the library's own, on two streams.
fn writes_and_reads(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let other = device.stream()?;
    let mut x = device.zeros::<u32>(6)?;
    for value in 1..4 {
        stream.write(&mut x[..3], &[value; 3])?;
        other.write(&mut x[3..], &[value + 10; 3])?;
    }
    right("x", stream.read(&x)?, [3, 3, 3, 13, 13, 13])?;
    other.synchronize()
}

/// Host memory, eagerly and in a graph, dropped while a copy may read it.
fn host_buffers(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (mut next, mut result) = (device.host(&[1u32; 8])?, device.host(&[0u32; 8])?);
    let mut x = device.zeros::<u32>(8)?;
    let mut graph = device.record(|r| {
        r.run(upload(&next, &mut x))?;
        r.run(download(&x, &mut result))
    })?;
    graph.launch(stream)?;
    right("1", result.to_vec()?, [1; 8])?;
    next.set(&[2; 8])?;
    graph.launch(stream)?;
    right("2", result.to_vec()?, [2; 8])?;
    drop(graph);
    next.set(&[3; 8])?;
    stream.run(upload(&next, &mut x))?;
    drop(next);
    right("3", stream.read(&x)?, [3; 8])
}

/// Numbers in device memory.
fn scalars(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut by, mut total) = (device.scalar(2.0f32)?, device.scalar(1.0f32)?);
    let mut graph = device.record(k.add_to(&by, &mut total))?;
    graph.launch(stream)?;
    by.set(stream, 10.0)?;
    graph.launch(stream)?;
    right("total", total.get(stream)?, 13.0)
}

/// Memory of a recording: planned, and handed out.
fn temps_and_outputs(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let x = device.buffer(&[1.0f32, 2.0, 3.0])?;
    let mut graph = device.record(|r| {
        let (mut t, mut y, mut total) = (r.alloc(3)?, r.output(3)?, r.output_scalar::<f32>()?);
        r.run(k.add(&x, baked(1.0), &mut t))?;
        r.run(k.add(&t, baked(1.0), &mut y))?;
        r.run(k.sum(&y, &mut total))?;
        Ok((y, total))
    })?;
    let (y, total) = graph.launch_sync(stream)?;
    right("y", stream.read(y)?, [3.0, 4.0, 5.0])?;
    right("total", total.get(stream)?, 12.0)?;
    let (y, _) = graph.into_outputs();
    right("y alone", stream.read(&y)?, [3.0, 4.0, 5.0])
}

/// Temps of an eager run come from the stream and go back to it.
fn eager_temps(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(5)?;
    stream.run(|r: &mut Recorder<'_>| {
        let (mut s, mut t) = (r.alloc::<u32>(5)?, r.alloc::<u32>(5)?);
        r.run(fill(&mut s, baked(4)))?;
        r.run(k.churn(baked(2), &mut s))?;
        r.run(copy(&s, &mut t))?;
        r.run(copy(&t, &mut y))
    })?;
    right("y", stream.read(&y)?, [churned(4, 2); 5])
}

/// Elements that a memset does not know: a kernel of the library's own.
fn wide_fills(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (mut x, mut y) = (device.zeros::<f64>(3)?, device.zeros::<u16>(3)?);
    let mut graph = device.record(|r| {
        r.run(fill(&mut x, baked(1.5)))?;
        r.run(fill(&mut y, baked(9)))
    })?;
    graph.launch(stream)?;
    stream.run(fill(&mut y[..1], baked(7)))?;
    drop(graph);
    right("x and y", (stream.read(&x)?, stream.read(&y)?), (vec![1.5; 3], vec![7, 9, 9]))
}

/// Memory that is dropped while it is in use goes back behind its last use; the next owner is not disturbed.
fn freed_and_taken_again(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let other = device.stream()?;
    for round in 0..3u32 {
        let mut busy = device.buffer(&[round; 16])?;
        stream.run(k.churn(baked(20), &mut busy))?;
        drop(busy);
        let mut next = device.buffer(&[round + 5; 16])?;
        other.run(k.increment_first(baked(16), &mut next))?;
        right("next", other.read(&next)?, [round + 6; 16])?;
    }
    Ok(())
}
