//! Ops: one alone, in a closure, as a function, on the heap, and put together.

use dacapo::op::{BoxOp, from_fn};
use dacapo::{Buffer, Device, ErrorKind, Op, Recorder, Slice, Slot, baked, copy, download, fill, grid, upload};

use super::check::{Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Affine, Kernels, ramp};

forms!("ops":
    one_kernel, one_copy, closure, fn_item, boxed_list, then, zip, map, and_then, labels, with_grid, composite,
    shared_memory, eager_is_replay, eager_is_replay_each,
);

/// A kernel's op is recorded as it is, without a closure.
fn one_kernel(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(40))?, device.zeros::<f32>(40)?);
    let mut graph = device.record(k.saxpy(baked(2.0), &x, &mut y))?;
    shape(&graph, 1, &[])?;
    for _ in 0..3 {
        graph.launch(&stream)?;
    }
    let want: Vec<f32> = ramp(40).iter().map(|x| 6.0 * x).collect();
    same("y", stream.read(&y)?, want)
}

/// So is a copy; the second launch copies what is there then.
fn one_copy(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (mut x, mut y) = (device.buffer(&[1u8, 2, 3])?, device.zeros::<u8>(3)?);
    let mut graph = device.record(copy(&x, &mut y))?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    same("y after the first launch", stream.read(&y)?, [1, 2, 3])?;
    stream.write(&mut x, &[7, 8, 9])?;
    graph.launch(&stream)?;
    same("y after the second launch", stream.read(&y)?, [7, 8, 9])
}

/// A closure needs no type on its parameter, and its result is the graph's output.
fn closure(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&[1.0, 2.0])?;
    let mut graph = device.record(|r| {
        let mut y = r.output(2)?;
        r.run(k.add(&x, baked(1.0), &mut y))?;
        r.run(k.saxpy(baked(10.0), &x, &mut y))?;
        Ok((y, "made of two ops"))
    })?;
    shape(&graph, 2, &[(0, 1)])?;
    let (y, text) = graph.launch_sync(&stream)?;
    same("what the closure returned", *text, "made of two ops")?;
    same("y", stream.read(y)?, [12.0, 23.0])
}

fn ones(recorder: &mut Recorder<'_>) -> dacapo::Result<Buffer<u32>> {
    let mut y = recorder.output(5)?;
    recorder.run(fill(&mut y, baked(1)))?;
    Ok(y)
}

/// A function of a recorder is an op.
fn fn_item(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut graph = device.record(ones)?;
    shape(&graph, 1, &[])?;
    same("before the first launch", stream.read(graph.outputs())?, [0; 5])?;
    same("after it", stream.read(graph.launch_sync(&stream)?)?, [1; 5])
}

/// Ops of different types in one list.
fn boxed_list(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y, mut z) = (device.buffer(&ramp(8))?, device.zeros::<f32>(8)?, device.zeros::<f32>(8)?);
    let list: Vec<BoxOp<'_>> = vec![
        Box::new(k.add(&x, baked(0.5), &mut y)),
        Box::new(fill(&mut z, baked(3.0))),
        Box::new(|r: &mut Recorder<'_>| r.run(from_fn(|_| Ok(())))),
    ];
    let mut graph = device.record(|r| list.into_iter().try_for_each(|op| r.run(op)))?;
    shape(&graph, 2, &[])?;
    graph.launch(&stream)?;
    let want: Vec<f32> = ramp(8).iter().map(|x| x + 0.5).collect();
    same("y", stream.read(&y)?, want)?;
    same("z", stream.read(&z)?, [3.0; 8])
}

/// `then` records both and adds no edge of its own.
fn then(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (mut x, mut y) = (device.zeros::<u16>(3)?, device.zeros::<u64>(2)?);
    let mut graph = device.record(fill(&mut x, baked(7)).then(fill(&mut y, baked(8))))?;
    shape(&graph, 2, &[])?;
    graph.launch(&stream)?;
    same("x", stream.read(&x)?, [7; 3])?;
    same("y", stream.read(&y)?, [8; 2])
}

/// `zip` gives both results.
fn zip(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let made = from_fn(|r| {
        let mut y = r.output::<i32>(2)?;
        r.run(fill(&mut y, baked(-1)))?;
        Ok(y)
    });
    let mut graph = device.record(made.zip(ones))?;
    shape(&graph, 2, &[])?;
    let (y, ones) = graph.launch_sync(&stream)?;
    same("the first", stream.read(y)?, [-1; 2])?;
    same("the second", stream.read(ones)?, [1; 5])
}

