//! Matrix products by cuBLASLt: by kernels of the library's own on the software device, by NVIDIA's library on a GPU.
//!
//! Whole numbers that every format holds exactly, so that both give the same bits. On a GPU without the library the forms
//! say so and do nothing.

use dacapo::half::{bf16, f16};
use dacapo::interop::cublaslt::{CublasLt, Number};
use dacapo::{Device, ErrorKind, Op, Recorder, baked, copy, fill};

use super::check::{Outcome, holds, refused, same, shape};
use super::forms;

forms!("matmul":
    recorded_and_eager, formats, transposed_batches, addends, scales_on_device, outlives_everything, several_streams,
    embedded, in_a_pool, gelu, empty, refusals,
);

/// The library, or none if this machine has none.
fn load(device: &Device) -> dacapo::Result<Option<CublasLt>> {
    match CublasLt::load(device) {
        Ok(blas) => Ok(Some(blas)),
        Err(error) if matches!(error.kind(), ErrorKind::NoLibrary { .. }) => {
            println!("NOT RUN: {error}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Small whole numbers with both signs.
fn whole(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7 + seed * 5 + i / 3) % 9) as f32 - 4.0).collect()
}

/// The product on the host, exact in whole numbers.
fn product(a: &[f32], b: &[f32], m: usize, n: usize, k: usize) -> Vec<f32> {
    let at = |i: usize| (0..k).map(|x| a[i / n * k + x] * b[x * n + i % n]).sum();
    (0..m * n).map(at).collect()
}

fn transposed(x: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..rows * columns).map(|i| x[i % rows * columns + i / rows]).collect()
}

/// Between two ops of ours, with edges on both sides; and the same eagerly.
fn recorded_and_eager(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (m, n, k) = (5, 6, 9);
    let (a, b, c) = (whole(m * k, 1), whole(k * n, 2), whole(n, 3));
    let (x, w, bias) = (device.buffer(&a)?, device.buffer(&b)?, device.buffer(&c)?);
    let stream = device.stream()?;
    let body = |r: &mut Recorder<'_>| {
        let (mut t, mut u, mut y) = (r.alloc::<f32>(m * k)?, r.alloc::<f32>(m * n)?, r.output::<f32>(m * n)?);
        r.run(copy(&x, &mut t))?;
        r.run(blas.matmul(m, n, k).bias(&bias).relu().op(&t, &w, &mut u).label("layer"))?;
        r.run(copy(&u, &mut y))?;
        Ok(y)
    };
    let mut graph = device.record(body)?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    let report = graph.inspect();
    same("its name", (&*report.nodes[1].name, &*report.nodes[1].label), ("matmul", "layer"))?;
    let want: Vec<f32> = product(&a, &b, m, n, k).iter().enumerate().map(|(i, d)| (d + c[i % n]).max(0.0)).collect();
    for _ in 0..2 {
        same("replayed", stream.read(graph.launch_sync(&stream)?)?, &want[..])?;
    }
    same("eagerly", stream.read(&stream.run(body)?)?, &want[..])
}

fn in_format<T: Number>(device: &Device, blas: &CublasLt, of: impl Fn(f32) -> T, wide: impl Fn(T) -> f32) -> Outcome {
    let (m, n, k) = (8, 16, 24);
    let (a, b) = (whole(m * k, 4), whole(k * n, 5));
    let narrow = |values: &[f32]| device.buffer(&values.iter().map(|&value| of(value)).collect::<Vec<T>>());
    let (x, w, stream) = (narrow(&a)?, narrow(&b)?, device.stream()?);
    let mut y = device.zeros::<T>(m * n)?;
    let mut graph = device.record(blas.matmul(m, n, k).op(&x, &w, &mut y))?;
    graph.launch(&stream)?;
    let got: Vec<f32> = stream.read(&y)?.into_iter().map(&wide).collect();
    // The sum is exact, and rounded once, to what the format holds.
    let want: Vec<f32> = product(&a, &b, m, n, k).into_iter().map(of).map(wide).collect();
    same("d", got, want)
}

