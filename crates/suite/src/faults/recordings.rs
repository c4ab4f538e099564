//! Recording, and what can be done with a recording.

use dacapo::{Buffer, ErrorKind, Graph, Op, Recorder, Result, Slot, baked, copy, fill};

use super::{Bench, right, scenarios};
use crate::forms::kernels::churned;

scenarios!("recording":
    record_launch, joins, much_shared_memory, patched_slots, many_slots, switched_off, nested, recorded_again, rerecorded, rerecorded_anew, uploaded, warm, into, graphed,
    failing_op, panicking,
);

/// One graph, launched thrice.
fn record_launch(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(k.churn(baked(5), &mut y))?;
    for _ in 0..3 {
        graph.launch(stream)?;
    }
    right("y", stream.read(&y)?, [churned(0, 15); 8])
}

/// An empty node between many that write and many that read.
fn joins(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (mut y, mut z) = (device.zeros::<u32>(9)?, device.zeros::<u32>(81)?);
    let mut graph = device.record(|r| {
        for part in y.chunks_mut(1) {
            r.run(fill(part, baked(3)))?;
        }
        for part in z.chunks_mut(9) {
            r.run(copy(&y, part))?;
        }
        Ok(())
    })?;
    right("there is one", graph.inspect().totals.joins, 1)?;
    graph.launch(stream)?;
    drop(graph);
    right("z", stream.read(&z)?, [3; 81])
}

/// A kernel that wants more shared memory than every kernel may have: the driver is told.
fn much_shared_memory(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<f32>(4)?;
    let wide = || dacapo::grid::linear(4, 32).shared(60 << 10);
    let mut graph = device.record(k.add_stride(baked(1.0), &mut y).with_grid(wide()))?;
    graph.launch(stream)?;
    drop(graph);
    stream.run(k.add_stride(baked(1.0), &mut y).with_grid(wide()))?;
    right("y", stream.read(&y)?, [2.0; 4])
}

/// One slot of a kernel, one of a fill, changed between launches.
fn patched_slots(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (by, value) = (Slot::new(1.0f32), Slot::new(3.0f32));
    let one = device.buffer(&[1.0f32; 4])?;
    let mut y = device.zeros::<f32>(4)?;
    let mut graph = device.record(|r| {
        r.run(fill(&mut y, &value))?;
        r.run(k.saxpy(&by, &one, &mut y))
    })?;
    graph.launch(stream)?;
    by.set(2.0);
    graph.launch(stream)?;
    right("by", stream.read(&y)?, [5.0; 4])?;
    value.set(10.0);
    graph.launch(stream)?;
    right("value", stream.read(&y)?, [12.0; 4])
}

/// Several nodes must be told at once: a refusal half-way launches nothing, and the next launch tells the rest.
fn many_slots(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (a, b) = (Slot::new(1.0f32), Slot::new(1.0f32));
    let one = device.buffer(&[1.0f32; 4])?;
    let mut y = device.zeros::<f32>(4)?;
    let mut graph = device.record(|r| {
        r.run(k.saxpy(&a, &one, &mut y))?;
        r.run(k.saxpy(&b, &one, &mut y))?;
        r.run(k.saxpy(&a, &one, &mut y))
    })?;
    graph.launch(stream)?;
    a.set(2.0);
    b.set(10.0);
    let refused = graph.launch(stream).err();
    match &refused {
        None => {}
        // Nothing was launched; with the same values, what was told before the refusal stays told.
        Some(error) if matches!(error.kind(), ErrorKind::Unpatched { .. }) => drop(graph.launch(stream)?),
        Some(error) => return Err(error.clone()),
    }
    right("y", stream.read(&y)?, [17.0; 4])?;
    refused.map_or(Ok(()), Err)
}

/// A kernel with nothing to do is a node that is switched off, and on again.
fn switched_off(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let count = Slot::new(0u32);
    let mut y = device.zeros::<u32>(4)?;
    let mut graph = device.record(k.increment_first(&count, &mut y))?;
    for (n, want) in [(0, [0, 0, 0, 0]), (3, [1, 1, 1, 0]), (0, [1, 1, 1, 0]), (4, [2, 2, 2, 1])] {
        count.set(n);
        graph.launch(stream)?;
        right("y", stream.read(&y)?, want)?;
    }
    Ok(())
}

/// A graph inside a graph, which outlives it.
fn nested(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (by, mut y) = (Slot::new(1u32), device.zeros::<u32>(4)?);
    let inner = device.record(|r| {
        let mut t = r.alloc(4)?;
        r.run(copy(&y, &mut t))?;
        r.run(k.churn(&by, &mut t))?;
        r.run(copy(&t, &mut y))
    })?;
    let mut outer = device.record(inner.as_op().then(inner.as_op()))?;
    drop(inner);
    outer.launch(stream)?;
    by.set(3);
    outer.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 8); 4])
}

/// One object, several recordings.
fn recorded_again(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let mut graph: Graph<()> = Graph::empty(device, ());
    graph.rerecord(k.churn(baked(1), &mut y))?;
    graph.launch(stream)?;
    let again = graph.rerecord(k.churn(baked(4), &mut y));
    let last = if again.is_ok() { 4 } else { 1 };
    // A recording that failed has left the one before.
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 1 + last); 4])?;
    graph.reset();
    again.map(drop)
}

