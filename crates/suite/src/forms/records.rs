//! Recordings: graphs inside graphs, warm-up, another recording in place of the first, reports and checks of them.

use dacapo::inspect::{How, Report};
use dacapo::{Device, ErrorKind, Graph, Op, Recorder, Slot, baked, copy, fill};

use super::check::{Failure, Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Kernels, ramp};

forms!("records":
    replay_inside, replay_twice, replay_with_slots, transactional, warmup_restored, warmup_unrestored, warmup_cap,
    reset_and_again, verify, report_as_json, eager_refused_inside,
);

/// A graph inside a larger recording: all its ops, temps of its own, its outputs.
fn replay_inside(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut x = device.buffer(&ramp(6))?;
    let inner = device.graph().label("inner").record(|r| {
        let (mut t, mut y) = (r.alloc(6)?, r.output(6)?);
        r.run(k.add(&x, baked(1.0), &mut t))?;
        r.run(k.add(&t, baked(1.0), &mut y))?;
        Ok(y)
    })?;
    let mut z = device.zeros::<f32>(6)?;
    let mut outer = device.graph().label("outer").record(|r| {
        r.run(fill(&mut x, baked(5.0)))?;
        r.run(inner.as_op().label("embedded"))?;
        r.run(copy(inner.outputs(), &mut z))
    })?;
    shape(&outer, 4, &[(0, 1), (1, 2), (2, 3)])?;
    let labels: Vec<String> = outer.inspect().nodes.iter().map(|node| node.label.clone()).collect();
    same("labels", labels, ["outer", "outer/embedded/inner", "outer/embedded/inner", "outer"])?;
    outer.launch(&stream)?;
    same("the outer graph", stream.read(&z)?, [7.0; 6])?;
    same("the inner graph's output", stream.read(inner.outputs())?, [7.0; 6])?;
    // The outer graph holds what the inner one held.
    drop(inner);
    stream.write(&mut z, &[0.0; 6])?;
    outer.launch(&stream)?;
    same("without the inner graph", stream.read(&z)?, [7.0; 6])
}

/// Twice in one recording: in order, and both count.
fn replay_twice(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (one, mut y) = (device.buffer(&[1.0f32; 4])?, device.buffer(&[3.0f32; 4])?);
    let mut step = device.record(|r| {
        let mut t = r.alloc(4)?;
        r.run(k.add(&one, baked(1.0), &mut t))?;
        r.run(k.saxpy(baked(1.0), &t, &mut y))
    })?;
    let mut twice = device.record(step.as_op().then(step.as_op()))?;
    // The two temps are different memory, so only the sums wait for each other.
    shape(&twice, 4, &[(0, 1), (1, 3), (2, 3)])?;
    twice.launch(&stream)?;
    step.launch(&stream)?;
    same("y", stream.read(&y)?, [9.0; 4])
}

/// Slots of an embedded graph act through the larger one, too.
fn replay_with_slots(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (one, mut y) = (device.buffer(&[1.0f32; 4])?, device.zeros::<f32>(4)?);
    let by = Slot::new(1.0);
    let step = device.record(k.saxpy(&by, &one, &mut y))?;
    let mut outer = device.record(|r| {
        r.run(step.as_op())?;
        r.run(step.as_op())
    })?;
    shape(&outer, 2, &[(0, 1)])?;
    let argument = outer.inspect().nodes[1].arguments[1].clone();
    holds("the report knows the slot", matches!(argument.how, How::Slot { .. }))?;
    outer.launch(&stream)?;
    by.set(10.0);
    outer.launch(&stream)?;
    same("y", stream.read(&y)?, [22.0; 4])
}

