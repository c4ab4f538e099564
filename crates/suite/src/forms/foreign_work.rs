//! Work that only a stream can record, and kernels without a declaration.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dacapo::inspect::Kind;
use dacapo::raw::{RawArg, RawKernel, foreign};
use dacapo::{Device, Error, ErrorKind, Op, Recorder, Slot, baked, copy, fill, grid};

use super::check::{Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Kernels, PTX, churned, ramp};
use super::library::Library;

forms!("foreign":
    recorded_and_eager, with_temps, keeps_alive, failing_closure, nothing_enqueued, stand_ins_refused, raw_kernel,
    raw_kernel_slot,
);

/// Recorded between two ops of ours, with edges on both sides; and the same eagerly.
fn recorded_and_eager(device: &Device) -> Outcome {
    let (stream, k, library) = (device.stream()?, Kernels::load(device)?, Library::of(device)?);
    let body = |r: &mut Recorder<'_>| {
        let (mut x, mut y) = (r.alloc::<u32>(8)?, r.output::<u32>(8)?);
        r.run(fill(&mut x, baked(3)))?;
        let inner = library.clone();
        // SAFETY: it enqueues one copy and one fill, inside what is declared, and may be replayed.
        let work = unsafe {
            foreign(&x[..4], &mut y[..], move |stream, source, target| {
                inner.set_words(stream, target, 7)?;
                inner.copy_words(stream, source, target)
            })
        };
        r.run(work.label("library"))?;
        r.run(k.increment_first(baked(8), &mut y))?;
        Ok(y)
    };
    let mut graph = device.record(body)?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    same("the kind", graph.inspect().nodes[1].kind, Kind::Foreign)?;
    let want = [4, 4, 4, 4, 8, 8, 8, 8];
    for _ in 0..2 {
        same("replayed", stream.read(graph.launch_sync(&stream)?)?, want)?;
    }
    same("eagerly", stream.read(&stream.run(body)?)?, want)
}

/// Temps have addresses when the closure is called, recorded or eagerly.
fn with_temps(device: &Device) -> Outcome {
    let (stream, library) = (device.stream()?, Library::of(device)?);
    let body = |r: &mut Recorder<'_>| {
        let (mut s, mut t, mut y) = (r.alloc::<u32>(6)?, r.alloc::<u32>(6)?, r.output::<u32>(6)?);
        let (first, second) = (library.clone(), library.clone());
        // SAFETY: one fill of what is declared as written.
        r.run(unsafe { foreign((), &mut s[..], move |stream, (), s| first.set_words(stream, s, 5)) })?;
        // SAFETY: one copy from what is declared as read to what is declared as written.
        r.run(unsafe { foreign(&s[..], &mut t[..], move |stream, s, t| second.copy_words(stream, s, t)) })?;
        r.run(copy(&t, &mut y))?;
        Ok(y)
    };
    let mut graph = device.record(body)?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    same("replayed", stream.read(graph.launch_sync(&stream)?)?, [5; 6])?;
    same("eagerly", stream.read(&stream.run(body)?)?, [5; 6])
}

