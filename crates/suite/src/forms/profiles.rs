//! Timed replays and eager runs: what they do is what a launch does, and what they say hangs together.

use dacapo::capture::{self, CaptureStream, Mode};
use dacapo::inspect::Kind;
use dacapo::op::from_fn;
use dacapo::profile::{Clock, Profile};
use dacapo::raw::foreign;
use dacapo::{Device, ErrorKind, Op, Recorder, Slot, baked, copy, fill};

use super::check::{Failure, Outcome, holds, refused, same};
use super::forms;
use super::kernels::{Kernels, churned, ramp};
use super::library::Library;

forms!("profile":
    replays, order_and_path, slots_and_outputs, with_foreign, bound_memory, disabled_op, host_copies, pools_and_streams,
    captured_refused, in_recording_refused, eager, eager_of_a_graph, survives_json,
);

/// Intervals in the order of the edges, a path that leads along them to the end, and times inside their intervals.
fn hangs_together(device: &Device, profile: &Profile, edges: &[(usize, usize)]) -> Outcome {
    let clock = if device.is_software() { Clock::Software } else { Clock::Gpu };
    same("the clock", profile.clock, clock)?;
    for op in &profile.ops {
        holds("an op ends after it begins", op.start_ns < op.end_ns && op.end_ns <= profile.total_ns)?;
        holds("a time is inside its interval", op.time_ns <= op.end_ns - op.start_ns)?;
        for &before in &op.after {
            holds("the edge is one of the graph's", edges.contains(&(before, op.index)))?;
            holds("an op begins after those end that it waits for", profile.ops[before].end_ns <= op.start_ns)?;
        }
    }
    let path = &profile.critical_path;
    same("the path's ops are marked", profile.ops.iter().filter(|op| op.critical).count(), path.len())?;
    for pair in path.windows(2) {
        holds("the path leads along edges", edges.contains(&(pair[0], pair[1])))?;
    }
    let last = path.last().map(|&last| profile.ops[last].end_ns);
    same("the path ends when the replay does", last, profile.ops.iter().map(|op| op.end_ns).max())?;
    let path_ns = profile.critical_ns();
    holds("the path is not longer than the replay", path_ns <= profile.total_ns)?;
    holds(
        "a replay without overlap is as long as its path",
        profile.lanes() > 1 || profile.sum_ns() <= profile.total_ns,
    )
}

/// A profile is one replay: the work is done once, and the graph launches as before and after.
fn replays(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(64)?;
    let mut graph = device.record(k.churn(baked(5), &mut y).label("churned"))?;
    let profile = graph.profile(&stream)?;
    same("once", stream.read(&y)?, [churned(0, 5); 64])?;
    same("replays", graph.num_replays(), 1)?;
    same("uploaded", graph.is_preloaded(), false)?;
    graph.launch(&stream)?;
    graph.profile(&stream)?;
    graph.launch(&stream)?;
    same("four times", stream.read(&y)?, [churned(0, 20); 64])?;
    same("replays", graph.num_replays(), 4)?;
    let only = &profile.ops[0];
    same("the op", (only.name.as_str(), only.label.as_str(), only.kind), ("churn", "churned", Kind::Kernel))?;
    holds("where it was made", only.location.as_ref().is_some_and(|at| at.file.ends_with("profiles.rs")))?;
    hangs_together(device, &profile, &[])
}