/// An op that fails leaves no node: try one thing, else another.
fn transactional(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(9))?, device.zeros::<f32>(9)?);
    let mut kept = 0;
    let mut graph = device.record(|r| {
        let fast = |r: &mut Recorder<'_>| {
            let mut t = r.alloc(9)?;
            r.run(copy(&x, &mut t))?;
            // 9 is not a multiple of 4: this is refused, and the copy before it with it.
            r.run(k.add_one_by_four(&t, &mut y))
        };
        if r.run(fast.label("fast")).is_err() {
            kept += 1;
            r.run(k.add(&x, baked(1.0), &mut y).label("slow"))?;
        }
        // An error of the user's own rolls back as well.
        let given_up = r.run(|r: &mut Recorder<'_>| {
            r.run(fill(&mut y, baked(0.0)))?;
            Err::<(), _>(dacapo::Error::msg("given up"))
        });
        kept += usize::from(given_up.is_err());
        Ok(())
    })?;
    same("both were refused", kept, 2)?;
    shape(&graph, 1, &[])?;
    same("the label", &graph.inspect().nodes[0].label[..], "slow")?;
    graph.launch(&stream)?;
    let want: Vec<f32> = ramp(9).iter().map(|x| x + 1.0).collect();
    same("y", stream.read(&y)?, &want[..])?;
    // Eagerly nothing runs if one op fails.
    let eager = stream.run(|r: &mut Recorder<'_>| {
        r.run(fill(&mut y, baked(0.0)))?;
        r.run(k.add_one_by_four(&x, &mut y))
    });
    refused("an eager run with a bad op", eager, |kind| matches!(kind, ErrorKind::Requires { .. }))?;
    same("y is as it was", stream.read(&y)?, want)
}

/// Warm-up runs the body and puts back what it wrote.
fn warmup_restored(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (one, mut y) = (device.buffer(&[1.0f32; 4])?, device.buffer(&[7.0f32; 4])?);
    let mut runs = 0;
    let mut graph = device.graph().warmup(3).record(|r| {
        runs += 1;
        let mut t = r.alloc(4)?;
        r.run(k.add(&one, baked(1.0), &mut t))?;
        r.run(k.saxpy(baked(1.0), &t, &mut y))
    })?;
    same("three runs and a recording", runs, 4)?;
    shape(&graph, 2, &[(0, 1)])?;
    same("no trace", stream.read(&y)?, [7.0; 4])?;
    graph.launch(&stream)?;
    same("one replay", stream.read(&y)?, [9.0; 4])?;
    // A body that fails in the second run has left no trace either.
    let mut run = 0;
    let failed = device.graph().warmup(3).record(|r| {
        run += 1;
        r.run(fill(&mut y, baked(0.0)))?;
        if run == 2 { Err(dacapo::Error::msg("enough")) } else { Ok(()) }
    });
    refused("the failing body", failed, |kind| matches!(kind, ErrorKind::Msg(_)))?;
    same("y", stream.read(&y)?, [9.0; 4])
}

/// Without restoring, what warm-up wrote stays.
fn warmup_unrestored(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(4)?;
    let mut graph = device.graph().warmup_unrestored(2).record(|r| r.run(k.add_stride(baked(1.0), &mut y)))?;
    shape(&graph, 1, &[])?;
    same("two runs", stream.read(&y)?, [2.0; 4])?;
    graph.launch(&stream)?;
    same("and a replay", stream.read(&y)?, [3.0; 4])
}

/// More than the cap is refused before anything runs.
fn warmup_cap(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut x, mut y) = (device.zeros::<f32>(100)?, device.zeros::<f32>(100)?);
    let mut body = |r: &mut Recorder<'_>| {
        r.run(k.add_stride(baked(1.0), &mut x))?;
        r.run(k.add_stride(baked(2.0), &mut y))
    };
    let over = device.graph().warmup(1).warmup_cap(799).record(&mut body);
    refused("800 bytes", over, |kind| matches!(kind, ErrorKind::WarmupTooLarge { bytes: 800, cap: 799 }))?;
    let mut graph = device.graph().warmup(1).warmup_cap(800).record(&mut body)?;
    shape(&graph, 2, &[])?;
    graph.launch(&stream)?;
    drop(graph);
    same("one replay and nothing else", (stream.read(&x)?, stream.read(&y)?), (vec![1.0; 100], vec![2.0; 100]))
}

