//! Planned memory: one allocation for all temps, arenas of the caller's, workspaces.

use dacapo::{Device, ErrorKind, Recorder, Slice, baked, copy};

use super::check::{Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Kernels, churned, ramp};

forms!("arenas":
    temps_share, branches_do_not, a_callers_own, exhausted, eager, on_two_streams, dropped_first, inside_another, workspaces,
);

/// `out` ← x + 1 for each of so many temps, one after the other.
fn chain(r: &mut Recorder<'_>, k: &Kernels, temps: usize, x: &Slice<f32>, out: &mut Slice<f32>) -> dacapo::Result<()> {
    let mut last = r.alloc(x.len())?;
    r.run(k.add(x, baked(1.0), &mut last))?;
    for _ in 1..temps {
        let mut next = r.alloc(x.len())?;
        r.run(k.add(&last, baked(1.0), &mut next))?;
        last = next;
    }
    r.run(copy(&last, out))
}

fn plus(x: &[f32], by: usize) -> Vec<f32> {
    x.iter().map(|x| x + by as f32).collect()
}

/// Of a chain of temps two are alive at a time, and no more memory is taken.
fn temps_share(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(64))?, device.zeros::<f32>(64)?);
    let before = device.counters().allocations;
    let mut graph = device.record(|r: &mut Recorder<'_>| chain(r, &k, 9, &x, &mut y))?;
    let edges: Vec<(usize, usize)> = (0..9).map(|op| (op, op + 1)).collect();
    shape(&graph, 10, &edges)?;
    same("bytes", graph.memory().temps(), 2 * 256)?;
    same("allocations", device.counters().allocations, before + 1)?;
    for _ in 0..3 {
        graph.launch(&stream)?;
    }
    same("y", stream.read(&y)?, plus(&ramp(64), 9))
}

/// What may overlap in time does not overlap in memory, and no edge was added for memory's sake.
fn branches_do_not(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&ramp(64))?;
    let mut outs = [device.zeros::<f32>(64)?, device.zeros::<f32>(64)?, device.zeros::<f32>(64)?];
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        for out in &mut outs {
            chain(r, &k, 3, &x, out)?;
        }
        Ok(())
    })?;
    shape(&graph, 12, &[(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7), (8, 9), (9, 10), (10, 11)])?;
    same("bytes", graph.memory().temps(), 3 * 2 * 256)?;
    for _ in 0..3 {
        graph.launch(&stream)?;
    }
    for out in &outs {
        same("y", stream.read(out)?, plus(&ramp(64), 3))?;
    }
    Ok(())
}

