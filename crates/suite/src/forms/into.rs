//! Graphs as functions of memory: recorded against stand-ins, launched on any slices of the same lengths.

use dacapo::{Device, ErrorKind, GraphInto, Slice, Slot, baked, copy, fill};

use super::check::{Outcome, holds, refused, same};
use super::forms;
use super::kernels::{Kernels, ramp};

forms!("into": rebound, offset_slices, tuples, captured_weights, nothing_bound, refusals, with_slot, stored);

/// Launched on three pairs of buffers.
fn rebound(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (shape_in, mut shape_out) = (device.zeros::<f32>(5)?, device.zeros::<f32>(5)?);
    let mut graph = device.graph().record_into(&shape_in[..], &mut shape_out[..], |r, x, y| {
        let mut t = r.alloc(5)?;
        r.run(k.add(x, baked(1.0), &mut t))?;
        r.run(k.multiply(&t, x, y))
    })?;
    same("ops", graph.len(), 2)?;
    let mut results = Vec::new();
    for value in [1.0f32, 2.0, 3.0] {
        let (x, mut y) = (device.buffer(&[value; 5])?, device.zeros::<f32>(5)?);
        graph.launch(&stream, &x, &mut y)?;
        // The input is dropped while the launch may be running.
        results.push((value, y));
    }
    for (value, y) in &results {
        same("y", stream.read(y)?, [value * (value + 1.0); 5])?;
    }
    same("replays", graph.num_replays(), 3)?;
    same("what it was recorded with is untouched", stream.read(&shape_out)?, [0.0; 5])
}

/// Parts of one buffer, at other offsets each time; alignment is checked again.
fn offset_slices(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(24))?, device.zeros::<f32>(24)?);
    let mut graph = device
        .graph()
        .record_into(&x[..8], &mut device.zeros::<f32>(8)?[..], |r, x, y| r.run(k.add_one_by_four(x, y)))?;
    same("ops", graph.len(), 1)?;
    graph.launch(&stream, &x[8..16], &mut y[..8])?;
    graph.launch(&stream, &x[16..], &mut y[12..20])?;
    let odd = graph.launch(&stream, &x[1..9], &mut y[..8]);
    refused("an odd offset", odd, |kind| matches!(kind, ErrorKind::Requires { .. }))?;
    graph.launch(&stream, &x[..8], &mut y[4..12])?;
    let got = stream.read(&y)?;
    same("y[..4]", &got[..4], [9.0, 10.0, 11.0, 12.0])?;
    same("y[4..12]", &got[4..12], (1..9).map(|i| i as f32).collect::<Vec<_>>())?;
    same("y[12..20]", &got[12..20], (17..25).map(|i| i as f32).collect::<Vec<_>>())
}

/// None to four slices on either side, of different types.
fn tuples(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (a, b, c, d) =
        (device.buffer(&[1u8; 3])?, device.buffer(&[2u16; 4])?, device.buffer(&[3u32; 5])?, device.buffer(&[4u64; 6])?);
    let (mut p, mut q, mut s, mut t) =
        (device.zeros::<u8>(3)?, device.zeros::<u16>(4)?, device.zeros::<u32>(5)?, device.zeros::<u64>(6)?);
    let mut four = device.graph().record_into(
        (&a[..], &b[..], &c[..], &d[..]),
        (&mut p[..], &mut q[..], &mut s[..], &mut t[..]),
        |r, (a, b, c, d), (p, q, s, t)| {
            r.run(copy(a, p))?;
            r.run(copy(b, q))?;
            r.run(copy(c, s))?;
            r.run(copy(d, t))
        },
    )?;
    same("ops", four.len(), 4)?;
    four.launch(&stream, (&a, &b, &c, &d), (&mut p, &mut q, &mut s, &mut t))?;
    same("p and q", (stream.read(&p)?, stream.read(&q)?), (vec![1; 3], vec![2; 4]))?;
    same("s and t", (stream.read(&s)?, stream.read(&t)?), (vec![3; 5], vec![4; 6]))?;
    let mut none = device.graph().record_into((), (&mut p[..],), |r, (), (p,)| r.run(fill(p, baked(9))))?;
    none.launch(&stream, (), (&mut p,))?;
    same("p", stream.read(&p)?, [9; 3])?;
    let mut three = device.graph().record_into(
        (&a[..], &c[..], &a[..]),
        (&mut p[..], &mut s[..]),
        |r, (_, c, again), (p, s)| {
            r.run(copy(c, s))?;
            r.run(copy(again, p))
        },
    )?;
    // One buffer may be read by two of them.
    three.launch(&stream, (&a, &c, &a), (&mut p, &mut s))?;
    same("p again", stream.read(&p)?, [1; 3])
}

