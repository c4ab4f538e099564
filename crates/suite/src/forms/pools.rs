//! Pools: graphs that belong together, values that live as long as they may be needed, and handles.

use std::sync::Arc;
use std::sync::Mutex;

use dacapo::graph::Pool;
use dacapo::{Device, ErrorKind, Recorder, baked, capture};

use super::arenas::busy;
use super::buckets::{RecordingOrder, eight_in_one_pool};
use super::check::{Failure, Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Kernels, churned};

forms!("pools":
    keep, sealed, handles, ordered_on_three_streams, kept_until_the_last_replay, one_arena, grown_in_place, arena_on_two_streams,
    arena_kept_until_the_last_replay, captured_in_a_pool,
);

/// Work that is still running when the next line is reached.
const ROUNDS: u32 = 5000;

/// Writes down that it was dropped.
struct Told(&'static str, Arc<Mutex<Vec<&'static str>>>);

impl Drop for Told {
    fn drop(&mut self) {
        self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(self.0);
    }
}

fn told(list: &Mutex<Vec<&'static str>>) -> Vec<&'static str> {
    list.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

/// Any value can be registered; clearing is refused under a graph, and releases in the order of registration.
fn keep(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (pool, list) = (device.pool(), Arc::new(Mutex::new(Vec::new())));
    same("numbers", (pool.keep(Told("a", list.clone()))?, pool.keep(Told("b", list.clone()))?), (0, 1))?;
    pool.keep(String::from("anything"))?;
    same("values", pool.len(), 3)?;
    let mut y = device.zeros::<f32>(4)?;
    let mut graph = device.graph().pool(&pool).record(k.add_stride(baked(1.0), &mut y))?;
    shape(&graph, 1, &[])?;
    same("the graph's pool", graph.pool(), Some(&pool))?;
    same("graphs", pool.graphs(), 1)?;
    graph.launch(&stream)?;
    refused("clearing under a graph", pool.clear(), |kind| *kind == ErrorKind::PoolInUse { graphs: 1 })?;
    holds("nothing was released", told(&list).is_empty())?;
    drop(graph);
    stream.synchronize()?;
    pool.clear()?;
    device.synchronize()?;
    same("released", told(&list), ["a", "b"])?;
    same("y", stream.read(&y)?, [1.0; 4])
}

/// A sealed pool is complete: nothing joins it, and what is in it is replayed.
fn sealed(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let pool = device.pool();
    let mut y = device.zeros::<f32>(4)?;
    let mut graph = device.graph().pool(&pool).record(k.add_stride(baked(1.0), &mut y))?;
    shape(&graph, 1, &[])?;
    pool.seal();
    holds("it is sealed", pool.is_sealed())?;
    let is_sealed = |kind: &ErrorKind| *kind == ErrorKind::PoolSealed;
    refused("a value", pool.keep(1), is_sealed)?;
    refused("a graph", device.graph().pool(&pool).record(k.add_stride(baked(1.0), &mut y)), is_sealed)?;
    graph.launch(&stream)?;
    pool.unseal();
    pool.keep(1)?;
    let mut second = device.graph().pool(&pool).record(k.add_stride(baked(10.0), &mut y))?;
    second.launch(&stream)?;
    same("graphs", pool.graphs(), 2)?;
    same("y", stream.read(&y)?, [11.0; 4])
}

/// A pool is found by its handle from any thread, until the handle is released.
fn handles(device: &Device) -> Outcome {
    let pool = device.pool();
    let (first, second) = (pool.handle(), pool.handle());
    holds("handles are fresh", first != second)?;
    let found = std::thread::spawn(move || Pool::find(first)).join().map_err(|_| Failure::new("a panic"))?;
    same("found in another thread", found.as_ref(), Some(&pool))?;
    same("released once", (Pool::release(first), Pool::release(first)), (true, false))?;
    holds("an unknown handle finds nothing", Pool::find(first).is_none())?;
    same("the other is still good", Pool::find(second).as_ref(), Some(&pool))?;
    drop(pool);
    let pool = Pool::find(second).ok_or_else(|| Failure::new("a handle holds its pool"))?;
    Pool::release(second);
    pool.keep(1)?;
    same("values", pool.len(), 1)
}

/// Graphs of one pool never overlap, whatever their streams: the values they share may be anything.
fn ordered_on_three_streams(device: &Device) -> Outcome {
    let (k, pool) = (Kernels::load(device)?, device.pool());
    let streams = [device.stream()?, device.stream()?, device.stream()?];
    let mut buffers = [device.zeros::<u32>(4)?, device.zeros::<u32>(4)?, device.zeros::<u32>(4)?];
    let mut graphs = Vec::new();
    for y in &mut buffers {
        // The last is quick: without an order it would be over before the others.
        let rounds = if graphs.len() == 2 { 1 } else { ROUNDS };
        let graph = device.graph().pool(&pool).record(k.churn(baked(rounds), y))?;
        shape(&graph, 1, &[])?;
        graphs.push(graph);
    }
    for round in 0..4 {
        let mut tickets = Vec::new();
        for (graph, stream) in graphs.iter_mut().zip(streams.iter().cycle().skip(round)) {
            tickets.push(graph.submit(stream)?);
        }
        // The last of the pool is over, so all before it are.
        let last = tickets.pop().ok_or_else(|| Failure::new("no ticket"))?;
        last.wait()?;
        for ticket in &tickets {
            holds("the others are over too", ticket.is_done())?;
        }
    }
    for (y, rounds) in buffers.iter().zip([4 * ROUNDS, 4 * ROUNDS, 4]) {
        same("y", streams[0].read(y)?, [churned(0, rounds); 4])?;
    }
    Ok(())
}

/// So many ops one after the other.
const LINE: u32 = 100;

/// Values outlive the pool's handles and its graphs, until the last replay is over.
fn kept_until_the_last_replay(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let list = Arc::new(Mutex::new(Vec::new()));
    let mut y = device.zeros::<u32>(4)?;
    {
        let pool = device.pool();
        pool.keep(Told("pool", list.clone()))?;
        let mut graph = device.graph().pool(&pool).record(|r| {
            r.keep(Told("recording", list.clone()));
            // A long line: on the software device a call that asks something runs an op or two.
            (0..LINE).try_for_each(|_| r.run(k.churn(baked(10 * ROUNDS / LINE), &mut y)))
        })?;
        shape(&graph, LINE as usize, &(1..LINE as usize).map(|op| (op - 1, op)).collect::<Vec<_>>())?;
        drop(pool);
        holds("the graph holds both", told(&list).is_empty())?;
        let ticket = graph.submit(&stream)?;
        drop(graph);
        // Looks through what was dropped, and lets go of what may go.
        drop(device.zeros::<u8>(1)?);
        let released = told(&list);
        // What runs now ran then.
        let runs = !ticket.is_done();
        holds("it runs, or this shows nothing", runs || !device.is_software())?;
        holds("nothing goes while it runs", !runs || released.is_empty())?;
    }
    same("y", stream.read(&y)?, [churned(0, 10 * ROUNDS); 4])?;
    // Once for the graph's values, once more for the pool that one of them was.
    device.synchronize()?;
    device.synchronize()?;
    let mut released = told(&list);
    released.sort_unstable();
    same("released", released, ["pool", "recording"])
}

/// Eight bucketed graphs share one arena of the largest, in whatever order they were recorded.
fn one_arena(device: &Device) -> Outcome {
    for recorded in [RecordingOrder::SmallestFirst, RecordingOrder::LargestFirst, RecordingOrder::Shuffled(5)] {
        let shared = eight_in_one_pool(device, recorded, 0..2)?;
        holds("each with its own would take much more", shared.apart as f64 > 1.9 * shared.largest as f64)?;
    }
    Ok(())
}

/// A pool's arena grows under graphs that are in flight, and what they have baked stays where it is.
fn grown_in_place(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let pool = device.pool();
    same("nothing yet", pool.arena_bytes(), 0)?;
    let mut outs = Vec::new();
    for _ in 0..4 {
        outs.push(device.zeros::<u32>(16)?);
    }
    let mut graphs = Vec::new();
    for (number, out) in (1..).zip(&mut outs) {
        // The first element of a temp that ends where the arena does.
        let graph = device.graph().pool(&pool).record(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(number * (3 << 18))?;
            let at = t.len() - 16;
            r.run(dacapo::fill(&mut t[at..], baked(number as u32)))?;
            r.run(k.churn(baked(200), &mut t[at..]))?;
            r.run(dacapo::copy(&t[at..], out))
        })?;
        holds("it is large enough", pool.arena_bytes() >= graph.memory().temps())?;
        graphs.push(graph);
        for graph in &mut graphs {
            graph.launch(&stream)?;
        }
    }
    for (number, out) in (1..).zip(&outs) {
        same("out", stream.read(out)?, [churned(number, 200); 16])?;
    }
    Ok(())
}

/// Two graphs of a pool that share nothing but its arena, each on a stream of its own.
fn arena_on_two_streams(device: &Device) -> Outcome {
    let (k, pool) = (Kernels::load(device)?, device.pool());
    let streams = [device.stream()?, device.stream()?];
    let mut outs = [device.zeros::<u32>(16)?, device.zeros::<u32>(16)?];
    let mut graphs = Vec::new();
    for (out, rounds) in outs.iter_mut().zip([300, 7]) {
        graphs.push(device.graph().pool(&pool).record(|r: &mut Recorder<'_>| busy(r, &k, rounds, out))?);
    }
    for _ in 0..4 {
        for (graph, stream) in graphs.iter_mut().zip(&streams) {
            graph.launch(stream)?;
        }
    }
    for ((out, rounds), stream) in outs.iter().zip([300, 7]).zip(&streams) {
        same("out", stream.read(out)?, [churned(rounds, rounds); 16])?;
    }
    Ok(())
}

/// The pool and its graphs go while a replay runs: the arena is unmapped behind it.
fn arena_kept_until_the_last_replay(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut out = device.zeros::<u32>(16)?;
    for round in 0..3 {
        let pool = device.pool();
        let mut graph =
            device.graph().pool(&pool).record(|r: &mut Recorder<'_>| busy(r, &k, ROUNDS + round, &mut out))?;
        graph.launch(&stream)?;
        drop((graph, pool));
        // Looks through what was dropped, and takes memory.
        drop(device.buffer(&[round; 64])?);
    }
    same("out", stream.read(&out)?, [churned(ROUNDS + 2, ROUNDS + 2); 16])
}

/// Temps of a capture that joins a pool lie in its arena; ops of one capture come one behind the other, and share.
fn captured_in_a_pool(device: &Device) -> Outcome {
    let (stream, k, pool) = (device.stream()?, Kernels::load(device)?, device.pool());
    let mut outs = [device.zeros::<u32>(16)?, device.zeros::<u32>(16)?];
    let on = capture::CaptureStream::new(device)?;
    // SAFETY: nothing but ops of the library is captured.
    let mut guard = unsafe { capture::begin_with_pool(&on, capture::Mode::Relaxed, &pool) }?;
    for (out, rounds) in outs.iter_mut().zip([50, 60]) {
        guard.run(|r: &mut Recorder<'_>| busy(r, &k, rounds, out))?;
    }
    let mut graph = guard.finish()?;
    same("bytes", (graph.memory().temps(), pool.graphs()), (64, 1))?;
    holds("the arena is the pool's", pool.arena_bytes() >= 64)?;
    let [first, second] = &mut outs;
    let mut other = device.graph().pool(&pool).record(|r: &mut Recorder<'_>| busy(r, &k, 70, second))?;
    other.launch(&device.stream()?)?;
    graph.launch(&stream)?;
    same("first", stream.read(first)?, [churned(50, 50); 16])?;
    same("second", stream.read(second)?, [churned(60, 60); 16])
}
