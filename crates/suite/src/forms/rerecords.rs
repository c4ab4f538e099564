//! Another recording in place of a graph's: onto the same executable graph, or another one, and the answer says which.

use dacapo::graph::{Change, How, Rerecorded};
use dacapo::raw::foreign;
use dacapo::{
    Buffer, Device, ErrorKind, Graph, Op, Recorder, Result, Slice, Slot, baked, copy, download, fill, upload,
};

use super::check::{Failure, Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Kernels, churned, ramp};
use super::library::Library;

forms!("rerecord":
    values_are_set, memory_moves, slots_are_replaced, copies_and_host_memory, switched_off_and_on, other_function, other_edges,
    more_and_fewer, foreign_work, of_nothing, failing, in_pool_and_arena, while_it_runs, as_fresh_recordings,
);

/// Updated, with so many nodes set and kept.
fn updated(done: &Rerecorded, set: usize, kept: usize) -> Outcome {
    same(&format!("{done}"), &done.how, &How::Updated { set, kept })
}

/// Rebuilt, for a reason with these words in it.
fn rebuilt(done: &Rerecorded, words: &[&str]) -> Outcome {
    let How::Rebuilt { why } = &done.how else { return Err(Failure::new(format!("not rebuilt: {done}"))) };
    words.iter().try_for_each(|word| holds(&format!("{word:?} in {why:?}"), why.contains(word)))
}

/// Values, geometry and lengths: only the nodes that differ are set.
fn values_are_set(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(100)?;
    let record = |graph: &mut Graph<()>, value: f32, by: f32, y: &mut Slice<f32>| {
        graph.rerecord(|r: &mut Recorder<'_>| {
            r.run(fill(&mut *y, baked(value)).label("a"))?;
            r.run(k.add_stride(baked(by), &mut *y))?;
            r.run(k.add_stride(baked(4.0), y))
        })
    };
    let mut graph = device.graph().label("g").record(fill(&mut y, baked(0.0)))?;
    rebuilt(&record(&mut graph, 1.0, 2.0, &mut y)?, &["op 1"])?;
    graph.launch(&stream)?;
    same("first", stream.read(&y)?, [7.0; 100])?;
    let done = record(&mut graph, 1.0, 2.0, &mut y)?;
    updated(&done, 0, 3)?;
    let done = record(&mut graph, 1.0, 3.0, &mut y)?;
    updated(&done, 1, 2)?;
    same("what was set", &done.nodes[1].change, &Change::Set(vec!["argument 1".into()]))?;
    same("labels", (&*done.nodes[0].label, graph.label()), ("g/a", "g"))?;
    holds("the place", done.nodes[1].at.contains("rerecords.rs:"))?;
    let text = done.to_string();
    holds("it reads well", text.starts_with("updated: 1 nodes set, 2 kept\n   0  fill"))?;
    let done = record(&mut graph, 10.0, 3.0, &mut y)?;
    updated(&done, 1, 2)?;
    holds("it was launched before", graph.is_preloaded() && graph.num_replays() == 0)?;
    graph.launch(&stream)?;
    same("last", stream.read(&y)?, [17.0; 100])?;
    let done = record(&mut graph, 0.0, 3.0, &mut y[..10])?;
    updated(&done, 3, 0)?;
    graph.launch(&stream)?;
    same("a part", stream.read(&y)?, [[7.0; 10].as_slice(), &[17.0; 90]].concat())
}

/// Temps and outputs are new memory: their addresses are set, and the old output is no longer the graph's.
fn memory_moves(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut x = device.buffer(&ramp(64))?;
    fn body(k: &Kernels, x: &Buffer<f32>, by: f32) -> impl Op<Out = Buffer<f32>> {
        move |r: &mut Recorder<'_>| {
            let (mut t, mut y) = (r.alloc(64)?, r.output(64)?);
            r.run(k.add(x, baked(by), &mut t))?;
            r.run(k.add(&t, baked(by), &mut y))?;
            Ok(y)
        }
    }
    let mut graph = device.record(body(&k, &x, 1.0))?;
    graph.launch(&stream)?;
    for by in [1.0, 2.0] {
        let done = graph.rerecord(body(&k, &x, by))?;
        holds(&format!("updated: {done}"), done.is_updated())?;
        shape(&graph, 2, &[(0, 1)])?;
        let want: Vec<f32> = ramp(64).iter().map(|x| x + 2.0 * by).collect();
        same("the new output", stream.read(graph.launch_sync(&stream)?)?, want)?;
    }
    // What the graph holds is what the new recording touches.
    x = device.buffer(&[1.0; 64])?;
    let done = graph.rerecord(body(&k, &x, 1.0))?;
    holds(&format!("updated: {done}"), done.is_updated())?;
    drop(x);
    same("without its input", stream.read(graph.launch_sync(&stream)?)?, [3.0; 64])
}

