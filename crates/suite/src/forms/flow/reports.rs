//! What is said about graphs with bodies: reports, drawings, profiles, comparisons of recordings.

use dacapo::flow::{below, nonzero, up_to};
use dacapo::inspect::{Kind, Report};
use dacapo::profile::Profile;
use dacapo::{Device, Op, Recorder, Result, Slot, baked, fill};

use super::Bench;
use crate::forms::check::{Failure, Outcome, holds, same};
use crate::forms::forms;

forms!("flow":
    report_has_the_bodies, table_and_drawing, report_survives_json, profile_of_bodies, profile_counts_once,
    profile_eagerly, verified_twice,
);

/// A loop with a branch of two sides and a switch of three cases in it.
fn everything(b: &mut Bench, r: &mut Recorder<'_>, flag: &Slot<u32>) -> Result<()> {
    r.repeat(up_to(baked(3)), |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f32>(8)?;
        r.run(b.k.add(&b.cells, baked(1.0), &mut t).label("kept"))?;
        r.when(nonzero(flag), |r: &mut Recorder<'_>| r.run(b.k.multiply(&t, &t, &mut b.cells)))?
            .otherwise(|r: &mut Recorder<'_>| r.run(b.add(1, 1.0)))?;
        r.switch(flag, 3, |r, case| r.run(b.put(case as usize, case)))?;
        Ok(below(b.cells.at(0), baked(50.0)))
    })
    .map(drop)
}

/// Kinds, bodies, and what is inside which.
fn report_has_the_bodies(device: &Device) -> Outcome {
    let (mut b, flag) = (Bench::new(device)?, Slot::new(1u32));
    let recording = device.graph().label("g").guarded(false);
    let graph = recording.record(|r: &mut Recorder<'_>| everything(&mut b, r, &flag))?;
    let report = graph.inspect();
    let loops: Vec<usize> = report.nodes.iter().filter(|node| node.kind == Kind::Loop).map(|node| node.index).collect();
    same("loops", loops.len(), 1)?;
    let inside = |name: &str| report.nodes.iter().find(|node| node.name == name).and_then(|node| node.inside);
    same("`add` is in the loop", inside("add").map(|inside| (inside.node, inside.body)), Some((loops[0], 0)))?;
    let of_when = inside("multiply").ok_or_else(|| Failure::new("`multiply` is in no body"))?;
    same("in a branch", report.nodes[of_when.node].kind, Kind::Branch)?;
    same("which is in the loop", report.nodes[of_when.node].inside.map(|inside| inside.node), Some(loops[0]))?;
    let fills = report.nodes.iter().filter(|node| node.kind == Kind::Fill);
    holds("each case is in a body", fills.clone().count() == 3 && fills.clone().all(|node| node.inside.is_some()))?;
    let label = report.nodes.iter().find(|node| node.name == "add").map(|node| node.label.clone());
    same("labels", label.as_deref(), Some("g/kept"))
}

/// The table and the drawing name the constructs and what is in them.
fn table_and_drawing(device: &Device) -> Outcome {
    let (mut b, flag) = (Bench::new(device)?, Slot::new(1u32));
    let graph = device.record(|r: &mut Recorder<'_>| everything(&mut b, r, &flag))?;
    let report = graph.inspect();
    for (what, text) in [("table", report.to_string()), ("drawing", report.to_dot())] {
        for word in ["repeat", "when", "switch", "multiply", "fill"] {
            holds(&format!("the {what} has {word:?}:\n{text}"), text.contains(word))?;
        }
    }
    holds("a box for each body", report.to_dot().matches("subgraph").count() >= 4)
}

/// A report is the same after JSON, and that of the recording alone.
fn report_survives_json(device: &Device) -> Outcome {
    let (mut b, flag) = (Bench::new(device)?, Slot::new(1u32));
    let recorded = device.graph().inspect(|r: &mut Recorder<'_>| everything(&mut b, r, &flag))?;
    let mut graph = device.record(|r: &mut Recorder<'_>| everything(&mut b, r, &flag))?;
    let report = graph.inspect();
    same("the recording and its graph", &recorded, &report)?;
    let again = Report::from_json(&report.to_json()).map_err(Failure::new)?;
    same("after JSON", &again, &report)?;
    let stream = b.stream.clone();
    graph.launch(&stream)?;
    same("after a launch", &graph.inspect(), &report)
}

/// A profile does one replay, with a branch that is not taken, and with a loop that has no round.
fn profile_of_bodies(device: &Device) -> Outcome {
    let (mut b, flag, times) = (Bench::new(device)?, Slot::new(0u32), Slot::new(0u32));
    let stream = b.stream.clone();
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        r.run(b.count(0))?;
        r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.count(1)))?;
        r.repeat_times(&times, |r: &mut Recorder<'_>| r.run(b.count(2)))?;
        r.run(b.count(3))
    })?;
    let mut want = [0; 4];
    for (f, n) in [(0, 0), (1, 0), (0, 3), (1, 2)] {
        flag.set(f);
        times.set(n);
        let profile = graph.profile(&stream)?;
        for (sum, by) in want.iter_mut().zip([1, f, n, 1]) {
            *sum += by;
        }
        same("words", stream.read(&b.words[..4])?, want)?;
        holds("it has ops", !profile.ops.is_empty() && profile.total_ns > 0)?;
        holds("each ends after it begins", profile.ops.iter().all(|op| op.start_ns <= op.end_ns))?;
        holds("it can be printed", profile.to_string().contains("repeat_times"))?;
        holds("and drawn", !profile.trace().is_empty())?;
    }
    Ok(())
}

/// Profiles and launches by turns, of nested bodies.
fn profile_counts_once(device: &Device) -> Outcome {
    let (mut b, times) = (Bench::new(device)?, Slot::new(2u32));
    let stream = b.stream.clone();
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        r.repeat_times(&times, |r: &mut Recorder<'_>| {
            r.repeat_times(&times, |r: &mut Recorder<'_>| r.run(b.count(0)))?;
            r.leave_if(nonzero(b.words.at(7)))?;
            r.run(b.count(1))
        })
        .map(drop)
    })?;
    let mut want = [0, 0];
    for (n, profiled) in [(2, true), (3, false), (0, true), (1, true), (2, false)] {
        times.set(n);
        match profiled {
            true => drop(graph.profile(&stream)?),
            false => graph.launch(&stream).map(drop)?,
        }
        want = [want[0] + n * n, want[1] + n];
        same("words", stream.read(&b.words[..2])?, want)?;
    }
    same("replays", graph.num_replays(), 5)
}