/// `map` changes the result and nothing else.
fn map(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut graph = device.record(from_fn(ones).map(|y| (y.len(), y)))?;
    shape(&graph, 1, &[])?;
    let (len, y) = graph.launch_sync(&stream)?;
    same("the length", *len, 5)?;
    same("the contents", stream.read(y)?, [1; 5])
}

/// `and_then` goes on with the result.
fn and_then(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut graph = device.record(from_fn(ones).and_then(|y| {
        move |r: &mut Recorder<'_>| {
            let mut twice = r.output(10)?;
            r.run(copy(&y, &mut twice[..5]))?;
            r.run(copy(&y, &mut twice[5..]))?;
            Ok(twice)
        }
    }))?;
    // Both copies read what the fill wrote; neither waits for the other.
    shape(&graph, 3, &[(0, 1), (0, 2)])?;
    same("y twice", stream.read(graph.launch_sync(&stream)?)?, [1; 10])
}

/// Labels nest, and reach reports and errors.
fn labels(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&[1.0; 4])?, device.zeros::<f32>(4)?);
    let step = from_fn(|r| {
        r.run(k.add(&x, baked(1.0), &mut y).label("inner"))?;
        r.run(k.add_stride(baked(1.0), &mut y))
    });
    let mut graph = device.graph().label("net").record(step.label("outer"))?;
    let labels: Vec<String> = graph.inspect().nodes.iter().map(|node| node.label.clone()).collect();
    same("labels", labels, ["net/outer/inner", "net/outer"])?;
    same("the graph's label", graph.label(), "net")?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [3.0; 4])?;
    let mut short = device.zeros::<f32>(3)?;
    let wrong = device.graph().label("net").record(k.saxpy(baked(1.0), &x, &mut short).label("bad"));
    let error = refused("a short y", wrong, |kind| matches!(kind, ErrorKind::Requires { .. }))?;
    same("the error's label", error.label(), "net/bad")?;
    same("the error's op", error.op(), "saxpy")?;
    holds("the error has a line of this file", error.location().is_some_and(|at| at.file().ends_with("ops.rs")))
}

/// Another geometry for a kernel that allows it, and a refusal for one that does not.
fn with_grid(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(100)?;
    let mut graph = device.record(k.add_stride(baked(1.5), &mut y).with_grid(grid::exact([2, 1, 1], [7, 1, 1])))?;
    shape(&graph, 1, &[])?;
    let geometry = graph.inspect().nodes[0].geometry;
    same("blocks and threads", geometry.map(|g| (g.blocks[0], g.threads[0])), Some((2, 7)))?;
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [3.0; 100])?;
    let x = device.zeros::<f32>(100)?;
    let fixed = device.record(k.saxpy(baked(1.0), &x, &mut y).with_grid(grid::linear(100, 1)));
    refused("a kernel with its own geometry", fixed, |kind| *kind == ErrorKind::GridFixed)?;
    let unused = device.record(fill(&mut y, baked(0.0)).with_grid(grid::linear(1, 1)));
    refused("a fill", unused, |kind| *kind == ErrorKind::GridUnused)?;
    same("y after the refusals", stream.read(&y)?, [3.0; 100])
}

/// y ← x + 1, then reversed: a composite has no lifetimes to write.
fn layer<'a>(k: &'a Kernels, x: &'a Slice<f32>) -> impl Op<Out = Buffer<f32>> + 'a {
    move |r: &mut Recorder<'_>| {
        let mut y = r.output(x.len())?;
        r.run(k.add(x, baked(1.0), &mut y))?;
        r.run(k.reverse_blocks(&mut y))?;
        Ok(y)
    }
}

/// An op of ops, used twice: the second on what the first gave.
fn composite(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&ramp(64))?;
    let mut graph = device.record(|r| {
        let first = r.run(layer(&k, &x).label("first"))?;
        r.run(layer(&k, &first).label("second"))
    })?;
    shape(&graph, 4, &[(0, 1), (1, 2), (2, 3)])?;
    let want: Vec<f32> = ramp(64).iter().map(|x| x + 2.0).collect();
    same("x + 2", stream.read(graph.launch_sync(&stream)?)?, want)
}

/// Dynamic shared memory is what the declaration asks for.
fn shared_memory(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.buffer(&ramp(64))?;
    let mut graph = device.record(k.reverse_blocks(&mut y))?;
    shape(&graph, 1, &[])?;
    same("bytes of shared memory", graph.inspect().nodes[0].geometry.map(|g| g.shared), Some(128))?;
    graph.launch(&stream)?;
    let want: Vec<f32> = (0..32).rev().chain((32..64).rev()).map(|i| i as f32).collect();
    same("y", stream.read(&y)?, want)
}