/// Every format gives the same numbers, as far as it holds them.
fn formats(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    in_format(device, &blas, |x| x, |x| x)?;
    in_format(device, &blas, f16::from_f32, f16::to_f32)?;
    in_format(device, &blas, bf16::from_f32, bf16::to_f32)?;
    let (stream, a, b) = (device.stream()?, whole(16, 6), whole(16, 7));
    let (x, w) = (device.buffer(&a)?, device.buffer(&b)?);
    let mut y = device.zeros::<f32>(16)?;
    stream.run(blas.matmul(4, 4, 4).tf32().op(&x, &w, &mut y))?;
    same("tf32 holds these exactly", stream.read(&y)?, product(&a, &b, 4, 4, 4))
}

/// Matrices that lie transposed, three of them at once, each with its own factors.
fn transposed_batches(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (stream, m, n, k) = (device.stream()?, 3, 4, 5);
    let sets: Vec<(Vec<f32>, Vec<f32>)> = (0..3).map(|set| (whole(m * k, set), whole(k * n, set + 3))).collect();
    let want: Vec<f32> = sets.iter().flat_map(|(a, b)| product(a, b, m, n, k)).collect();
    for (over, under) in [(false, false), (true, false), (false, true), (true, true)] {
        let lay =
            |x: &[f32], rows, columns, across: bool| if across { transposed(x, rows, columns) } else { x.to_vec() };
        let a: Vec<f32> = sets.iter().flat_map(|(a, _)| lay(a, m, k, over)).collect();
        let b: Vec<f32> = sets.iter().flat_map(|(_, b)| lay(b, k, n, under)).collect();
        let (a, b, mut d) = (device.buffer(&a)?, device.buffer(&b)?, device.zeros::<f32>(3 * m * n)?);
        let mut described = blas.matmul(m, n, k).batch(3);
        described = if over { described.transpose_a() } else { described };
        described = if under { described.transpose_b() } else { described };
        let mut graph = device.record(described.op(&a, &b, &mut d))?;
        graph.launch(&stream)?;
        same("d", stream.read(&d)?, &want[..])?;
    }
    Ok(())
}

/// C beside D, and D upon itself: each replay adds once more.
fn addends(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (stream, a, b, c) = (device.stream()?, whole(8, 1), whole(8, 2), whole(16, 3));
    let (x, w, addend) = (device.buffer(&a)?, device.buffer(&b)?, device.buffer(&c)?);
    let mut y = device.zeros::<f32>(16)?;
    let exact = product(&a, &b, 4, 4, 2);
    stream.run(blas.matmul(4, 4, 2).alpha(baked(2.0)).add(&addend, baked(-1.0)).op(&x, &w, &mut y))?;
    let want: Vec<f32> = exact.iter().zip(&c).map(|(d, c)| 2.0 * d - c).collect();
    same("C is added", stream.read(&y)?, want)?;
    stream.run(fill(&mut y, baked(0.0f32)))?;
    let mut graph = device.record(blas.matmul(4, 4, 2).accumulate(baked(1.0)).op(&x, &w, &mut y))?;
    for _ in 0..3 {
        graph.launch(&stream)?;
    }
    let want: Vec<f32> = exact.iter().map(|d| 3.0 * d).collect();
    same("summed up", stream.read(&y)?, want)
}

