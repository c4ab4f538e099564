//! Stream capture on the user's own terms: for code that is being ported.

use dacapo::capture::{self, CaptureStream, Mode, Status};
use dacapo::{Device, Error, ErrorKind, Slot, baked, copy, fill, upload};

use super::check::{Outcome, holds, refused, same};
use super::forms;
use super::kernels::{Kernels, churned};
use super::library::Library;

forms!("capture": guard, closure, dropped_guard, closure_fails, nothing_in_it, with_pool, slots_refused, modes_beside_work);

/// Begin, ops of ours and raw calls, end: a graph like any other.
fn guard(device: &Device) -> Outcome {
    let (stream, k, library) = (device.stream()?, Kernels::load(device)?, Library::of(device)?);
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let side = CaptureStream::new(device)?;
    same("before", side.status()?, Status::None)?;
    // SAFETY: the one raw call writes what is declared as written.
    let mut capture = unsafe { capture::begin(&side, Mode::default()) }?.label("ported");
    same("under way", (capture.status()?, capture.status()?.is_capturing()), (Status::Active, true))?;
    let target = capture.writes(&mut x)?;
    capture.step("set", |raw| library.set_declared(raw, target, 5))?;
    capture.run(k.churn(baked(300), &mut x))?;
    capture.run(copy(&x, &mut y))?;
    let mut graph = capture.finish()?;
    same("after", side.status()?, Status::None)?;
    drop(side);
    same("the label", graph.label(), "ported")?;
    holds("the graph has ops", graph.len() >= 2)?;
    for _ in 0..3 {
        stream.write(&mut y, &[0; 8])?;
        graph.launch(&stream)?;
        same("y", stream.read(&y)?, [churned(5, 300); 8])?;
    }
    drop(x);
    graph.launch(&stream)?;
    same("without x", stream.read(&y)?, [churned(5, 300); 8])
}

/// What a closure does, with its result as the graph's output; temps and outputs as anywhere.
fn closure(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&[1.0f32; 4])?;
    let side = CaptureStream::new(device)?;
    // SAFETY: no raw calls are made.
    let graph = unsafe {
        capture::captured(&side, Mode::Relaxed, |capture| {
            capture.run(|r: &mut dacapo::Recorder<'_>| {
                let (mut t, mut y) = (r.alloc(4)?, r.output(4)?);
                r.run(k.add(&x, baked(1.0), &mut t))?;
                r.run(k.add(&t, baked(1.0), &mut y))?;
                Ok(y)
            })
        })
    };
    let mut graph = graph?;
    same("ops", graph.len(), 2)?;
    same("y", stream.read(graph.launch_sync(&stream)?)?, [3.0; 4])?;
    same("again", stream.read(graph.launch_sync(&stream)?)?, [3.0; 4])
}

/// A guard that is dropped ends its capture; the stream is good for the next.
fn dropped_guard(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let side = CaptureStream::new(device)?;
    for _ in 0..3 {
        // SAFETY: no raw calls are made.
        let mut capture = unsafe { capture::begin(&side, Mode::ThreadLocal) }?;
        capture.run(k.churn(baked(1), &mut y))?;
        drop(capture);
        same("after the drop", side.status()?, Status::None)?;
    }
    same("nothing ran", stream.read(&y)?, [0; 4])?;
    // SAFETY: no raw calls are made.
    let mut graph =
        unsafe { capture::captured(&side, Mode::ThreadLocal, |capture| capture.run(k.churn(baked(1), &mut y))) }?;
    same("ops", graph.len(), 1)?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [churned(0, 1); 4])
}

/// An error and a panic in the closure end the capture; both go on.
fn closure_fails(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let side = CaptureStream::new(device)?;
    // SAFETY: no raw calls are made.
    let failed = unsafe {
        capture::captured(&side, Mode::ThreadLocal, |capture| {
            capture.run(k.churn(baked(1), &mut y))?;
            Err::<(), _>(Error::msg("no"))
        })
    };
    refused("the closure's error", failed, |kind| *kind == ErrorKind::Msg("no".into()))?;
    same("after the error", side.status()?, Status::None)?;
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        // SAFETY: no raw calls are made.
        unsafe {
            capture::captured(&side, Mode::ThreadLocal, |capture| -> dacapo::Result<()> {
                capture.run(k.churn(baked(1), &mut y))?;
                std::panic::resume_unwind(Box::new("on purpose"))
            })
        }
    }));
    holds("the panic went on", panicked.is_err())?;
    same("after the panic", side.status()?, Status::None)?;
    stream.run(k.churn(baked(2), &mut y))?;
    same("y", stream.read(&y)?, [churned(0, 2); 4])
}