/// What the closure owns lives as long as the graph, and until its last replay is over.
fn keeps_alive(device: &Device) -> Outcome {
    struct Counted(Arc<AtomicU32>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (stream, library) = (device.stream()?, Library::of(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let (drops, calls) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (owned, called) = (Counted(drops.clone()), calls.clone());
    // SAFETY: one fill of what is declared as written.
    let work = unsafe {
        foreign((), &mut y[..], move |stream, (), y| {
            let _held = &owned;
            called.fetch_add(1, Ordering::Relaxed);
            library.set_words(stream, y, 9)
        })
    };
    let mut graph = device.record(work)?;
    shape(&graph, 1, &[])?;
    for _ in 0..3 {
        graph.launch(&stream)?;
    }
    same("called once, for the capture", calls.load(Ordering::Relaxed), 1)?;
    same("held by the graph", drops.load(Ordering::Relaxed), 0)?;
    drop(graph);
    same("y", stream.read(&y)?, [9; 4])?;
    device.synchronize()?;
    same("let go", drops.load(Ordering::Relaxed), 1)
}

/// An error of the closure's own is the recording's error; device and streams work on.
fn failing_closure(device: &Device) -> Outcome {
    let (stream, library) = (device.stream()?, Library::of(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let inner = library.clone();
    // SAFETY: one fill of what is declared as written.
    let failing = unsafe {
        foreign((), &mut y[..], move |stream, (), y| {
            inner.set_words(stream, y, 1)?;
            Err(Error::msg("the library said no"))
        })
    };
    let error = refused("a failing closure", device.record(failing), |kind| matches!(kind, ErrorKind::Msg(_)))?;
    same("its text", error.to_string().contains("the library said no"), true)?;
    same("nothing ran", stream.read(&y)?, [0; 4])?;
    // The library itself is refused inside foreign work.
    let (inside, asked) = (stream.clone(), Arc::new(AtomicU32::new(0)));
    let seen = asked.clone();
    // SAFETY: one fill of what is declared as written.
    let curious = unsafe {
        foreign((), &mut y[..], move |raw, (), y| {
            seen.fetch_add(u32::from(inside.synchronize().is_err()), Ordering::Relaxed);
            library.set_words(raw, y, 2)
        })
    };
    let mut graph = device.record(curious)?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    same("it was told no", asked.load(Ordering::Relaxed), 1)?;
    same("y", stream.read(&y)?, [2; 4])
}

/// A closure that enqueues nothing is a node that does nothing; what stands behind it still waits for what is before.
fn nothing_enqueued(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let mut graph = device.record(|r| {
        r.run(k.churn(baked(100), &mut y))?;
        // SAFETY: it enqueues nothing.
        r.run(unsafe { foreign((), &mut y[..], |_, (), _| Ok(())) })?;
        r.run(k.churn(baked(100), &mut y))
    })?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [churned(0, 200); 4])
}

/// What it enqueues is frozen, so memory that is bound at each launch is refused.
fn stand_ins_refused(device: &Device) -> Outcome {
    let (stream, library) = (device.stream()?, Library::of(device)?);
    let (x, mut y) = (device.buffer(&[1u32; 4])?, device.zeros::<u32>(4)?);
    let inner = library.clone();
    let frozen = device.graph().record_into(&x[..], &mut y[..], move |r, _, y| {
        // SAFETY: one fill of what is declared as written.
        r.run(unsafe { foreign((), y, move |stream, (), y| inner.set_words(stream, y, 1)) })
    });
    refused("a stand-in", frozen, |kind| matches!(kind, ErrorKind::NoMemoryYet { call: "foreign" }))?;
    // A temp between is the way.
    let mut graph = device.graph().record_into(&x[..], &mut y[..], move |r, x, y| {
        let (mut s, mut t) = (r.alloc(4)?, r.alloc(4)?);
        r.run(copy(x, &mut s))?;
        // SAFETY: one copy from what is declared as read to what is declared as written.
        r.run(unsafe { foreign(&s[..], &mut t[..], move |stream, s, t| library.copy_words(stream, s, t)) })?;
        r.run(copy(&t, y))
    })?;
    same("ops", graph.len(), 3)?;
    graph.launch(&stream, &x, &mut y)?;
    same("y", stream.read(&y)?, [1; 4])
}

/// A kernel without a declaration: what the driver knows is checked, the rest is promised.
fn raw_kernel(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let kernel = RawKernel::load(device, PTX, "saxpy")?;
    let (x, mut y) = (device.buffer(&ramp(40))?, device.zeros::<f32>(40)?);
    let a = Slot::new(2.0f32);
    let arguments = vec![RawArg::value(baked(40u32)), RawArg::value(&a), RawArg::read(&x), RawArg::write(&mut y)];
    // SAFETY: `saxpy(n, a, x, y)` checks its bounds against n, which is the length of both.
    let mut graph = device.record(unsafe { kernel.launch(grid::linear(40, 32), arguments) })?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    a.set(1.0);
    graph.launch(&stream)?;
    let want: Vec<f32> = ramp(40).iter().map(|x| 3.0 * x).collect();
    same("y", stream.read(&y)?, want)?;
    // SAFETY: refused before anything is launched.
    let few = device.record(unsafe { kernel.launch(grid::linear(40, 32), vec![RawArg::value(baked(40u32))]) });
    refused("three arguments too few", few, |kind| matches!(kind, ErrorKind::Signature { .. }))?;
    let wide = vec![RawArg::value(baked(40u64)), RawArg::value(&a), RawArg::read(&x), RawArg::write(&mut y)];
    // SAFETY: refused before anything is launched.
    let wide = device.record(unsafe { kernel.launch(grid::linear(40, 32), wide) });
    refused("an argument of eight bytes for four", wide, |kind| matches!(kind, ErrorKind::Signature { .. }))?;
    let missing = RawKernel::load(device, PTX, "no_such_kernel");
    refused(
        "no such kernel",
        missing,
        |kind| matches!(kind, ErrorKind::NoSuchKernel { name, .. } if name == "no_such_kernel"),
    )
    .map(drop)
}

/// Raw kernels and declared ones in one graph, with edges by what they say they touch.
fn raw_kernel_slot(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let churn = RawKernel::load(device, PTX, "churn")?;
    let mut y = device.zeros::<u32>(4)?;
    let rounds = Slot::new(1u32);
    let mut graph = device.record(|r| {
        r.run(k.churn(baked(10), &mut y))?;
        let arguments = vec![RawArg::value(baked(4u32)), RawArg::value(&rounds), RawArg::write(&mut y)];
        // SAFETY: `churn(n, rounds, y)` checks its bounds against n, the length of y, and ends after `rounds` rounds.
        r.run(unsafe { churn.launch(grid::linear(4, 32), arguments) })?;
        r.run(k.churn(&rounds, &mut y))
    })?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    graph.launch(&stream)?;
    rounds.set(20);
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [churned(0, 12 + 50); 4])?;
    holds("the report names it", graph.inspect().nodes[1].name == "churn")
}
