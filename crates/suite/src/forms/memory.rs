//! Memory: temps, outputs, host buffers, slices, half precision, none at all, and a lot.

use dacapo::half::{bf16, f16};
use dacapo::inspect::MemoryKind;
use dacapo::{Device, ErrorKind, Recorder, Slice, Temp, baked, copy, download, fill, upload};

use super::check::{Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Kernels, ramp};

forms!("memory":
    temps, temp_from_helper, uninit_temp, outputs, host_buffers, download_then_upload, slices, half_precision, shared_handle,
    zero_length, over_staging_piece, alignment,
);

/// Planned memory between three ops.
fn temps(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(20))?, device.zeros::<f32>(20)?);
    let mut graph = device.record(|r| {
        let (mut s, mut t) = (r.alloc(20)?, r.alloc(20)?);
        r.run(k.add(&x, baked(1.0), &mut s))?;
        r.run(k.add(&s, baked(1.0), &mut t))?;
        r.run(k.multiply(&s, &t, &mut y))
    })?;
    // The first edge to the last op is implied by the path through the second.
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    holds("the temps have memory", graph.memory().temps() >= 80)?;
    let kinds: Vec<MemoryKind> = graph.inspect().memories.iter().map(|memory| memory.kind).collect();
    same("temps in the report", kinds.iter().filter(|kind| **kind == MemoryKind::Temp).count(), 2)?;
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    let want: Vec<f32> = ramp(20).iter().map(|x| (x + 1.0) * (x + 2.0)).collect();
    same("y", stream.read(&y)?, want)
}

fn hidden<'r>(r: &mut Recorder<'r>, k: &Kernels, x: &Slice<f32>) -> dacapo::Result<Temp<'r, f32>> {
    let mut t = r.alloc(x.len())?;
    r.run(k.add(x, baked(0.5), &mut t))?;
    Ok(t)
}

/// A helper gives its temp to who called it.
fn temp_from_helper(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(7))?, device.zeros::<f32>(7)?);
    let mut graph = device.record(|r| {
        let first = hidden(r, &k, &x)?;
        let second = hidden(r, &k, &first)?;
        r.run(copy(&second, &mut y))
    })?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    graph.launch(&stream)?;
    let want: Vec<f32> = ramp(7).iter().map(|x| x + 1.0).collect();
    same("y", stream.read(&y)?, want)
}

/// A temp that nobody wrote is not read; one value of it is a temp too.
fn uninit_temp(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(4)?;
    let unwritten = device.record(|r| {
        let t = r.alloc::<f32>(4)?;
        r.run(copy(&t, &mut y))
    });
    refused("a read of an unwritten temp", unwritten, |kind| matches!(kind, ErrorKind::UninitTemp { .. }))?;
    let x = device.buffer(&[1.0, 2.0, 3.0, 4.0])?;
    let mut graph = device.record(|r| {
        let mut total = r.alloc_scalar::<f32>()?;
        r.run(k.sum(&x, &mut total))?;
        r.run(k.add(&x, baked(0.0), &mut y))?;
        r.run(k.scale_by(&total, &mut y))
    })?;
    shape(&graph, 3, &[(0, 2), (1, 2)])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [10.0, 20.0, 30.0, 40.0])
}

/// Outputs are zero before the first launch, lent after it, and the user's in the end.
fn outputs(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut x = device.buffer(&[1.0, 2.0])?;
    let mut graph = device.record(|r| {
        let (mut y, mut total) = (r.output::<f32>(2)?, r.output_scalar::<f32>()?);
        r.run(k.add(&x, baked(1.0), &mut y))?;
        r.run(k.sum(&y, &mut total))?;
        Ok((y, total))
    })?;
    shape(&graph, 2, &[(0, 1)])?;
    same("before", (stream.read(&graph.outputs().0)?, graph.outputs().1.get(&stream)?), (vec![0.0; 2], 0.0))?;
    let (y, total) = graph.launch_sync(&stream)?;
    same("the first launch", (stream.read(y)?, total.get(&stream)?), (vec![2.0, 3.0], 5.0))?;
    stream.write(&mut x, &[10.0, 20.0])?;
    graph.launch(&stream)?;
    let (y, total) = graph.into_outputs();
    same("the second, without the graph", (stream.read(&y)?, total.get(&stream)?), (vec![11.0, 21.0], 32.0))
}

/// Host memory is read and written at each replay, and `set` and `to_vec` wait for it.
fn host_buffers(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut next, mut result) = (device.host(&[0.0f32; 16])?, device.host(&[0.0f32; 16])?);
    let mut graph = device.record(|r| {
        let (mut x, mut y) = (r.alloc(16)?, r.alloc(16)?);
        r.run(upload(&next, &mut x))?;
        r.run(k.add(&x, baked(1.0), &mut y))?;
        r.run(download(&y, &mut result))
    })?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    for step in 0..4 {
        next.set(&[step as f32; 16])?;
        graph.launch(&stream)?;
        same("the result", result.to_vec()?, vec![step as f32 + 1.0; 16])?;
    }
    let wrong = next.set(&[1.0; 3]);
    refused("a wrong length", wrong, |kind| matches!(kind, ErrorKind::Length { .. }))?;
    // Eagerly the same.
    let mut x = device.zeros::<f32>(16)?;
    stream.run(upload(&next, &mut x))?;
    stream.run(download(&x, &mut result))?;
    same("eagerly", result.to_vec()?, [3.0; 16])
}