/// The same closure eagerly and recorded: the same bits.
fn eager_is_replay(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&ramp(64))?;
    let body = |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f32>(64)?;
        let mut total = r.output_scalar::<f32>()?;
        let mut y = r.output::<f32>(64)?;
        r.run(k.add(&x, baked(0.1), &mut t))?;
        r.run(k.multiply(&t, &x, &mut y))?;
        r.run(k.reverse_blocks(&mut y))?;
        r.run(k.sum(&y, &mut total))?;
        r.run(k.scale_by(&total, &mut y))?;
        Ok((y, total))
    };
    let (eager, eager_total) = stream.run(body)?;
    let mut graph = device.record(body)?;
    same("ops", graph.len(), 5)?;
    let (replayed, total) = graph.launch_sync(&stream)?;
    same("the bits of the total", total.get(&stream)?.to_bits(), eager_total.get(&stream)?.to_bits())?;
    let bits = |y: Vec<f32>| y.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    same("the bits of y", bits(stream.read(replayed)?), bits(stream.read(&eager)?))
}

/// What a recording may be made of, in one function each: both ways give the same bytes.
fn eager_is_replay_each(device: &Device) -> Outcome {
    type Body<'a> = Box<dyn Fn(&mut Recorder<'_>) -> dacapo::Result<Buffer<f32>> + 'a>;
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, factor, host) = (device.buffer(&ramp(64))?, device.scalar(0.3f32)?, device.host(&ramp(64))?);
    let (by, p) = (Slot::new(0.7f32), Slot::new(Affine { scale: 1.1, shift: -0.2, skip: 3 }));
    let (x, factor, host, by, p, k) = (&x, &factor, &host, &by, &p, &k);
    let bodies: Vec<(&'static str, Body<'_>)> = vec![
        ("nothing", Box::new(|r| r.output(64))),
        ("a fill", Box::new(|r| r.output(64).and_then(|mut y| r.run(fill(&mut y, by)).map(|()| y)))),
        (
            "a copy of a part",
            Box::new(|r| {
                let mut y = r.output(64)?;
                r.run(copy(&x[3..40], &mut y[20..57]))?;
                Ok(y)
            }),
        ),
        ("an upload", Box::new(|r| r.output(64).and_then(|mut y| r.run(upload(host, &mut y)).map(|()| y)))),
        (
            "a slot and a struct",
            Box::new(|r| {
                let (mut t, mut y) = (r.alloc(64)?, r.output(64)?);
                r.run(k.affine(p, x, &mut t))?;
                r.run(k.add(&t, by, &mut y))?;
                Ok(y)
            }),
        ),
        (
            "scalars",
            Box::new(|r| {
                let (mut total, mut y) = (r.alloc_scalar()?, r.output(64)?);
                r.run(k.sum(x, &mut total))?;
                r.run(k.add_to(factor, &mut total))?;
                r.run(copy(x, &mut y))?;
                r.run(k.scale_by(&total, &mut y))?;
                Ok(y)
            }),
        ),
        (
            "a fork and a join",
            Box::new(|r| {
                let (mut a, mut b, mut y) = (r.alloc(64)?, r.alloc(64)?, r.output(64)?);
                r.run(k.add(x, baked(0.1), &mut a))?;
                r.run(k.add(x, baked(0.2), &mut b))?;
                r.run(k.multiply(&a, &b, &mut y))?;
                r.run(k.reverse_blocks(&mut y))?;
                Ok(y)
            }),
        ),
        (
            "any geometry",
            Box::new(|r| {
                let mut y = r.output(64)?;
                // The output stays between replays; each begins anew.
                r.run(fill(&mut y, baked(0.5)))?;
                r.run(k.add_stride(by, &mut y).with_grid(grid::exact([3, 1, 1], [5, 1, 1])))?;
                Ok(y)
            }),
        ),
    ];
    for (name, body) in &bodies {
        let mut graph = device.record(|r: &mut Recorder<'_>| body(r))?;
        holds("all but the first have ops", *name == "nothing" || !graph.is_empty())?;
        for value in [0.7, 1.9] {
            by.set(value);
            let eager = stream.run(|r: &mut Recorder<'_>| body(r))?;
            let bits = |y: Vec<f32>| y.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let replayed = bits(stream.read(graph.launch_sync(&stream)?)?);
            same(name, replayed, bits(stream.read(&eager)?))?;
        }
    }
    let mut out = device.host(&[0.0f32; 64])?;
    stream.run(download(x, &mut out))?;
    same("downloaded eagerly", out.to_vec()?, ramp(64))
}