/// A capture with no work in it is an error, and ends.
fn nothing_in_it(device: &Device) -> Outcome {
    let side = CaptureStream::new(device)?;
    // SAFETY: no raw calls are made.
    let empty = unsafe { capture::begin(&side, Mode::ThreadLocal) }?.finish();
    refused("an empty capture", empty, |kind| *kind == ErrorKind::NothingRecorded)?;
    same("after it", side.status()?, Status::None)
}

/// The graph of a capture joins a pool; a sealed one refuses it.
fn with_pool(device: &Device) -> Outcome {
    let (stream, k, pool) = (device.stream()?, Kernels::load(device)?, device.pool());
    let mut y = device.zeros::<u32>(4)?;
    let side = CaptureStream::new(device)?;
    pool.seal();
    // SAFETY: it is refused.
    let sealed = unsafe { capture::begin_with_pool(&side, Mode::ThreadLocal, &pool) };
    refused("a sealed pool", sealed, |kind| *kind == ErrorKind::PoolSealed)?;
    pool.unseal();
    // SAFETY: no raw calls are made.
    let mut capture = unsafe { capture::begin_with_pool(&side, Mode::ThreadLocal, &pool) }?;
    capture.run(k.churn(baked(1), &mut y))?;
    let mut graph = capture.finish()?;
    same("its pool", graph.pool(), Some(&pool))?;
    same("graphs", pool.graphs(), 1)?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [churned(0, 1); 4])?;
    drop(graph);
    same("graphs", pool.graphs(), 0)
}

/// A capture would freeze a slot without a word: refused; the capture goes on.
fn slots_refused(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let (side, rounds) = (CaptureStream::new(device)?, Slot::new(1u32));
    // SAFETY: no raw calls are made.
    let mut capture = unsafe { capture::begin(&side, Mode::ThreadLocal) }?;
    refused("a slot", capture.run(k.churn(&rounds, &mut y)), |kind| matches!(kind, ErrorKind::Unsupported { .. }))?;
    capture.run(k.churn(baked(3), &mut y))?;
    let mut graph = capture.finish()?;
    same("ops", graph.len(), 1)?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [churned(0, 3); 4])
}

/// In every mode, whatever this library does beside a capture on the same thread does not break it.
fn modes_beside_work(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    for mode in [Mode::Global, Mode::ThreadLocal, Mode::Relaxed] {
        let mut captured = device.zeros::<u32>(4)?;
        let side = CaptureStream::new(device)?;
        // SAFETY: no raw calls are made.
        let mut capture = unsafe { capture::begin(&side, mode) }?;
        capture.run(k.churn(baked(10), &mut captured))?;
        // Loads, allocates, copies, records, instantiates, launches, waits, asks, drops: beside it.
        let k = Kernels::load(device)?;
        let host = device.host(&[3u32; 4])?;
        let mut beside = device.buffer(&[1u32; 4])?;
        stream.run(|r: &mut dacapo::Recorder<'_>| {
            let mut t = r.alloc(4)?;
            r.run(copy(&beside, &mut t))?;
            r.run(k.churn(baked(1), &mut t))?;
            r.run(upload(&host, &mut t))
        })?;
        let mut graph = device.record(fill(&mut beside, baked(7)))?;
        graph.launch_sync(&stream)?;
        same("beside it", stream.read(&beside)?, [7; 4])?;
        holds("asking does no harm", stream.is_done()?)?;
        drop((graph, beside, host, device.stream()?));
        stream.synchronize()?;
        device.synchronize()?;
        same("it is still good", capture.status()?, Status::Active)?;
        capture.run(k.churn(baked(10), &mut captured))?;
        let mut graph = capture.finish()?;
        same("ops", graph.len(), 2)?;
        graph.launch(&stream)?;
        same("captured", stream.read(&captured)?, [churned(0, 20); 4])?;
    }
    Ok(())
}