/// One object, several recordings; none at first, none after a reset.
fn reset_and_again(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<f32>(4)?;
    let mut graph: Graph<u32> = Graph::empty(device, 0);
    let is_reset = |kind: &ErrorKind| *kind == ErrorKind::Reset;
    refused("an empty graph", graph.launch(&stream), is_reset)?;
    holds("it is empty", graph.is_empty() && graph.inspect().nodes.is_empty())?;
    graph.rerecord(k.add_stride(baked(1.0), &mut y).map(|()| 1))?;
    shape(&graph, 1, &[])?;
    same("the first recording's output", *graph.launch_sync(&stream)?, 1)?;
    graph.rerecord_with(device.graph().label("again"), k.add_stride(baked(10.0), &mut y).map(|()| 2))?;
    same("the second", (*graph.launch_sync(&stream)?, graph.label()), (2, "again"))?;
    let failed = graph.rerecord(|_: &mut Recorder<'_>| Err(dacapo::Error::msg("no")));
    refused("a recording that fails", failed, |kind| matches!(kind, ErrorKind::Msg(_)))?;
    same("the second is still there", *graph.launch_sync(&stream)?, 2)?;
    graph.reset();
    refused("a reset graph", graph.launch(&stream), is_reset)?;
    refused("a reset graph inside another", device.record(graph.as_op()), is_reset)?;
    same("y", stream.read(&y)?, [21.0; 4])
}

/// Two recordings of a body are compared: what changed and is baked is named.
fn verify(device: &Device) -> Outcome {
    let k = Kernels::load(device)?;
    let (x, mut y) = (device.buffer(&ramp(4))?, device.zeros::<f32>(4)?);
    let slot = Slot::new(0.0);
    let mut step = 0.0;
    let frozen = device.graph().verify(|r| {
        step += 1.0;
        slot.set(step);
        r.run(k.saxpy(baked(2.0), &x, &mut y))?;
        r.run(k.saxpy(&slot, &x, &mut y))?;
        r.run(k.saxpy(baked(step), &x, &mut y))
    })?;
    same("one value is frozen", frozen.len(), 1)?;
    holds("it is `a`", format!("{:?}", frozen[0]).contains("\"a\""))?;
    let none = device.graph().verify(|r| r.run(k.saxpy(&slot, &x, &mut y)))?;
    holds("nothing else is", none.is_empty())
}

/// A report is the same after JSON, with and without a graph.
fn report_as_json(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(4))?, device.zeros::<f32>(4)?);
    let a = Slot::new(0.1f32);
    let mut body = |r: &mut Recorder<'_>| {
        let mut t = r.alloc(4)?;
        r.run(k.add(&x, &a, &mut t).label("first"))?;
        r.run(copy(&t, &mut y))
    };
    let recorded = device.graph().label("step").inspect(&mut body)?;
    let mut graph = device.graph().label("step").record(&mut body)?;
    shape(&graph, 2, &[(0, 1)])?;
    let report = graph.inspect();
    same("the recording and its graph", &recorded, &report)?;
    let again = Report::from_json(&report.to_json()).map_err(Failure::new)?;
    same("after JSON", &again, &report)?;
    a.set(0.7);
    graph.launch(&stream)?;
    holds("another slot is another report", graph.inspect() != report)?;
    holds("it can be drawn", report.to_dot().contains("digraph"))?;
    drop(graph);
    same("y", stream.read(&y[..1])?, [0.7])
}

/// What acts now is refused inside a recording, and the recording goes on.
fn eager_refused_inside(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (x, mut y) = (device.buffer(&[1u32, 2])?, device.zeros::<u32>(2)?);
    let mut refusals = 0;
    let mut graph = device.record(|r| {
        let eager = |kind: &ErrorKind| matches!(kind, ErrorKind::EagerInRecording { .. });
        refusals += usize::from(stream.read(&x).is_err_and(|error| eager(error.kind())));
        refusals += usize::from(stream.synchronize().is_err_and(|error| eager(error.kind())));
        refusals += usize::from(device.synchronize().is_err_and(|error| eager(error.kind())));
        refusals += usize::from(stream.write(&mut y, &[0, 0]).is_err_and(|error| eager(error.kind())));
        refusals += usize::from(stream.run(fill(&mut y, baked(0))).is_err_and(|error| eager(error.kind())));
        r.run(copy(&x, &mut y))
    })?;
    same("refusals", refusals, 5)?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [1, 2])
}