/// Two branches, and the same in a line: there nothing overlaps, every op is on the path, and the long one takes longest.
fn order_and_path(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut x, mut y, mut z) = (device.zeros::<u32>(64)?, device.zeros::<u32>(64)?, device.zeros::<u32>(128)?);
    // Long enough on a GPU, too, also where a tool looks on and stretches everything.
    let long = if device.is_software() { 2000 } else { 200_000 };
    for line in [false, true] {
        let recording = if line { device.graph().straight_line() } else { device.graph() };
        let mut graph = recording.record(from_fn(|r: &mut Recorder<'_>| {
            r.run(fill(&mut x, baked(1)))?;
            r.run(copy(&x, &mut y))?;
            r.run(k.churn(baked(long), &mut x))?;
            r.run(k.churn(baked(1), &mut y))?;
            r.run(copy(&x, &mut z[..64]))?;
            r.run(copy(&y, &mut z[64..]))
        }))?;
        let profile = graph.profile(&stream)?;
        let got = stream.read(&z)?;
        same("long side", &got[..64], [churned(1, long); 64])?;
        same("short side", &got[64..], [churned(1, 1); 64])?;
        hangs_together(device, &profile, &graph.dependencies())?;
        holds("the table names the ops", profile.to_string().contains("churn"))?;
        holds("so does the trace", profile.trace().contains("\"name\": \"churn\""))?;
        if line {
            same("one at a time", profile.lanes(), 1)?;
            same("all on the path", &profile.critical_path[..], [0, 1, 2, 3, 4, 5])?;
            holds("the long one takes longest", profile.ops.iter().all(|op| op.time_ns <= profile.ops[2].time_ns))?;
        }
    }
    Ok(())
}

/// Slots changed before a profile reach it, and the launch after it.
fn slots_and_outputs(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, by) = (device.buffer(&ramp(64))?, Slot::new(1.0f32));
    let mut graph = device.record(from_fn(|r: &mut Recorder<'_>| {
        let (mut t, mut y) = (r.alloc::<f32>(64)?, r.output::<f32>(64)?);
        r.run(k.add(&x, &by, &mut t))?;
        r.run(k.add(&t, &by, &mut y))?;
        Ok(y)
    }))?;
    let plus = |by: f32| ramp(64).into_iter().map(|x| x + by + by).collect::<Vec<f32>>();
    for round in [2.0, 3.0, 3.0] {
        by.set(round);
        hangs_together(device, &graph.profile(&stream)?, &[(0, 1)])?;
        same("profiled", stream.read(graph.outputs())?, plus(round))?;
        by.set(round + 0.5);
        same("launched", stream.read(graph.launch_sync(&stream)?)?, plus(round + 0.5))?;
    }
    Ok(())
}

/// Foreign work is one op, however much it enqueues.
fn with_foreign(device: &Device) -> Outcome {
    let (stream, library) = (device.stream()?, Library::of(device)?);
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(from_fn(|r: &mut Recorder<'_>| {
        r.run(fill(&mut y, baked(1)))?;
        let inner = library.clone();
        // SAFETY: fills of what is declared as written.
        r.run(unsafe {
            foreign((), &mut y[..4], move |stream, (), y| {
                inner.set_words(stream, y, 2)?;
                inner.set_words(stream, y, 3)
            })
        })?;
        // SAFETY: nothing is enqueued.
        r.run(unsafe { foreign((), &mut y[..], |_, (), _| Ok(())) })?;
        r.run(fill(&mut y[3..5], baked(4)))
    }))?;
    let profile = graph.profile(&stream)?;
    same("done", stream.read(&y)?, [3, 3, 3, 4, 4, 1, 1, 1])?;
    same("one op each", profile.ops.len(), 4)?;
    same("the kind", profile.ops[1].kind, Kind::Foreign)?;
    hangs_together(device, &profile, &graph.dependencies())
}

/// A graph over any memory is timed on the memory it is given.
fn bound_memory(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (a, b) = (device.buffer(&[1u32; 16])?, device.buffer(&[2u32; 16])?);
    let (mut y, mut z) = (device.zeros::<u32>(16)?, device.zeros::<u32>(16)?);
    let mut graph = device.graph().record_into(&a[..], &mut y[..], |r, x, y| r.run(copy(x, y)))?;
    graph.launch(&stream, &a, &mut y)?;
    hangs_together(device, &graph.profile(&stream, &b, &mut z)?, &[])?;
    graph.launch(&stream, &b, &mut y)?;
    same("replays", graph.num_replays(), 3)?;
    same("bound", (stream.read(&y)?, stream.read(&z)?), (vec![2; 16], vec![2; 16]))
}