/// Two graphs in an arena of the caller's: nothing more is allocated, and it says how much they needed.
fn a_callers_own(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let arena = device.arena(1 << 12)?;
    let (x, mut y, mut z) = (device.buffer(&ramp(64))?, device.zeros::<f32>(64)?, device.zeros::<f32>(32)?);
    let before = device.counters().allocations;
    let recording = device.graph().arena(&arena);
    let mut small = recording.clone().record(|r: &mut Recorder<'_>| chain(r, &k, 3, &x[..32], &mut z))?;
    let needed = arena.used();
    let mut large = recording.record(|r: &mut Recorder<'_>| chain(r, &k, 5, &x, &mut y))?;
    same("allocations", device.counters().allocations, before)?;
    same("needed", (needed, arena.used(), arena.bytes(), arena.graphs()), (256 + 128, 512, 4096, 2))?;
    for _ in 0..3 {
        small.launch(&stream)?;
        large.launch(&stream)?;
    }
    same("z", stream.read(&z)?, plus(&ramp(32), 3))?;
    same("y", stream.read(&y)?, plus(&ramp(64), 5))
}

/// Too small an arena is an error that names the op, before anything was done.
fn exhausted(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let arena = device.arena(400)?;
    let (x, mut y) = (device.buffer(&ramp(64))?, device.zeros::<f32>(64)?);
    let too_much =
        |kind: &ErrorKind| *kind == ErrorKind::ArenaExhausted { wanted: 256, left: 144, bytes: 400, needed: 512 };
    let recorded = device.graph().arena(&arena).record(|r: &mut Recorder<'_>| chain(r, &k, 2, &x, &mut y));
    same("the op", refused("a graph", recorded, too_much)?.op(), "add")?;
    let ran = stream.run_in(&arena, |r: &mut Recorder<'_>| chain(r, &k, 2, &x, &mut y));
    refused("a run", ran, too_much)?;
    stream.run_in(&arena, |r: &mut Recorder<'_>| chain(r, &k, 1, &x, &mut y))?;
    same("one temp fits", stream.read(&y)?, plus(&ramp(64), 1))
}

/// Eager runs lay out the same way: in the stream's own memory, or in an arena.
fn eager(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (arena, x, mut y) = (device.arena(512)?, device.buffer(&ramp(64))?, device.zeros::<f32>(64)?);
    for temps in 1..6 {
        stream.run(|r: &mut Recorder<'_>| chain(r, &k, temps, &x, &mut y))?;
        same("y", stream.read(&y)?, plus(&ramp(64), temps))?;
        stream.run_in(&arena, |r: &mut Recorder<'_>| chain(r, &k, temps + 10, &x, &mut y))?;
        same("y", stream.read(&y)?, plus(&ramp(64), temps + 10))?;
    }
    same("needed", arena.used(), 512)
}

/// Graphs and runs in one arena never overlap, whatever their streams.
fn on_two_streams(device: &Device) -> Outcome {
    let k = Kernels::load(device)?;
    let streams = [device.stream()?, device.stream()?];
    let arena = device.arena(256)?;
    let mut outs = [device.zeros::<u32>(16)?, device.zeros::<u32>(16)?, device.zeros::<u32>(16)?];
    let [a, b, c] = &mut outs;
    let mut graphs = Vec::new();
    for (rounds, out) in [(500, a), (3, b)] {
        graphs.push(device.graph().arena(&arena).record(|r: &mut Recorder<'_>| busy(r, &k, rounds, out))?);
    }
    for round in 0..4 {
        for (number, graph) in graphs.iter_mut().enumerate() {
            graph.launch(&streams[(number + round) % 2])?;
        }
        streams[round % 2].run_in(&arena, |r: &mut Recorder<'_>| busy(r, &k, 40, c))?;
    }
    for (out, rounds) in outs.iter().zip([500, 3, 40]) {
        same("out", streams[0].read(out)?, [churned(rounds, rounds); 16])?;
    }
    Ok(())
}

/// `out` ← `rounds` steps from `rounds`, in a temp: work that takes a while.
pub(super) fn busy(r: &mut Recorder<'_>, k: &Kernels, rounds: u32, out: &mut Slice<u32>) -> dacapo::Result<()> {
    let mut t = r.alloc::<u32>(out.len())?;
    r.run(dacapo::fill(&mut t, baked(rounds)))?;
    r.run(k.churn(baked(rounds), &mut t))?;
    r.run(copy(&t, out))
}

/// An arena's handle goes first: graphs and work in flight keep its memory.
fn dropped_first(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut out = device.zeros::<u32>(16)?;
    for round in 0..3 {
        let arena = device.arena(64)?;
        let mut graph = device.graph().arena(&arena).record(|r: &mut Recorder<'_>| busy(r, &k, 900, &mut out))?;
        drop(arena);
        graph.launch(&stream)?;
        drop(graph);
        // Looks through what was dropped, and takes memory.
        drop(device.buffer(&[round; 64])?);
        let arena = device.arena(64)?;
        stream.run_in(&arena, |r: &mut Recorder<'_>| busy(r, &k, 800 + round, &mut out))?;
        drop(arena);
        drop(device.buffer(&[round; 64])?);
        same("out", stream.read(&out)?, [churned(800 + round, 800 + round); 16])?;
    }
    Ok(())
}

/// A graph inside another has its temps laid out again, with the larger one's.
fn inside_another(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let arena = device.arena(4096)?;
    let (x, mut y, mut z) = (device.buffer(&ramp(64))?, device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
    let (seen, inner) = (y.share(), device.record(|r: &mut Recorder<'_>| chain(r, &k, 4, &x, &mut y))?);
    let mut outer = device.graph().arena(&arena).record(|r: &mut Recorder<'_>| {
        r.run(inner.as_op())?;
        chain(r, &k, 2, &seen, &mut z)
    })?;
    holds("the temps of both share", outer.memory().temps() <= 2 * 256)?;
    drop(inner);
    outer.launch(&stream)?;
    same("z", stream.read(&z)?, plus(&ramp(64), 6))
}

/// Scratch of a library is a temp: it needs no write first, shares with the others, and is counted.
fn workspaces(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(64))?, device.zeros::<f32>(64)?);
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        for _ in 0..3 {
            let mut scratch = r.workspace(1024)?;
            // SAFETY: it enqueues nothing.
            r.run(unsafe { dacapo::raw::foreign((), (&mut scratch[..], &mut y[..]), |_, (), _| Ok(())) })?;
        }
        chain(r, &k, 2, &x, &mut y)
    })?;
    same("bytes", (graph.memory().temps(), graph.memory().workspaces), (1024 + 512, 1024))?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, plus(&ramp(64), 2))
}
