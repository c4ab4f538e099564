//! Another library's work inside bodies.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dacapo::flow::{equal, nonzero, up_to};
use dacapo::raw::{RawArg, RawKernel, foreign};
use dacapo::{Device, Error, ErrorKind, Recorder, Slot, baked, copy, grid};

use crate::forms::check::{Outcome, refused, same};
use crate::forms::forms;
use crate::forms::kernels::{Kernels, PTX, churned};
use crate::forms::library::Library;

forms!("flow":
    foreign_in_a_loop, foreign_in_a_branch, foreign_in_nested_bodies, foreign_is_captured_once,
    foreign_fails_in_a_body, raw_kernel_in_a_body,
);

/// A copy and a fill by another library in each round, with temps of the round.
fn foreign_in_a_loop(device: &Device) -> Outcome {
    let (stream, k, library) = (device.stream()?, Kernels::load(device)?, Library::of(device)?);
    let (mut y, times) = (device.zeros::<u32>(4)?, Slot::new(0u32));
    let mut op = |r: &mut Recorder<'_>| {
        r.repeat_times(&times, |r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(4)?;
            let inner = library.clone();
            // SAFETY: one fill of what is declared as written and one copy into it, and both may be replayed.
            let work = unsafe {
                foreign(&y[..2], &mut t[..], move |stream, source, target| {
                    inner.set_words(stream, target, 7)?;
                    inner.copy_words(stream, source, target)
                })
            };
            r.run(work)?;
            r.run(k.churn(baked(1), &mut t))?;
            r.run(copy(&t, &mut y))
        })
        .map(drop)
    };
    let mut graph = device.record(&mut op)?;
    let mut want = [0u32; 4];
    for (n, eagerly) in [(1u32, false), (3, false), (0, false), (2, true), (2, false)] {
        times.set(n);
        match eagerly {
            true => stream.run(&mut op)?,
            false => graph.launch(&stream).map(drop)?,
        }
        for _ in 0..n {
            want = [want[0], want[1], 7, 7].map(|x| churned(x, 1));
        }
    }
    drop(graph);
    same("y", stream.read(&y)?, want)
}

/// On one side of a branch, in a case of a switch, and as the only op of a body.
fn foreign_in_a_branch(device: &Device) -> Outcome {
    let (stream, library) = (device.stream()?, Library::of(device)?);
    let (mut y, flag) = (device.zeros::<u32>(3)?, Slot::new(0u32));
    let mut set = |r: &mut Recorder<'_>, at: usize, value: u32| {
        let inner = library.clone();
        // SAFETY: one fill of what is declared as written.
        r.run(unsafe { foreign((), &mut y[at..at + 1], move |stream, (), y| inner.set_words(stream, y, value)) })
    };
    let mut op = |r: &mut Recorder<'_>| {
        r.when(nonzero(&flag), |r: &mut Recorder<'_>| set(r, 0, 1))?.otherwise(|r: &mut Recorder<'_>| set(r, 0, 2))?;
        r.switch(&flag, 2, |r, case| set(r, 1, 10 + case))?;
        r.when(equal(&flag, baked(5)), |r: &mut Recorder<'_>| set(r, 2, 50)).map(drop)
    };
    let mut graph = device.record(&mut op)?;
    let mut seen = Vec::new();
    for (f, eagerly) in [(0u32, false), (1, false), (5, false), (0, true), (1, true)] {
        flag.set(f);
        match eagerly {
            true => stream.run(&mut op)?,
            false => graph.launch(&stream).map(drop)?,
        }
        seen.push(f);
    }
    drop(graph);
    same("y", stream.read(&y)?, [1, 11, 50])?;
    same("launches", seen.len(), 5)
}