/// An op whose grid is empty in this replay does nothing, and is timed as that.
fn disabled_op(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut y, count) = (device.zeros::<u32>(32)?, Slot::new(0u32));
    let mut graph = device.record(k.increment_first(&count, &mut y))?;
    hangs_together(device, &graph.profile(&stream)?, &[])?;
    same("nothing", stream.read(&y)?, [0; 32])?;
    count.set(32);
    hangs_together(device, &graph.profile(&stream)?, &[])?;
    same("everything", stream.read(&y)?, [1; 32])
}

/// Copies from and to the host wait their turn as in a launch.
fn host_copies(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (mut from, mut to) = (device.host(&[1u32; 32])?, device.host(&[0u32; 32])?);
    let mut y = device.zeros::<u32>(32)?;
    let mut graph = device.record(from_fn(|r: &mut Recorder<'_>| {
        r.run(dacapo::upload(&from, &mut y))?;
        r.run(dacapo::download(&y, &mut to))
    }))?;
    for round in 1..4 {
        from.set(&[round; 32])?;
        hangs_together(device, &graph.profile(&stream)?, &[(0, 1)])?;
        same("there and back", to.to_vec()?, [round; 32])?;
    }
    Ok(())
}

/// Timed replays are ordered like all others: against a pool's graphs, and across streams.
fn pools_and_streams(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let pool = device.pool();
    let (mut x, mut y) = (device.zeros::<u32>(64)?, device.zeros::<u32>(64)?);
    let mut first = device.graph().pool(&pool).record(k.churn(baked(50), &mut x))?;
    let mut second = device.graph().pool(&pool).record(copy(&x, &mut y))?;
    for round in 1..4 {
        first.launch(&one)?;
        second.profile(&two)?;
        same("behind the launch", two.read(&y)?, [churned(0, round * 100 - 50); 64])?;
        first.profile(&one)?;
        second.launch(&two)?;
        same("behind the profile", two.read(&y)?, [churned(0, round * 100); 64])?;
    }
    Ok(())
}

/// A captured graph's nodes are not ours to take apart.
fn captured_refused(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut y = device.zeros::<u32>(8)?;
    let side = CaptureStream::new(device)?;
    // SAFETY: what is captured is an op of ours.
    let mut capture = unsafe { capture::begin(&side, Mode::default()) }?;
    capture.run(fill(&mut y, baked(5)))?;
    let mut graph = capture.finish()?;
    refused("a capture", graph.profile(&stream), |kind| matches!(kind, ErrorKind::Unsupported { .. }))?;
    graph.launch_sync(&stream)?;
    same("launched", stream.read(&y)?, [5; 8])
}

