//! Control flow: recorded, launched, run eagerly, recorded again, embedded, dropped in the middle.

use dacapo::flow::{below, nonzero, up_to};
use dacapo::raw::foreign;
use dacapo::shapes::GraphCache;
use dacapo::{Error, Recorder, Result, Slice, Slot, baked, copy, fill};

use super::{Bench, right, scenarios};
use crate::forms::kernels::{Kernels, churned};

scenarios!("flow":
    record_launch, branches, eager, eager_nested, slots, rerecorded, rerecorded_anew, embedded, dropped_in_flight,
    foreign_in_a_body, foreign_fails_in_a_body, into, profiled, cached, failing_body, in_an_arena,
);

/// `times` rounds of `steps` steps in a temp, unless the first number is 0.
fn rounds(r: &mut Recorder<'_>, k: &Kernels, times: &Slot<u32>, steps: u32, y: &mut Slice<u32>) -> Result<()> {
    r.repeat_times(times, |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u32>(4)?;
        r.run(copy(&*y, &mut t))?;
        r.run(k.churn(baked(steps), &mut t))?;
        r.run(copy(&t, y))
    })
    .map(drop)
}

/// A loop with a bound, a way out and a count.
fn record_launch(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(2)?;
    let mut graph = device.record(|r| {
        let rounds = r.repeat(up_to(baked(9)), |r| {
            r.run(k.increment_first(baked(1), &mut y))?;
            r.leave_if(nonzero(y.at(1)))?;
            r.run(k.increment_first(baked(1), &mut y))?;
            Ok(below(y.at(0), baked(5)))
        })?;
        r.run(copy(rounds.count().as_slice(), &mut y[1..]))
    })?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [6, 3])?;
    graph.launch(stream)?;
    drop(graph);
    right("y", stream.read(&y)?, [7, 1])
}

/// A branch of two sides and a switch, both ways.
fn branches(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (mut y, flag) = (device.zeros::<u32>(2)?, Slot::new(1u32));
    let mut graph = device.record(|r| {
        r.when(nonzero(&flag), |r| r.run(fill(&mut y[..1], baked(5))))?
            .otherwise(|r| r.run(fill(&mut y[..1], baked(6))))?;
        r.switch(&flag, 2, |r, case| r.run(fill(&mut y[1..], baked(10 + case))))
    })?;
    graph.launch(stream)?;
    right("taken", stream.read(&y)?, [5, 11])?;
    flag.set(0);
    graph.launch(stream)?;
    right("not taken", stream.read(&y)?, [6, 10])
}

/// On a stream, at once: the host reads each decision.
fn eager(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut y, times) = (device.zeros::<u32>(4)?, Slot::new(2u32));
    stream.run(|r: &mut Recorder<'_>| rounds(r, k, &times, 3, &mut y))?;
    right("y", stream.read(&y)?, [churned(0, 6); 4])
}

/// A branch and a switch in a loop, at once.
fn eager_nested(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(3)?;
    stream.run(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            let round = r.round()?;
            r.when(nonzero(&*round), |r: &mut Recorder<'_>| r.run(k.increment_first(baked(1), &mut y)))?
                .otherwise(|r: &mut Recorder<'_>| r.run(fill(&mut y[2..], baked(8))))?;
            r.switch(&*round, 2, |r, case| r.run(fill(&mut y[1..2], baked(case + 3))))
        })
        .map(drop)
    })?;
    right("y", stream.read(&y)?, [1, 4, 8])
}

/// A number of rounds, a value of a kernel in a body, and a condition, changed between launches.
fn slots(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (times, by, limit) = (Slot::new(1u32), Slot::new(1.0f32), Slot::new(0u32));
    let (one, mut y) = (device.buffer(&[1.0f32; 4])?, device.zeros::<f32>(4)?);
    let mut graph = device.record(|r| {
        r.repeat_times(&times, |r| {
            let round = r.round()?;
            r.when(below(&*round, &limit), |r| r.run(k.saxpy(&by, &one, &mut y))).map(drop)
        })
        .map(drop)
    })?;
    graph.launch(stream)?;
    right("none", stream.read(&y)?, [0.0; 4])?;
    limit.set(2);
    times.set(5);
    by.set(3.0);
    graph.launch(stream)?;
    right("two rounds of five", stream.read(&y)?, [6.0; 4])
}

/// Another number in the body, in place.
fn rerecorded(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut y, times) = (device.zeros::<u32>(4)?, Slot::new(2u32));
    let mut graph = device.record(|r: &mut Recorder<'_>| rounds(r, k, &times, 1, &mut y))?;
    graph.launch(stream)?;
    graph.rerecord(|r: &mut Recorder<'_>| rounds(r, k, &times, 5, &mut y))?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 12); 4])
}

/// Another body: built anew.
fn rerecorded_anew(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut y, times) = (device.zeros::<u32>(4)?, Slot::new(2u32));
    let mut graph = device.record(|r: &mut Recorder<'_>| rounds(r, k, &times, 1, &mut y))?;
    graph.launch(stream)?;
    graph.rerecord(|r: &mut Recorder<'_>| {
        r.when(nonzero(&times), |r: &mut Recorder<'_>| rounds(r, k, &times, 5, &mut y)).map(drop)
    })?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 12); 4])
}