/// The slots are those of the new recording.
fn slots_are_replaced(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(4)?;
    let (old, new) = (Slot::new(1.0), Slot::new(10.0));
    let mut graph = device.record(k.add_stride(&old, &mut y))?;
    graph.launch(&stream)?;
    let done = graph.rerecord(k.add_stride(&new, &mut y))?;
    updated(&done, 1, 0)?;
    old.set(1000.0);
    graph.launch(&stream)?;
    new.set(100.0);
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [111.0; 4])?;
    // A slot that has changed since the recording is read by the launch.
    let done = graph.rerecord(k.add_stride(&old, &mut y))?;
    updated(&done, 1, 0)?;
    old.set(2000.0);
    graph.launch(&stream)?;
    same("y at last", stream.read(&y)?, [2111.0; 4])
}

/// Copies on the device and to and from the host; what goes another way is another node.
fn copies_and_host_memory(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (a, b) = (device.buffer(&[1u32; 8])?, device.buffer(&[2u32; 8])?);
    let (mut y, mut z) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let (from, mut to) = (device.host(&[9u32; 8])?, device.host(&[0u32; 8])?);
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        r.run(copy(&a, &mut y))?;
        r.run(upload(&from, &mut z))?;
        r.run(download(&y, &mut to))
    })?;
    graph.launch(&stream)?.wait()?;
    same("down", to.to_vec()?, [1; 8])?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| {
        r.run(copy(&b, &mut y))?;
        r.run(upload(&from, &mut z))?;
        r.run(download(&y, &mut to))
    })?;
    updated(&done, 1, 2)?;
    same("what", &done.nodes[0].change, &Change::Set(vec!["the source is elsewhere".into()]))?;
    graph.launch(&stream)?.wait()?;
    same("down again", (to.to_vec()?, stream.read(&z)?), (vec![2; 8], vec![9; 8]))?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| {
        r.run(copy(&b[..4], &mut y[4..]))?;
        r.run(upload(&from, &mut z))?;
        r.run(download(&y, &mut to))
    })?;
    updated(&done, 1, 2)?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| {
        r.run(upload(&from, &mut y))?;
        r.run(copy(&a, &mut z))?;
        r.run(download(&y, &mut to))
    })?;
    rebuilt(&done, &["op 0", "a copy became an upload"])?;
    graph.launch(&stream)?.wait()?;
    same("another way", (to.to_vec()?, stream.read(&z)?), (vec![9; 8], vec![1; 8]))
}

/// A kernel without work is switched off, and on again.
fn switched_off_and_on(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(k.increment_first(baked(8), &mut y))?;
    for (count, set) in [(0, 1), (0, 0), (3, 1)] {
        let done = graph.rerecord(k.increment_first(baked(count), &mut y))?;
        updated(&done, set, 1 - set)?;
        graph.launch(&stream)?;
    }
    same("only three were counted", stream.read(&y)?, [1, 1, 1, 0, 0, 0, 0, 0])
}

/// Another kernel in the same place.
fn other_function(device: &Device) -> Outcome {
    let (stream, k, other) = (device.stream()?, Kernels::load(device)?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(8))?, device.zeros::<f32>(8)?);
    let mut graph = device.record(k.saxpy(baked(2.0), &x, &mut y))?;
    graph.launch(&stream)?;
    let done = graph.rerecord(k.add(&x, baked(2.0), &mut y))?;
    rebuilt(&done, &["op 0", "`saxpy`", "`add`"])?;
    graph.launch(&stream)?;
    same("the other kernel", stream.read(&y)?, ramp(8).iter().map(|x| x + 2.0).collect::<Vec<_>>())?;
    let done = graph.rerecord(other.add(&x, baked(3.0), &mut y))?;
    rebuilt(&done, &["another module"])?;
    graph.launch(&stream)?;
    same("of another module", stream.read(&y)?[0], ramp(8)[0] + 3.0)
}

/// The same ops with other edges.
fn other_edges(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut y, mut z) = (device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
    let mut graph = device.record(k.add_stride(baked(1.0), &mut y).then(k.add_stride(baked(1.0), &mut z)))?;
    graph.launch(&stream)?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.add_stride(baked(1.0), &mut y))?;
        r.run(k.add_stride(baked(1.0), &mut y))
    })?;
    rebuilt(&done, &["op 1", "it waits for op 0, and waited for nothing"])?;
    shape(&graph, 2, &[(0, 1)])?;
    graph.launch(&stream)?;
    same("y and z", (stream.read(&y)?, stream.read(&z)?), (vec![3.0; 4], vec![1.0; 4]))?;
    // A straight line has the same edges, and stays one when it is rerecorded.
    let line = device.graph().straight_line();
    let done = graph.rerecord_with(line, k.add_stride(baked(1.0), &mut y).then(k.add_stride(baked(1.0), &mut z)))?;
    updated(&done, 1, 1)?;
    let done = graph.rerecord(k.add_stride(baked(1.0), &mut z).then(k.add_stride(baked(1.0), &mut y)))?;
    updated(&done, 2, 0)?;
    shape(&graph, 2, &[(0, 1)])
}