/// What is downloaded and then uploaded again is ordered by the host memory between.
fn download_then_upload(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (mut x, mut y) = (device.buffer(&[1u64, 2, 3])?, device.zeros::<u64>(3)?);
    let mut between = device.host(&[0u64; 3])?;
    let mut graph = device.record(|r| {
        r.run(download(&x, &mut between))?;
        r.run(upload(&between, &mut y))
    })?;
    shape(&graph, 2, &[(0, 1)])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [1, 2, 3])?;
    stream.write(&mut x, &[4, 5, 6])?;
    graph.launch(&stream)?;
    same("y again", stream.read(&y)?, [4, 5, 6])?;
    same("between", between.to_vec()?, [4, 5, 6])
}

/// Parts of buffers on both sides of a copy, and a refusal of two lengths.
fn slices(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (x, mut y) = (device.buffer(&[1u16, 2, 3, 4, 5])?, device.zeros::<u16>(6)?);
    let mut graph = device.record(|r| {
        r.run(copy(&x[1..3], &mut y[4..]))?;
        r.run(copy(&x[..=0], &mut y[1..2]))?;
        r.run(copy(&x[4..], &mut y[4..5]))
    })?;
    // The last writes over the first; the second meets neither.
    shape(&graph, 3, &[(0, 2)])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [0, 1, 0, 0, 5, 3])?;
    same("a part", stream.read(&y[4..])?, [5, 3])?;
    stream.write(&mut y[2..4], &[8, 9])?;
    same("after a write of a part", stream.read(&y)?, [0, 1, 8, 9, 5, 3])?;
    let wrong = device.record(copy(&x[..2], &mut y[..3]));
    refused("two lengths", wrong, |kind| matches!(kind, ErrorKind::Length { left: 2, right: 3, .. })).map(drop)
}

/// Elements of two bytes that are no integers.
fn half_precision(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let h: Vec<f16> = [1.0, -0.5, 1024.0].map(f16::from_f32).to_vec();
    let b: Vec<bf16> = [3.0, -0.25, 1e30].map(bf16::from_f32).to_vec();
    let (mut x, mut y) = (device.buffer(&h)?, device.buffer(&b)?);
    let mut filled = device.zeros::<f16>(5)?;
    let mut graph = device.record(|r| {
        r.run(k.double_f16(&mut x))?;
        r.run(k.double_bf16(&mut y))?;
        r.run(fill(&mut filled, baked(f16::from_f32(-1.5))))
    })?;
    shape(&graph, 3, &[])?;
    graph.launch(&stream)?;
    same("f16", stream.read(&x)?, h.iter().map(|x| f16::from_f32(2.0 * x.to_f32())).collect::<Vec<_>>())?;
    same("bf16", stream.read(&y)?, b.iter().map(|x| bf16::from_f32(2.0 * x.to_f32())).collect::<Vec<_>>())?;
    same("filled", stream.read(&filled)?, [f16::from_f32(-1.5); 5])
}

/// A shared handle reads; what the same op writes it does not.
fn shared_handle(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut x = device.buffer(&[1u32, 2, 3, 4])?;
    let shared = x.share();
    let again = shared.clone();
    let wrong = device.record(copy(&shared[1..3], &mut x[..2]));
    refused("a copy onto itself", wrong, |kind| matches!(kind, ErrorKind::Overlap { .. }))?;
    let mut graph = device.record(copy(&shared[2..], &mut x[..2]))?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    same("through a clone of the handle", stream.read(&again)?, [3, 4, 3, 4])
}

/// Buffers, temps and slices without elements: the ops are there and do nothing.
fn zero_length(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer::<f32>(&[])?, device.zeros::<f32>(0)?);
    let (mut host, mut full) = (device.host::<f32>(&[])?, device.zeros::<f32>(3)?);
    let mut body = |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f32>(0)?;
        r.run(copy(&x, &mut t))?;
        r.run(fill(&mut y, baked(1.0)))?;
        r.run(k.saxpy(baked(1.0), &t, &mut y))?;
        r.run(download(&y, &mut host))?;
        r.run(upload(&host, &mut y))?;
        r.run(k.add_stride(baked(1.0), &mut full[3..]))?;
        r.run(fill(&mut full[1..1], baked(5.0)))?;
        r.run(k.add_stride(baked(2.0), &mut full))
    };
    let mut graph = device.record(&mut body)?;
    same("ops", graph.len(), 8)?;
    graph.launch(&stream)?;
    stream.run(&mut body)?;
    drop(graph);
    same("nothing", stream.read(&y)?, [0.0; 0])?;
    same("the host's nothing", host.to_vec()?, [0.0; 0])?;
    stream.write(&mut y, &[])?;
    same("the rest", stream.read(&full)?, [4.0; 3])
}

/// More than one piece of the memory that reads and writes go through.
fn over_staging_piece(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let words = (9 << 20) / 8;
    let data: Vec<u64> = (0..words as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let (x, mut y) = (device.buffer(&data)?, device.zeros::<u64>(words)?);
    let mut graph = device.record(copy(&x, &mut y))?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    holds("what was made is read back", stream.read(&y)? == data)?;
    let turned: Vec<u64> = data.iter().rev().copied().collect();
    stream.write(&mut y, &turned)?;
    holds("what was written is read back", stream.read(&y)? == turned)
}

/// A condition on alignment is about the slice, not about the buffer.
fn alignment(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(12))?, device.zeros::<f32>(12)?);
    let mut graph = device.record(k.add_one_by_four(&x[4..12], &mut y[..8]))?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y[..8])?, (5..13).map(|i| i as f32).collect::<Vec<_>>())?;
    let odd = device.record(k.add_one_by_four(&x[1..9], &mut y[..8]));
    let error = refused("an odd start", odd, |kind| matches!(kind, ErrorKind::Requires { .. }))?;
    holds("the condition is named", error.to_string().contains("x.aligned(16)"))
}
