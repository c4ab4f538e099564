//! Timed replays and eager runs.

use dacapo::op::from_fn;
use dacapo::raw::foreign;
use dacapo::{Recorder, Result, Slot, baked, copy, fill};

use super::{Bench, right, scenarios};
use crate::forms::kernels::churned;

scenarios!("profile": timed, timed_foreign, timed_eagerly, timed_eagerly_in_rounds);

/// A profile between two launches, with a slot that changes.
fn timed(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut x, mut y, rounds) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?, Slot::new(1u32));
    let mut graph = device.record(from_fn(|r: &mut Recorder<'_>| {
        r.run(k.churn(&rounds, &mut x))?;
        r.run(copy(&x, &mut y))
    }))?;
    graph.launch(stream)?;
    rounds.set(2);
    let profile = graph.profile(stream)?;
    right("y", stream.read(&y)?, [churned(0, 3); 8])?;
    right("ops", profile.ops.len(), 2)?;
    rounds.set(3);
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 6); 8])
}

/// A profile that captures foreign work once more.
fn timed_foreign(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(from_fn(|r: &mut Recorder<'_>| {
        // SAFETY: a fill of what is declared as written.
        r.run(unsafe { foreign((), &mut y[..], bench.library(7)) })?;
        r.run(fill(&mut y[..2], baked(1)))
    }))?;
    right("ops", graph.profile(stream)?.ops.len(), 2)?;
    right("y", stream.read(&y)?, [1, 1, 7, 7, 7, 7, 7, 7])
}

/// An eager run with a temp, and with foreign work.
fn timed_eagerly(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let profile = stream.profile(from_fn(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u32>(8)?;
        r.run(fill(&mut t, baked(0)))?;
        r.run(k.churn(baked(2), &mut t))?;
        r.run(copy(&t, &mut y))?;
        // SAFETY: a fill of what is declared as written.
        r.run(unsafe { foreign((), &mut y[..2], bench.library(7)) })
    }))?;
    right("ops", profile.ops.len(), 4)?;
    right("y", stream.read(&y)?[1..3].to_vec(), [7, churned(0, 2)])
}

/// An eager run whose rounds the host counts.
fn timed_eagerly_in_rounds(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let graph = device.record(from_fn(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(3), |r: &mut Recorder<'_>| r.run(k.churn(baked(1), &mut y))).map(drop)
    }))?;
    let profile = stream.profile(graph.as_op())?;
    right("rounds", profile.ops.iter().filter_map(|op| profile.rounds(op.index)).collect::<Vec<_>>(), [3])?;
    right("y", stream.read(&y)?, [churned(0, 3); 8])
}