/// A profile acts now, and so has no place in a recording.
fn in_recording_refused(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(fill(&mut y, baked(5)))?;
    let recorded = device.record(from_fn(|_: &mut Recorder<'_>| graph.profile(&stream).map(drop)));
    refused("inside", recorded, |kind| matches!(kind, ErrorKind::EagerInRecording { .. }))?;
    refused(
        "an eager run inside",
        device.record(from_fn(|_: &mut Recorder<'_>| stream.profile(fill(&mut y, baked(6))).map(drop))),
        |kind| matches!(kind, ErrorKind::EagerInRecording { .. }),
    )?;
    same("nothing ran", stream.read(&y)?, [0; 8])
}

/// The edges of ops that come one after the other.
fn in_a_line(ops: usize) -> Vec<(usize, usize)> {
    (1..ops).map(|op| (op - 1, op)).collect()
}

/// An eager run is timed op by op: each after the one before, nothing overlaps, and the long one takes longest.
fn eager(device: &Device) -> Outcome {
    let (stream, k, library) = (device.stream()?, Kernels::load(device)?, Library::of(device)?);
    let (mut x, mut y, host) = (device.zeros::<u32>(64)?, device.zeros::<u32>(64)?, device.host(&[7u32; 8])?);
    // Longer than the host takes to launch anything, also where a tool looks on.
    let long = if device.is_software() { 2000 } else { 200_000 };
    let profile = stream.profile(from_fn(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u32>(64)?;
        r.run(fill(&mut x, baked(1)))?;
        // Beside the others in a graph; here behind them.
        r.run(k.churn(baked(1), &mut y))?;
        r.run(k.churn(baked(long), &mut x).label("long"))?;
        r.run(copy(&x, &mut t))?;
        r.run(copy(&t, &mut y))?;
        r.run(dacapo::upload(&host, &mut y[..8]))?;
        let library = library.clone();
        // SAFETY: a fill of what is declared as written.
        r.run(unsafe { foreign((), &mut y[8..16], move |stream, (), y| library.set_words(stream, y, 3)) })?;
        r.run(fill(&mut y[..0], baked(9)))
    }))?;
    same("x, once", stream.read(&x)?, [churned(1, long); 64])?;
    let mut want = [churned(1, long); 64];
    want[..8].fill(7);
    want[8..16].fill(3);
    same("y", stream.read(&y)?, want)?;
    holds("it says so", profile.eager && profile.to_string().contains("eager run"))?;
    same("ops", profile.ops.len(), 8)?;
    hangs_together(device, &profile, &in_a_line(8))?;
    for op in &profile.ops {
        same("after", &op.after[..], &op.index.checked_sub(1).into_iter().collect::<Vec<_>>()[..])?;
        same("runs", (op.runs, op.inside, op.lane), (1, None, 0))?;
    }
    same("all on the path", profile.critical_path.len(), 8)?;
    let longest = &profile.ops[2];
    same("the op", (longest.name.as_str(), longest.label.as_str(), longest.kind), ("churn", "long", Kind::Kernel))?;
    holds("the long one takes longest", profile.ops.iter().all(|op| op.time_ns <= longest.time_ns))?;
    let nothing = stream.profile(from_fn(|_: &mut Recorder<'_>| Ok(())))?;
    same("nothing", (nothing.ops.len(), nothing.total_ns), (0, 0))
}

/// A graph's ops run eagerly have the indices that they have in the graph; the graph itself is not replayed.
fn eager_of_a_graph(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut x, mut y, by) = (device.zeros::<u32>(64)?, device.zeros::<u32>(64)?, Slot::new(1u32));
    let mut graph = device.graph().label("g").record(from_fn(|r: &mut Recorder<'_>| {
        r.run(k.churn(&by, &mut x))?;
        r.run(k.churn(baked(2), &mut y))?;
        r.run(copy(&x, &mut y))
    }))?;
    by.set(3);
    let eager = stream.profile(graph.as_op())?;
    same("with the slot as it is", stream.read(&y)?, [churned(0, 3); 64])?;
    same("replays", graph.num_replays(), 0)?;
    let replayed = graph.profile(&stream)?;
    same("each of its own kind", (eager.eager, replayed.eager), (true, false))?;
    let names = |profile: &Profile| {
        profile
            .ops
            .iter()
            .map(|op| (op.index, op.name.clone(), op.label.clone(), op.location.clone()))
            .collect::<Vec<_>>()
    };
    same("the same ops", names(&eager), names(&replayed))?;
    hangs_together(device, &eager, &in_a_line(3))?;
    hangs_together(device, &replayed, &graph.dependencies())
}

/// A profile that was written to JSON is the same when it is read.
fn survives_json(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(64)?;
    let mut graph = device.record(k.churn(baked(5), &mut y).label("churned"))?;
    for profile in [graph.profile(&stream)?, stream.profile(graph.as_op())?] {
        same("after JSON", Profile::from_json(&profile.to_json()).map_err(Failure::new)?, profile)?;
    }
    Ok(())
}