/// Weights are captured, inputs and outputs bound: and the weights are as they are at each launch.
fn captured_weights(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut weights, bias) = (device.buffer(&[2.0f32; 4])?, device.scalar(10.0f32)?);
    let mut graph = {
        let (x, mut y) = (device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
        device.graph().record_into(&x[..], &mut y[..], |r, x, y| {
            r.run(k.multiply(x, &weights, y))?;
            r.run(k.scale_by(&bias, y))
        })?
    };
    same("ops", graph.len(), 2)?;
    let (x, mut y) = (device.buffer(&ramp(4))?, device.zeros::<f32>(4)?);
    graph.launch(&stream, &x, &mut y)?;
    same("y", stream.read(&y)?, [0.0, 20.0, 40.0, 60.0])?;
    stream.write(&mut weights, &[3.0; 4])?;
    graph.launch(&stream, &x, &mut y)?;
    same("with other weights", stream.read(&y)?, [0.0, 30.0, 60.0, 90.0])?;
    let shared = weights.share();
    graph.launch(&stream, &shared, &mut y)?;
    same("the weights as input", stream.read(&y)?, [90.0; 4])?;
    let over = graph.launch(&stream, &x, &mut weights);
    refused("an output over the weights", over, |kind| matches!(kind, ErrorKind::Overlap { .. }))?;
    same("the weights are as they were", stream.read(&weights)?, [3.0; 4])
}

/// No slices at all: a graph like any other.
fn nothing_bound(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(4)?;
    let mut graph = device.graph().record_into((), (), |r, (), ()| r.run(k.add_stride(baked(1.0), &mut y)))?;
    same("ops", graph.len(), 1)?;
    for _ in 0..3 {
        graph.launch(&stream, (), ())?;
    }
    same("y", stream.read(&y)?, [3.0; 4])
}

/// What a launch refuses leaves everything as it was.
fn refusals(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (x, mut y) = (device.buffer(&[1u32, 2, 3, 4])?, device.zeros::<u32>(4)?);
    let mut graph = device.graph().record_into(&x[..2], &mut y[..2], |r, x, y| r.run(copy(x, y)))?;
    same("ops", graph.len(), 1)?;
    let short = graph.launch(&stream, &x[..1], &mut y[..2]);
    refused("a short input", short, |kind| matches!(kind, ErrorKind::Length { .. }))?;
    let shared = y.share();
    let over = graph.launch(&stream, &shared[1..3], &mut y[..2]);
    refused("an input that meets the output", over, |kind| matches!(kind, ErrorKind::Overlap { .. }))?;
    same("replays", graph.num_replays(), 0)?;
    same("y", stream.read(&y)?, [0; 4])?;
    graph.launch(&stream, &x[2..], &mut y[1..3])?;
    same("y after a good launch", stream.read(&y)?, [0, 3, 4, 0])
}

/// Slots and rebinding at the same launch.
fn with_slot(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&[1u32, 2, 3, 4, 5, 6])?, device.zeros::<u32>(6)?);
    let offset = Slot::new(0u32);
    let mut graph = device
        .graph()
        .record_into(&x[..3], &mut y[..2], |r, x: &Slice<u32>, y: &mut Slice<u32>| r.run(k.window(&offset, x, y)))?;
    same("ops", graph.len(), 1)?;
    graph.launch(&stream, &x[..3], &mut y[..2])?;
    offset.set(1);
    graph.launch(&stream, &x[3..], &mut y[2..4])?;
    offset.set(2);
    let past = graph.launch(&stream, &x[..3], &mut y[4..]);
    refused("a window past the end", past, |kind| matches!(kind, ErrorKind::Requires { .. }))?;
    offset.set(0);
    graph.launch(&stream, &x[3..], &mut y[4..])?;
    same("y", stream.read(&y)?, [1, 2, 5, 6, 4, 5])
}

struct Layer {
    graph: GraphInto<&'static Slice<f32>, &'static mut Slice<f32>>,
}

/// A graph over memory can be a field, and be launched with slices that live for a moment.
fn stored(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
    let graph = device.graph().record_into(&x[..], &mut y[..], |r, x, y| r.run(k.add(x, baked(1.0), y)))?;
    let mut layer = Layer { graph };
    // There and back, on two streams: each launch waits for the one whose result it reads.
    let (mut a, mut b) = (device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
    for _ in 0..5 {
        layer.graph.launch(&one, &a, &mut b)?;
        layer.graph.launch(&two, &b, &mut a)?;
    }
    same("a", one.read(&a)?, [10.0; 4])?;
    same("b", one.read(&b)?, [9.0; 4])?;
    holds("its report has the stand-ins", layer.graph.inspect().memories.len() == 2)
}