/// Scales in device memory are read by each replay; one of the two may be baked.
fn scales_on_device(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (stream, a, b, c) = (device.stream()?, whole(16, 1), whole(16, 2), whole(16, 3));
    let (x, w, addend) = (device.buffer(&a)?, device.buffer(&b)?, device.buffer(&c)?);
    let (mut alpha, beta) = (device.scalar(1.0f32)?, device.scalar(2.0f32)?);
    let exact = product(&a, &b, 4, 4, 4);
    let want =
        |alpha: f32, beta: f32| -> Vec<f32> { exact.iter().zip(&c).map(|(d, c)| alpha * d + beta * c).collect() };
    let (mut y, mut z) = (device.zeros::<f32>(16)?, device.zeros::<f32>(16)?);
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        r.run(blas.matmul(4, 4, 4).alpha(&*alpha).add(&addend, &*beta).op(&x, &w, &mut y))?;
        r.run(blas.matmul(4, 4, 4).alpha(&*alpha).add(&addend, baked(-3.0)).op(&x, &w, &mut z))
    })?;
    for value in [1.0, -2.0, 0.0] {
        alpha.set(&stream, value)?;
        graph.launch(&stream)?;
        same("both on the device", stream.read(&y)?, want(value, 2.0))?;
        same("one of them", stream.read(&z)?, want(value, -3.0))?;
    }
    Ok(())
}

/// The library's handle, the inputs and all other graphs are dropped, and memory is written over: the graph has what it needs.
fn outlives_everything(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (stream, a, b) = (device.stream()?, whole(64, 1), whole(64, 2));
    let (x, w) = (device.buffer(&a)?, device.buffer(&b)?);
    let record = || {
        device.record(|r: &mut Recorder<'_>| {
            let (mut t, mut y) = (r.alloc::<f32>(64)?, r.output::<f32>(64)?);
            r.run(blas.matmul(8, 8, 8).op(&x, &w, &mut t))?;
            r.run(blas.matmul(8, 8, 8).transpose_b().op(&t, &w, &mut y))?;
            Ok(y)
        })
    };
    let others = [record()?, record()?];
    let mut kept = record()?;
    for mut other in others {
        other.launch(&stream)?;
    }
    drop((blas, x, w));
    let want = product(&product(&a, &b, 8, 8, 8), &transposed(&b, 8, 8), 8, 8, 8);
    for _ in 0..4 {
        let trash = device.buffer(&[f32::NAN; 512])?;
        same("right", stream.read(kept.launch_sync(&stream)?)?, &want[..])?;
        drop(trash);
    }
    Ok(())
}

/// Work on two streams that meets in memory is ordered as the calls were made.
fn several_streams(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (first, second, a) = (device.stream()?, device.stream()?, whole(16, 1));
    let one = device.buffer(&[1.0f32, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0])?;
    let (mut x, mut y) = (device.buffer(&a)?, device.zeros::<f32>(16)?);
    let mut doubled = device.record(blas.matmul(4, 4, 4).alpha(baked(2.0)).op(&x, &one, &mut y))?;
    let mut back = device.record(copy(&y, &mut x))?;
    for _ in 0..3 {
        doubled.launch(&first)?;
        back.launch(&second)?;
    }
    same("x", first.read(&x)?, a.iter().map(|x| 8.0 * x).collect::<Vec<_>>())
}

/// A graph with a product in it as a part of another one.
fn embedded(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (stream, a, b) = (device.stream()?, whole(16, 1), whole(16, 2));
    let (mut x, w, mut y) = (device.buffer(&a)?, device.buffer(&b)?, device.zeros::<f32>(16)?);
    let part = device.record(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f32>(16)?;
        r.run(blas.matmul(4, 4, 4).op(&x, &w, &mut t))?;
        r.run(copy(&t, &mut y))
    })?;
    let mut whole_graph = device.record(|r: &mut Recorder<'_>| {
        r.run(part.as_op())?;
        r.run(copy(&y, &mut x))?;
        r.run(part.as_op())
    })?;
    whole_graph.launch(&stream)?;
    same("y", stream.read(&y)?, product(&product(&a, &b, 4, 4, 4), &b, 4, 4, 4))
}