/// A graph with a loop in a loop of another.
fn embedded(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut y, times) = (device.zeros::<u32>(4)?, Slot::new(2u32));
    let inner = device.record(|r: &mut Recorder<'_>| rounds(r, k, &times, 1, &mut y))?;
    let mut outer = device.record(|r| r.repeat_times(baked(3), |r| r.run(inner.as_op())).map(drop))?;
    drop(inner);
    outer.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 6); 4])
}

/// Dropped while its rounds may be running.
fn dropped_in_flight(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut y, times) = (device.zeros::<u32>(4)?, Slot::new(4u32));
    let mut graph = device.record(|r: &mut Recorder<'_>| rounds(r, k, &times, 50, &mut y))?;
    graph.launch(stream)?;
    drop(graph);
    drop(device.zeros::<u32>(64)?);
    right("y", stream.read(&y)?, [churned(0, 200); 4])
}

/// Another library's work in a loop and in a branch of it, replayed and at once.
fn foreign_in_a_body(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let mut op = |r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            // SAFETY: it sets what is declared as written, and may be replayed.
            r.run(unsafe { foreign((), &mut y[..2], bench.library(6)) })?;
            r.when(nonzero(y.at(0)), |r: &mut Recorder<'_>| {
                // SAFETY: as above.
                r.run(unsafe { foreign((), &mut y[2..], bench.library(8)) })
            })?;
            r.run(k.increment_first(baked(4), &mut y))
        })
        .map(drop)
    };
    let mut graph = device.record(&mut op)?;
    graph.launch(stream)?;
    drop(graph);
    stream.run(&mut op)?;
    right("y", stream.read(&y)?, [7, 7, 9, 9])
}

/// The library's own error inside a body is the recording's, and the graph that was being built is gone.
fn foreign_fails_in_a_body(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let library = bench.library(1);
    let failed = device.record(|r| {
        r.repeat_times(baked(2), |r| {
            // SAFETY: it sets what is declared as written.
            r.run(unsafe {
                foreign((), &mut y[..], move |stream, (), y| {
                    library(stream, (), y)?;
                    Err(Error::msg("meant"))
                })
            })
        })
        .map(drop)
    });
    match failed {
        Err(error) if error.to_string().contains("meant") => right("y", stream.read(&y)?, [0; 4]),
        Err(error) => Err(error),
        Ok(_) => Err(Error::msg("WRONG: it was recorded")),
    }
}

/// Bound memory in a body and in a condition.
fn into(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (x, mut y) = (device.buffer(&[2u32, 3])?, device.zeros::<u32>(1)?);
    let mut graph = device.graph().record_into(&x[..1], &mut y[..], |r, x, y| {
        r.repeat_times(x.at(0), |r| r.run(k.increment_first(baked(1), y))).map(drop)
    })?;
    graph.launch(stream, &x[..1], &mut y)?;
    graph.launch(stream, &x[1..], &mut y)?;
    right("y", stream.read(&y)?, [5])
}

/// A timed replay.
fn profiled(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut y, times) = (device.zeros::<u32>(4)?, Slot::new(2u32));
    let mut graph = device.record(|r: &mut Recorder<'_>| rounds(r, k, &times, 2, &mut y))?;
    graph.profile(stream)?;
    right("y", stream.read(&y)?, [churned(0, 4); 4])
}

/// A cache with room for one graph.
fn cached(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (times, mut cache) = (Slot::new(2u32), GraphCache::new(device).max_graphs(1));
    for steps in [1u32, 2, 2] {
        let y = cache.run(stream, &steps, |r: &mut Recorder<'_>| {
            let mut y = r.output::<u32>(4)?;
            r.run(fill(&mut y, baked(0)))?;
            rounds(r, k, &times, steps, &mut y)?;
            Ok(y)
        })?;
        right("y", stream.read(y)?, [churned(0, 2 * steps); 4])?;
    }
    Ok(())
}

/// A body that fails, and another instead.
fn failing_body(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut y, times) = (device.zeros::<u32>(4)?, Slot::new(2u32));
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let given_up = r.repeat_times(&times, |r: &mut Recorder<'_>| {
            rounds(r, k, &times, 9, &mut y)?;
            Err(Error::msg("given up"))
        });
        right("it failed", given_up.is_err(), true)?;
        rounds(r, k, &times, 1, &mut y)
    })?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 2); 4])
}

/// A graph and an eager run in one arena.
fn in_an_arena(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (arena, times) = (device.arena(1 << 10)?, Slot::new(2u32));
    let mut y = device.zeros::<u32>(4)?;
    let mut graph = device.graph().arena(&arena).record(|r: &mut Recorder<'_>| rounds(r, k, &times, 1, &mut y))?;
    graph.launch(stream)?;
    stream.run_in(&arena, |r: &mut Recorder<'_>| rounds(r, k, &times, 1, &mut y))?;
    drop((graph, arena));
    right("y", stream.read(&y)?, [churned(0, 4); 4])
}
