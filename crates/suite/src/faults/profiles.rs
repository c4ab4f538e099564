//! Timed replays.

use dacapo::op::from_fn;
use dacapo::raw::foreign;
use dacapo::{Recorder, Result, Slot, baked, copy, fill};

use super::{Bench, right, scenarios};
use crate::forms::kernels::churned;

scenarios!("profile": timed, timed_foreign);

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