/// Graphs of one pool share an arena, workspaces included, and do not disturb each other.
fn in_a_pool(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (first, second, pool) = (device.stream()?, device.stream()?, device.pool());
    let mut graphs = Vec::new();
    for size in [4, 8, 12] {
        let (a, b) = (whole(size * size, size), whole(size * size, size + 1));
        let (x, w) = (device.buffer(&a)?, device.buffer(&b)?);
        let graph = device.graph().pool(&pool).record(|r: &mut Recorder<'_>| {
            let (mut t, mut y) = (r.alloc::<f32>(size * size)?, r.output::<f32>(size * size)?);
            r.run(blas.matmul(size, size, size).op(&x, &w, &mut t))?;
            r.run(blas.matmul(size, size, size).alpha(baked(0.5)).op(&t, &w, &mut y))?;
            Ok(y)
        })?;
        let twice = product(&product(&a, &b, size, size, size), &b, size, size, size);
        graphs.push((graph, twice.iter().map(|d| 0.5 * d).collect::<Vec<f32>>()));
    }
    for round in 0..4 {
        for (number, (graph, _)) in graphs.iter_mut().enumerate() {
            graph.launch(if (round + number) % 2 == 0 { &first } else { &second })?;
        }
    }
    for (graph, want) in &mut graphs {
        same("y", first.read(graph.launch_sync(&first)?)?, &want[..])?;
    }
    Ok(())
}

/// GELU by tanh, to within 1e-5 of f64.
fn gelu(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (stream, b) = (device.stream()?, [1.0f32, 0.0, 0.0, 1.0]);
    let a: Vec<f32> = (0..32).map(|i| i as f32 / 4.0 - 4.0).collect();
    let (x, one, mut y) = (device.buffer(&a)?, device.buffer(&b)?, device.zeros::<f32>(32)?);
    let mut graph = device.record(blas.matmul(16, 2, 2).gelu().op(&x, &one, &mut y))?;
    graph.launch(&stream)?;
    for (x, got) in a.iter().zip(stream.read(&y)?) {
        let x = f64::from(*x);
        let want = 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh());
        if (f64::from(got) - want).abs() > 1e-5 {
            return same("gelu", f64::from(got), want);
        }
    }
    Ok(())
}

/// A product of nothing is no work; one over nothing is bias and C.
fn empty(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (stream, x, bias) = (device.stream()?, device.buffer(&[7.0f32; 4])?, device.buffer(&[1.0f32, -2.0])?);
    let mut y = device.buffer(&[5.0f32; 4])?;
    let nothing = device.record(blas.matmul(0, 2, 2).op(&x[..0], &x, &mut y[..0]))?;
    same("no ops", nothing.len(), 0)?;
    let mut graph = device.record(blas.matmul(2, 2, 0).bias(&bias).relu().op(&x[..0], &x[..0], &mut y))?;
    graph.launch(&stream)?;
    same("the bias alone", stream.read(&y)?, [1.0, 0.0, 1.0, 0.0])
}

/// What does not fit is refused with the numbers, and everything goes on working.
fn refusals(device: &Device) -> Outcome {
    let Some(blas) = load(device)? else { return Ok(()) };
    let (stream, x, mut y) = (device.stream()?, device.buffer(&[1.0f32; 4])?, device.zeros::<f32>(4)?);
    let short = device.record(blas.matmul(2, 2, 2).op(&x[..3], &x, &mut y));
    let error = refused("a short factor", short, |kind| matches!(kind, ErrorKind::Requires { .. }))?;
    holds("it has the numbers", error.to_string().contains("a.len() = 3, m = 2, n = 2, k = 2, batch = 1"))?;
    let frozen = device.graph().record_into(&x[..], &mut y[..], |r, x, y| r.run(blas.matmul(2, 2, 2).op(x, x, y)));
    refused("a stand-in", frozen, |kind| matches!(kind, ErrorKind::NoMemoryYet { call: "matmul" }))?;
    let unwritten = device.record(|r: &mut Recorder<'_>| {
        let t = r.alloc::<f32>(4)?;
        r.run(blas.matmul(2, 2, 2).op(&t, &x, &mut y))
    });
    refused("an unwritten temp", unwritten, |kind| matches!(kind, ErrorKind::UninitTemp { .. }))?;
    stream.run(blas.matmul(2, 2, 2).op(&x, &x, &mut y))?;
    same("it goes on", stream.read(&y)?, [2.0; 4])
}