/// An eager run counts the rounds that a replay counts, and its ops are the graph's.
fn profile_eagerly(device: &Device) -> Outcome {
    let (mut b, flag, times) = (Bench::new(device)?, Slot::new(0u32), Slot::new(0u32));
    let stream = b.stream.clone();
    let mut graph = device.graph().guarded(false).record(|r: &mut Recorder<'_>| {
        r.run(b.count(0))?;
        r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.count(1)))?
            .otherwise(|r: &mut Recorder<'_>| r.run(b.count(2)))?;
        r.repeat_times(&times, |r: &mut Recorder<'_>| {
            r.run(b.count(3))?;
            r.repeat_times(&times, |r: &mut Recorder<'_>| r.run(b.count(4)))?;
            r.switch(&flag, 2, |r, case| r.run(b.count(5 + case as usize)))
        })?;
        r.run(b.count(7))
    })?;
    let mut want = [0; 8];
    for (f, n) in [(0, 0), (1, 0), (0, 3), (1, 2)] {
        flag.set(f);
        times.set(n);
        let (eager, replayed) = (stream.profile(graph.as_op())?, graph.profile(&stream)?);
        let once = [1, f, 1 - f, n, n * n, n * (1 - f), n * f, 1];
        want.iter_mut().zip(once).for_each(|(sum, by)| *sum += 2 * by);
        same("words", stream.read(&b.words[..8])?, want)?;
        let told = |profile: &Profile| {
            profile.ops.iter().map(|op| (op.name.clone(), op.kind, op.inside, op.runs)).collect::<Vec<_>>()
        };
        same("the same ops, as often", told(&eager), told(&replayed))?;
        same("one at a time", eager.lanes(), 1)?;
        for op in eager.ops.iter().filter(|op| op.runs > 0) {
            holds("each ends after it begins", op.start_ns < op.end_ns && op.end_ns <= eager.total_ns)?;
            let before = eager.ops[..op.index].iter().rposition(|before| before.inside == op.inside);
            // The first op of a body comes behind nothing, and so does that of another body of its branch.
            holds("each comes after the one before", op.after.iter().all(|after| Some(*after) == before))?;
            holds("outside there is one", op.inside.is_some() || op.index == 0 || !op.after.is_empty())?;
        }
    }
    Ok(())
}

/// Two recordings of a body are compared: what changed and is baked is named, also inside a loop.
fn verified_twice(device: &Device) -> Outcome {
    let (mut b, mut step) = (Bench::new(device)?, 0);
    let frozen = device.graph().verify(|r: &mut Recorder<'_>| {
        step += 1;
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            r.run(b.count(0))?;
            r.run(fill(&mut b.words[1..2], baked(step)))
        })
        .map(drop)
    })?;
    same(&format!("one value is frozen: {frozen:?}"), frozen.len(), 1)?;
    let none = device
        .graph()
        .verify(|r: &mut Recorder<'_>| r.repeat_times(baked(2), |r: &mut Recorder<'_>| r.run(b.count(0))).map(drop))?;
    holds("nothing else is", none.is_empty())
}