/// Another recording onto the same executable graph: of a kernel, a fill and a copy, with memory of its own.
fn rerecorded(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let mut record = |graph: &mut Graph<Buffer<u32>>, rounds, value| {
        graph.rerecord(|r: &mut Recorder<'_>| {
            let (mut t, mut out) = (r.alloc::<u32>(8)?, r.output::<u32>(8)?);
            r.run(k.churn(baked(rounds), &mut y))?;
            r.run(fill(&mut t, baked(value)))?;
            r.run(copy(&t, &mut out))?;
            Ok(out)
        })
    };
    let mut graph = Graph::empty(device, device.zeros::<u32>(8)?);
    record(&mut graph, 1, 5)?;
    graph.launch(stream)?;
    let again = record(&mut graph, 4, 6);
    let (rounds, value) = if again.is_ok() { (4, 6) } else { (1, 5) };
    // One that failed has left the one before, and what was set already is set back.
    let out = stream.read(graph.launch_sync(stream)?)?;
    right("the output", out, [value; 8])?;
    drop(graph);
    right("y", stream.read(&y)?, [churned(0, 1 + rounds); 4])?;
    again.map(drop)
}

/// Another recording that needs another executable graph.
fn rerecorded_anew(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut y, mut z) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
    let mut graph = device.record(k.churn(baked(1), &mut y))?;
    graph.launch(stream)?;
    let again = graph.rerecord(k.churn(baked(4), &mut y).then(k.churn(baked(2), &mut z)));
    let (last, other) = if again.is_ok() { (4, 2) } else { (1, 0) };
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 1 + last); 4])?;
    right("z", stream.read(&z)?, [churned(0, other); 4])?;
    again.map(drop)
}

/// The first launch's cost paid before, by option and by hand.
fn uploaded(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let mut graph = device.graph().preloaded().record(k.churn(baked(1), &mut y))?;
    graph.launch(stream)?;
    drop(graph);
    let mut graph = device.record(k.churn(baked(1), &mut y))?;
    graph.preload(stream)?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 2); 4])
}

/// Warm-up runs, and what they wrote put back.
fn warm(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.buffer(&[7u32; 4])?;
    let mut graph = device.graph().warmup(2).record(|r| {
        let mut t = r.alloc(4)?;
        r.run(copy(&y, &mut t))?;
        r.run(k.churn(baked(2), &mut t))?;
        r.run(copy(&t, &mut y))
    })?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(7, 2); 4])
}

/// Memory bound at each launch.
fn into(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (shape_in, mut shape_out) = (device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
    let mut graph = device.graph().record_into(&shape_in[..], &mut shape_out[..], |r, x, y| {
        let mut t = r.alloc(4)?;
        r.run(k.add(x, baked(1.0), &mut t))?;
        r.run(copy(&t, y))
    })?;
    for value in [1.0f32, 2.0] {
        let (x, mut y) = (device.buffer(&[value; 4])?, device.zeros::<f32>(4)?);
        graph.launch(stream, &x, &mut y)?;
        drop(x);
        right("y", stream.read(&y)?, [value + 1.0; 4])?;
    }
    Ok(())
}

/// A callable with a graph for each shape.
fn graphed(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut plus = dacapo::port::graphed(device, |r: &mut Recorder<'_>, x: &dacapo::Buffer<f32>| {
        let mut y = r.output(x.len())?;
        r.run(k.add(x, baked(1.0), &mut y))?;
        Ok(y)
    });
    for len in [2, 3, 2] {
        let x = device.buffer(&vec![4.0f32; len])?;
        right("y", stream.read(plus.call(stream, &x)?)?, vec![5.0; len])?;
    }
    Ok(())
}

/// An op that fails leaves no trace in a recording that goes on.
fn failing_op(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (x, mut y) = (device.buffer(&[1u32, 2])?, device.zeros::<u32>(2)?);
    let mut graph = device.record(|r| {
        let given_up = r.run(|r: &mut Recorder<'_>| {
            let mut lost = r.output::<u32>(64)?;
            r.run(fill(&mut lost, baked(0)))?;
            Err::<(), _>(dacapo::Error::msg("given up"))
        });
        right("it failed", given_up.is_err(), true)?;
        r.run(copy(&x, &mut y))
    })?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [1, 2])
}

/// A closure that panics: in a recording, in an eager run, in a warm-up.
fn panicking(bench: &Bench) -> Result<()> {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let meant = |outcome: std::thread::Result<Result<()>>| match outcome {
        Ok(outcome) => outcome,
        Err(panic) if panic.downcast_ref::<&str>() == Some(&"meant") => Ok(()),
        Err(panic) => resume_unwind(panic),
    };
    meant(catch_unwind(AssertUnwindSafe(|| {
        let graph = device.record(|r| {
            let mut out = r.output::<u32>(4)?;
            r.run(fill(&mut out, baked(1)))?;
            std::panic::panic_any("meant")
        });
        graph.map(|graph: Graph<()>| drop(graph))
    })))?;
    meant(catch_unwind(AssertUnwindSafe(|| {
        stream.run(|r: &mut Recorder<'_>| {
            r.run(k.churn(baked(9), &mut y))?;
            std::panic::panic_any("meant")
        })
    })))?;
    let mut runs = 0;
    meant(catch_unwind(AssertUnwindSafe(|| {
        let graph = device.graph().warmup(2).record(|r| {
            runs += 1;
            r.run(k.churn(baked(9), &mut y))?;
            if runs == 2 {
                std::panic::panic_any("meant")
            }
            Ok(())
        });
        graph.map(drop)
    })))?;
    stream.run(k.churn(baked(1), &mut y))?;
    right("nothing else ran", stream.read(&y)?, [churned(0, 1); 4])
}