/// A loop in a branch in a loop, with a way out before it.
fn foreign_in_nested_bodies(device: &Device) -> Outcome {
    let (stream, k, library) = (device.stream()?, Kernels::load(device)?, Library::of(device)?);
    let (mut x, mut y) = (device.zeros::<u32>(1)?, device.zeros::<u32>(1)?);
    let mut op = |r: &mut Recorder<'_>| {
        r.repeat(up_to(baked(9)), |r: &mut Recorder<'_>| {
            r.run(k.increment_first(baked(1), &mut x))?;
            r.leave_if(equal(x.at(0), baked(4)))?;
            r.when(nonzero(x.at(0)), |r: &mut Recorder<'_>| {
                r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
                    let inner = library.clone();
                    // SAFETY: one copy from what is declared as read to what is declared as written.
                    r.run(unsafe { foreign(&x[..], &mut y[..], move |stream, x, y| inner.copy_words(stream, x, y)) })
                })
                .map(drop)
            })?;
            Ok(nonzero(x.at(0)))
        })
        .map(drop)
    };
    stream.run(&mut op)?;
    let mut graph = device.record(&mut op)?;
    graph.launch(&stream)?;
    drop(graph);
    // The second time the way out is not met any more: nine rounds from 4.
    same("x and y", (stream.read(&x)?, stream.read(&y)?), (vec![13], vec![13]))
}

/// The closure is called once, for the capture, however many rounds there are; eagerly once a round.
fn foreign_is_captured_once(device: &Device) -> Outcome {
    let (stream, library) = (device.stream()?, Library::of(device)?);
    let (mut y, calls) = (device.zeros::<u32>(4)?, Arc::new(AtomicU32::new(0)));
    let mut op = |r: &mut Recorder<'_>| {
        r.repeat_times(baked(3), |r: &mut Recorder<'_>| {
            let (inner, called) = (library.clone(), calls.clone());
            // SAFETY: one fill of what is declared as written.
            r.run(unsafe {
                foreign((), &mut y[..], move |stream, (), y| {
                    called.fetch_add(1, Ordering::Relaxed);
                    inner.set_words(stream, y, 9)
                })
            })
        })
        .map(drop)
    };
    let mut graph = device.record(&mut op)?;
    for _ in 0..3 {
        graph.launch(&stream)?;
    }
    same("captured once", calls.load(Ordering::Relaxed), 1)?;
    drop(graph);
    stream.run(&mut op)?;
    same("eagerly in each round", calls.load(Ordering::Relaxed), 4)?;
    device.synchronize()?;
    same("let go", Arc::strong_count(&calls), 1)?;
    same("y", stream.read(&y)?, [9; 4])
}

/// An error of the closure inside a body is the recording's error; device and streams work on.
fn foreign_fails_in_a_body(device: &Device) -> Outcome {
    let (stream, k, library) = (device.stream()?, Kernels::load(device)?, Library::of(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let mut failing = |r: &mut Recorder<'_>| {
        r.run(k.churn(baked(1), &mut y))?;
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            r.when(nonzero(y.at(0)), |r: &mut Recorder<'_>| {
                let inner = library.clone();
                // SAFETY: one fill of what is declared as written.
                r.run(unsafe {
                    foreign((), &mut y[..], move |stream, (), y| {
                        inner.set_words(stream, y, 1)?;
                        Err(Error::msg("the library said no"))
                    })
                })
            })
            .map(drop)
        })
        .map(drop)
    };
    let error = refused("a failing closure", device.record(&mut failing), |kind| matches!(kind, ErrorKind::Msg(_)))?;
    same("its text", error.to_string().contains("the library said no"), true)?;
    same("nothing ran", stream.read(&y)?, [0; 4])?;
    let mut graph = device.record(|r| r.repeat_times(baked(2), |r| r.run(k.churn(baked(1), &mut y))).map(drop))?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [churned(0, 2); 4])
}

/// A kernel without a declaration, with a slot, in a body.
fn raw_kernel_in_a_body(device: &Device) -> Outcome {
    let (stream, churn) = (device.stream()?, RawKernel::load(device, PTX, "churn")?);
    let (mut y, steps) = (device.zeros::<u32>(4)?, Slot::new(1u32));
    let mut graph = device.record(|r| {
        r.repeat_times(baked(3), |r| {
            let arguments = vec![RawArg::value(baked(4u32)), RawArg::value(&steps), RawArg::write(&mut y)];
            // SAFETY: `churn(n, rounds, y)` checks its bounds against n, the length of y, and ends after `rounds`
            // rounds.
            r.run(unsafe { churn.launch(grid::linear(4, 32), arguments) })
        })
        .map(drop)
    })?;
    graph.launch(&stream)?;
    steps.set(20);
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [churned(0, 63); 4])
}
