//! Planned memory: arenas of the caller's, and those that graphs of a pool share.
//!
//! Where a graph is refused memory, those that are there must go on working: the scenarios look before they give up.

use dacapo::graph::Pool;
use dacapo::{Graph, Recorder, Result, Slice, baked, capture, copy, fill};

use super::{Bench, right, scenarios};
use crate::forms::kernels::churned;

scenarios!("arenas": callers_own, eager_in_one, one_for_a_pool, grown, captured, dropped_in_flight);

/// `out` ← `rounds` steps from `rounds`, in a temp of so many elements.
fn step(bench: &Bench, r: &mut Recorder<'_>, len: usize, rounds: u32, out: &mut Slice<u32>) -> Result<()> {
    let (mut s, mut t) = (r.alloc::<u32>(len)?, r.alloc::<u32>(len)?);
    let at = len - out.len();
    r.run(fill(&mut s[at..], baked(rounds)))?;
    r.run(bench.k.churn(baked(rounds), &mut s[at..]))?;
    r.run(copy(&s[at..], &mut t[at..]))?;
    r.run(copy(&t[at..], out))
}

fn in_pool(bench: &Bench, pool: &Pool, len: usize, rounds: u32, out: &mut Slice<u32>) -> Result<Graph<()>> {
    bench.device.graph().pool(pool).record(|r: &mut Recorder<'_>| step(bench, r, len, rounds, out))
}

/// An arena, a graph in it, and another whose making may fail: the first still works.
fn callers_own(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let arena = device.arena(1024)?;
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let recording = device.graph().arena(&arena);
    let mut first = recording.clone().record(|r: &mut Recorder<'_>| step(bench, r, 32, 3, &mut x))?;
    let second = recording.record(|r: &mut Recorder<'_>| step(bench, r, 64, 4, &mut y));
    first.launch(stream)?;
    right("x", stream.read(&x)?, [churned(3, 3); 8])?;
    let mut second = second?;
    right("graphs", arena.graphs(), 2)?;
    second.launch(stream)?;
    drop((first, second, arena));
    right("y", stream.read(&y)?, [churned(4, 4); 8])
}

/// Eager runs in an arena allocate nothing.
fn eager_in_one(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (arena, other) = (device.arena(512)?, device.stream()?);
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    for rounds in 1..4 {
        stream.run_in(&arena, |r: &mut Recorder<'_>| step(bench, r, 64, rounds, &mut x))?;
        other.run_in(&arena, |r: &mut Recorder<'_>| step(bench, r, 64, rounds + 5, &mut y))?;
    }
    drop(arena);
    right("x and y", (stream.read(&x)?, other.read(&y)?), (vec![churned(3, 3); 8], vec![churned(8, 8); 8]))
}

/// Two graphs in one pool, the larger first.
fn one_for_a_pool(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (pool, mut x, mut y) = (device.pool(), device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let mut large = in_pool(bench, &pool, 100, 3, &mut x)?;
    let bytes = pool.arena_bytes();
    let mut small = in_pool(bench, &pool, 50, 4, &mut y)?;
    right("it was large enough", pool.arena_bytes(), bytes)?;
    large.launch(stream)?;
    small.launch(stream)?;
    right("x and y", (stream.read(&x)?, stream.read(&y)?), (vec![churned(3, 3); 8], vec![churned(4, 4); 8]))
}

/// A pool's arena grows twice. A growth that is refused changes nothing: the graphs that are there work, and the arena is as
/// large as it was.
fn grown(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (pool, mut x, mut y) = (device.pool(), device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let mut small = in_pool(bench, &pool, 1 << 18, 3, &mut x)?;
    for rounds in [4, 5] {
        let before = pool.arena_bytes();
        let large = in_pool(bench, &pool, (rounds as usize) << 18, rounds, &mut y);
        small.launch(stream)?;
        right("x", stream.read(&x)?, [churned(3, 3); 8])?;
        let room = pool.arena_bytes();
        right("all or nothing", room == before || room >= (rounds as usize) << 21, true)?;
        let mut large = large?;
        large.launch(stream)?;
        drop(large);
        right("y", stream.read(&y)?, [churned(rounds, rounds); 8])?;
    }
    drop((small, pool));
    device.synchronize()
}

/// A capture that joins a pool.
fn captured(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (pool, mut x, mut y) = (device.pool(), device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let on = capture::CaptureStream::new(device)?;
    // SAFETY: nothing but ops of the library is captured.
    let mut guard = unsafe { capture::begin_with_pool(&on, capture::Mode::Relaxed, &pool) }?;
    guard.run(|r: &mut Recorder<'_>| step(bench, r, 64, 3, &mut x))?;
    guard.run(|r: &mut Recorder<'_>| step(bench, r, 128, 4, &mut y))?;
    let mut graph = guard.finish()?;
    graph.launch(stream)?;
    drop((graph, pool));
    right("x and y", (stream.read(&x)?, stream.read(&y)?), (vec![churned(3, 3); 8], vec![churned(4, 4); 8]))
}

/// Pool, graph and arena go while their work runs.
fn dropped_in_flight(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let (pool, arena) = (device.pool(), device.arena(512)?);
    let mut graph = in_pool(bench, &pool, 64, 90, &mut x)?;
    graph.launch(stream)?;
    drop((graph, pool));
    stream.run_in(&arena, |r: &mut Recorder<'_>| step(bench, r, 64, 90, &mut y))?;
    drop(arena);
    drop(device.zeros::<u32>(64)?);
    right("x and y", (stream.read(&x)?, stream.read(&y)?), (vec![churned(90, 90); 8], vec![churned(90, 90); 8]))
}