/// More ops and fewer.
fn more_and_fewer(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(4)?;
    let mut graph = device.record(k.add_stride(baked(1.0), &mut y))?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| {
        r.run(k.add_stride(baked(1.0), &mut y))?;
        r.run(k.add_stride(baked(2.0), &mut y))
    })?;
    rebuilt(&done, &["op 1", "no such op"])?;
    graph.launch(&stream)?;
    let done = graph.rerecord(k.add_stride(baked(4.0), &mut y))?;
    rebuilt(&done, &["op 1", "any more"])?;
    same("both are told of", done.nodes.len(), 2)?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [7.0; 4])
}

/// Another library's work cannot be compared.
fn foreign_work(device: &Device) -> Outcome {
    let (stream, library) = (device.stream()?, Library::of(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let mut graph: Graph<()> = Graph::empty(device, ());
    for value in [5, 6] {
        let inner = library.clone();
        // SAFETY: one fill of what is declared as written.
        let work = unsafe { foreign((), &mut y[..], move |stream, (), y| inner.set_words(stream, y, value)) };
        let done = graph.rerecord(work)?;
        rebuilt(&done, &[if value == 5 { "no recording" } else { "another library's work cannot be compared" }])?;
        graph.launch(&stream)?;
        same("y", stream.read(&y)?, [value; 4])?;
    }
    Ok(())
}

/// A graph without a recording gets one; one that came of a capture is not known node by node.
fn of_nothing(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(4)?;
    let mut graph = Graph::empty(device, ());
    rebuilt(&graph.rerecord(k.add_stride(baked(1.0), &mut y))?, &["there was no recording"])?;
    graph.launch(&stream)?;
    graph.reset();
    rebuilt(&graph.rerecord(k.add_stride(baked(2.0), &mut y))?, &["there was no recording"])?;
    graph.launch(&stream)?;
    let done = graph.rerecord(|_: &mut Recorder<'_>| Ok(()))?;
    rebuilt(&done, &["any more"])?;
    updated(&graph.rerecord(|_: &mut Recorder<'_>| Ok(()))?, 0, 0)?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [3.0; 4])
}

/// What fails leaves the graph as it was.
fn failing(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let pool = device.pool();
    let mut graph = device.graph().pool(&pool).record(k.increment_first(baked(4), &mut y))?;
    let failed = graph.rerecord(|_: &mut Recorder<'_>| Err(dacapo::Error::msg("no")));
    refused("a recording that fails", failed, |kind| matches!(kind, ErrorKind::Msg(_)))?;
    let failed = graph.rerecord(k.increment_first(baked(5), &mut y));
    refused("a condition that does not hold", failed, |kind| matches!(kind, ErrorKind::Requires { .. }))?;
    graph.launch(&stream)?;
    pool.seal();
    let failed = graph.rerecord(k.increment_first(baked(1), &mut y));
    refused("a sealed pool", failed, |kind| *kind == ErrorKind::PoolSealed)?;
    graph.launch(&stream)?;
    same("y", (stream.read(&y)?, pool.graphs()), (vec![2; 4], 1))
}

/// The new recording is in the same pool and the same arena, unless it is said otherwise.
fn in_pool_and_arena(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (pool, arena) = (device.pool(), device.arena(4096)?);
    let mut y = device.zeros::<f32>(100)?;
    let record = |graph: &mut Graph<()>, by: f32, y: &mut Buffer<f32>| -> Result<Rerecorded> {
        graph.rerecord(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<f32>(100)?;
            r.run(fill(&mut t, baked(by)))?;
            r.run(k.saxpy(baked(1.0), &t, y))
        })
    };
    let mut graph = device.graph().pool(&pool).record(k.add_stride(baked(0.0), &mut y))?;
    rebuilt(&record(&mut graph, 1.0, &mut y)?, &["op 0"])?;
    updated(&record(&mut graph, 2.0, &mut y)?, 1, 1)?;
    same("its pool", (graph.pool(), pool.graphs()), (Some(&pool), 1))?;
    graph.launch(&stream)?;
    let in_arena = device.graph().arena(&arena);
    graph.rerecord_with(in_arena, k.add_stride(baked(0.0), &mut y))?;
    same("no pool any more", (graph.pool(), pool.graphs()), (None, 0))?;
    rebuilt(&record(&mut graph, 4.0, &mut y)?, &["op 0"])?;
    updated(&record(&mut graph, 8.0, &mut y)?, 1, 1)?;
    same("its arena", (arena.graphs(), arena.used()), (1, 400))?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [10.0; 100])
}

/// While replays of the old recording run, on another stream: they end as they began, and their memory waits for them.
fn while_it_runs(device: &Device) -> Outcome {
    let (streams, k) = ([device.stream()?, device.stream()?], Kernels::load(device)?);
    let mut y = device.zeros::<u32>(32)?;
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let mut out = r.output::<u32>(32)?;
        r.run(fill(&mut out, baked(0)))?;
        r.run(k.churn(baked(3000), &mut out))?;
        r.run(copy(&out, &mut y))?;
        Ok(out)
    })?;
    graph.launch(&streams[0])?;
    let mut z = device.zeros::<u32>(32)?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| {
        let mut out = r.output::<u32>(32)?;
        r.run(fill(&mut out, baked(1)))?;
        r.run(k.churn(baked(2), &mut out))?;
        r.run(copy(&out, &mut z))?;
        Ok(out)
    })?;
    updated(&done, 3, 0)?;
    graph.launch(&streams[1])?;
    same("the new one", streams[1].read(&z)?, [churned(1, 2); 32])?;
    same("the old one", streams[0].read(&y)?, [churned(0, 3000); 32])?;
    graph.launch(&streams[0])?;
    drop(graph);
    same("still the new one", streams[0].read(&z)?, [churned(1, 2); 32])
}

/// One step of a program that nobody wrote: which op, on which of the buffers, with which value.
#[derive(Clone, Copy)]
struct Step {
    op: u64,
    from: usize,
    to: usize,
    by: f32,
    len: usize,
}

/// Random programs one after another on one graph: each does what a fresh recording of it does.
fn as_fresh_recordings(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut state = 7u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let start = [vec![1.0f32; 40], vec![2.0; 40], vec![3.0; 40]];
    let fresh_buffers = || -> Result<Vec<Buffer<f32>>> { start.iter().map(|values| device.buffer(values)).collect() };
    let (mut ours, mut theirs) = (fresh_buffers()?, fresh_buffers()?);
    let mut graph: Graph<()> = Graph::empty(device, ());
    let mut steps: Vec<Step> = Vec::new();
    let mut updates = 0;
    for round in 0..24 {
        // Half of them change values and lengths only; the others are new from the ground up.
        if round % 2 == 0 {
            steps = (0..1 + below(5))
                .map(|_| {
                    let (from, more) = (below(3), 1 + below(2));
                    let to = ((from + more) % 3) as usize;
                    Step { op: below(5), from: from as usize, to, by: 0.0, len: 40 }
                })
                .collect();
        }
        for step in &mut steps {
            (step.by, step.len) = (below(4) as f32, [40, 40, 33, 8][below(4) as usize]);
        }
        let done = graph.rerecord(|r: &mut Recorder<'_>| program(r, &k, &steps, &mut ours))?;
        updates += u32::from(done.is_updated());
        holds(&format!("only values changed in round {round}: {done}"), round % 2 == 0 || done.is_updated())?;
        let mut fresh = device.record(|r: &mut Recorder<'_>| program(r, &k, &steps, &mut theirs))?;
        same("edges", graph.dependencies(), fresh.dependencies())?;
        for _ in 0..2 {
            graph.launch(&stream)?;
            fresh.launch(&stream)?;
        }
        for (ours, theirs) in ours.iter().zip(&theirs) {
            same(&format!("round {round}"), stream.read(ours)?, stream.read(theirs)?)?;
        }
    }
    holds("many were updated", updates >= 12)
}

fn program(r: &mut Recorder<'_>, k: &Kernels, steps: &[Step], buffers: &mut [Buffer<f32>]) -> Result<()> {
    for &Step { op, from, to, by, len } in steps {
        // Two of them at once.
        let [source, target] = buffers.get_disjoint_mut([from, to]).expect("two of three");
        let (source, target) = (&source[..len], &mut target[..len]);
        match op {
            0 => r.run(fill(target, baked(by)))?,
            1 => r.run(copy(source, target))?,
            2 => r.run(k.saxpy(baked(0.5), source, target))?,
            3 => r.run(k.add(source, baked(by), target))?,
            _ => {
                let mut t = r.alloc::<f32>(len)?;
                r.run(k.add(source, baked(by), &mut t))?;
                r.run(copy(&t, target))?;
            }
        }
    }
    Ok(())
}
