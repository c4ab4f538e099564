//! Small branches as kernels that look at the flag themselves: which branches are, and that nobody can tell but by
//! reports.
//!
//! That they do the same as conditional nodes, [`agree`](super::agree) asks of every form here.

use dacapo::flow::{below, nonzero, zero};
use dacapo::inspect::Kind;
use dacapo::profile::By;
use dacapo::{Device, Graph, Recorder, Result, Slot, baked, copy, fill};

use super::{Bench, agree};
use crate::forms::check::{Outcome, holds, same};
use crate::forms::forms;
use crate::forms::kernels::{Kernels, churned};

forms!("flow":
    guarded_where_small, guarded_both_ways, guarded_in_a_loop, guarded_flag_outlives_the_bodies,
    guarded_sides_share_their_temps, guarded_leaves_are_waited_for, guarded_slots, guarded_rerecorded,
    guarded_rerecorded_from_small_to_large, guarded_inside_another_graph, guarded_on_streams, guarded_profiles,
);

/// The kinds of the branches of a report, in order.
fn branches(report: &dacapo::inspect::Report) -> Vec<Kind> {
    let is_branch = |kind: &Kind| matches!(kind, Kind::Branch | Kind::Guarded);
    report.nodes.iter().map(|node| node.kind).filter(is_branch).collect()
}

/// All branches of a graph are guarded. There are two for an `if` with its `else` on a driver that has none.
#[track_caller]
fn all_guarded<T>(graph: &Graph<T>) -> Outcome {
    let kinds = branches(&graph.inspect());
    holds(&format!("guarded: {kinds:?}"), !kinds.is_empty() && kinds.iter().all(|kind| *kind == Kind::Guarded))
}

/// The branches of a recording are of these kinds where they may be guarded, and none is where they may not.
#[track_caller]
fn kinds(device: &Device, what: &str, want: &[Kind], mut body: impl FnMut(&mut Recorder<'_>) -> Result<()>) -> Outcome {
    let report = device.graph().guarded(true).inspect(|r: &mut Recorder<'_>| body(r))?;
    same(what, branches(&report), want)?;
    let plain = device.graph().guarded(false).inspect(|r: &mut Recorder<'_>| body(r))?;
    same(&format!("{what}, not guarded"), branches(&plain), vec![Kind::Branch; want.len()])
}

/// Which branches are guarded: those with one to three small kernels that can be.
fn guarded_where_small(device: &Device) -> Outcome {
    let (k, mut y, mut large) = (Kernels::load(device)?, device.zeros::<u32>(8)?, device.zeros::<u32>(32 * 1025)?);
    let (flag, mut out) = (device.scalar(1u32)?, device.scalar(0u32)?);
    let lit = || nonzero(&flag);
    for (kernels, want) in [(0, Kind::Branch), (1, Kind::Guarded), (3, Kind::Guarded), (4, Kind::Branch)] {
        let body = |r: &mut Recorder<'_>| {
            r.when(lit(), |r| (0..kernels).try_for_each(|_| r.run(k.increment_first(baked(1), &mut y)))).map(drop)
        };
        kinds(device, &format!("{kernels} kernels"), &[want], body)?;
    }
    for (blocks, want) in [(1024, Kind::Guarded), (1025, Kind::Branch)] {
        let count = 32 * blocks;
        let body =
            |r: &mut Recorder<'_>| r.when(lit(), |r| r.run(k.increment_first(baked(count), &mut large))).map(drop);
        kinds(device, &format!("{blocks} blocks"), &[want], body)?;
    }
    let body = |r: &mut Recorder<'_>| {
        r.when(lit(), |r| r.when(lit(), |r| r.run(k.increment_first(baked(1), &mut y))).map(drop)).map(drop)
    };
    kinds(device, "one inside another", &[Kind::Branch, Kind::Guarded], body)?;
    let body = |r: &mut Recorder<'_>| r.when(lit(), |r| r.run(fill(&mut y, baked(1)))).map(drop);
    kinds(device, "no kernel", &[Kind::Branch], body)?;
    let body = |r: &mut Recorder<'_>| r.when(lit(), |r| r.run(k.count_call(&mut out))).map(drop);
    kinds(device, "a variable of the module", &[Kind::Branch], body)?;
    let body = |r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), |r| {
            r.leave_if(zero(&flag))?;
            r.run(k.increment_first(baked(1), &mut y))
        })
        .map(drop)
    };
    kinds(device, "the rest of a round, which decides about the next", &[Kind::Branch], body)
}

/// Taken, not taken, and the other side, by a number and by a slot.
fn guarded_both_ways(device: &Device) -> Outcome {
    let flag = Slot::new(0u32);
    agree(
        device,
        &[(0u32, 0u32), (0, 1), (1, 0), (7, u32::MAX), (0, 0)],
        |(x, f), _, words| {
            words[0] = x;
            flag.set(f);
        },
        |b, r| {
            r.when(nonzero(b.words.at(0)), |r| r.run(b.count(1)))?;
            r.when(nonzero(&flag), |r| {
                r.run(b.count(2))?;
                r.run(b.count(0))
            })?
            .otherwise(|r| {
                r.run(b.count(3))?;
                r.run(b.add(0, 2.0))
            })?;
            r.run(b.count(4))
        },
        |(x, f), cells, words| {
            words[1] = u32::from(x != 0);
            if f != 0 {
                words[2] = 1;
                words[0] = x + 1;
            } else {
                words[3] = 1;
                cells[0] = 2.0;
            }
            words[4] = 1;
        },
    )
}

/// Decided anew in each round, by what the body of the round before has done.
fn guarded_in_a_loop(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 2, 5],
        |x, _, words| words[0] = x,
        |b, r| {
            r.repeat_times(baked(4), |r| {
                r.when(below(b.words.at(0), baked(3)), |r| {
                    r.run(b.count(0))?;
                    r.run(b.count(1))
                })?
                .otherwise(|r| r.run(b.count(2)))?;
                r.run(b.add(0, 1.0))
            })
            .map(drop)
        },
        |x, cells, words| {
            for _ in 0..4 {
                if words[0] < 3 {
                    words[0] += 1;
                    words[1] += 1;
                } else {
                    words[2] += 1;
                }
            }
            assert!(words[0] >= x);
            cells[0] = 4.0;
        },
    )
}

/// A temp that a body writes before its last kernel looks at the flag lies elsewhere than the flag: as large as that,
/// filled with what would turn it round.
fn guarded_flag_outlives_the_bodies(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1],
        |x, _, words| (words[0], words[4], words[5]) = (x, 0, 0),
        |b, r| {
            let from = b.words.share();
            r.when(nonzero(b.words.at(0)), |r| {
                let mut t = r.alloc::<u32>(4)?;
                r.run(b.k.window(baked(4), &from, &mut t))?;
                r.run(b.k.increment_first(baked(4), &mut t))?;
                r.run(b.count(1))
            })?;
            r.when(zero(b.words.at(0)), |r| {
                let mut t = r.alloc::<u32>(4)?;
                r.run(b.k.window(baked(4), &from, &mut t))?;
                r.run(b.count(2))
            })
            .map(drop)
        },
        |x, _, words| words[if x == 1 { 1 } else { 2 }] = 1,
    )
}

/// Temps of both sides lie in the same memory, and one from outside is written by both.
fn guarded_sides_share_their_temps(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 0],
        |x, _, words| (words[0], words[7]) = (x, 40),
        |b, r| {
            let (from, mut both) = (b.words.share(), r.alloc::<u32>(1)?);
            r.when(nonzero(b.words.at(0)), |r| {
                let mut t = r.alloc::<u32>(1)?;
                r.run(b.k.window(baked(7), &from, &mut t))?;
                r.run(b.k.window(baked(0), &t, &mut both))
            })?
            .otherwise(|r| {
                let mut t = r.alloc::<u32>(1)?;
                r.run(b.k.window(baked(0), &from, &mut t))?;
                r.run(b.k.window(baked(0), &t, &mut both))
            })?;
            r.run(copy(&both, &mut b.words[1..2]))
        },
        |x, _, words| words[1] = if x == 1 { 40 } else { 0 },
    )
}

/// What comes behind a branch waits for everything that its bodies end in.
fn guarded_leaves_are_waited_for(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let flag = Slot::new(0u32);
    let mut graph = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        let [mut a, mut b, mut c] = [r.output::<u32>(64)?, r.output::<u32>(64)?, r.output::<u32>(64)?];
        for part in [&mut a, &mut b, &mut c] {
            r.run(fill(part, baked(1)))?;
        }
        r.when(nonzero(&flag), |r| {
            r.run(k.churn(baked(40), &mut a))?;
            r.run(k.churn(baked(40), &mut b))
        })?
        .otherwise(|r| r.run(k.churn(baked(3), &mut c)))?;
        let (mut x, mut z) = (r.output::<u32>(64)?, r.output::<u32>(64)?);
        r.run(copy(&a, &mut x))?;
        r.run(copy(&c, &mut z))?;
        r.run(copy(&b, &mut a))?;
        Ok([x, a, z])
    })?;
    all_guarded(&graph)?;
    for lit in [1, 0, 1] {
        flag.set(lit);
        let out = graph.launch_sync(&stream)?;
        let want = [if lit == 1 { 40 } else { 0 }, if lit == 1 { 40 } else { 0 }, if lit == 1 { 0 } else { 3 }];
        for (part, rounds) in out.iter().zip(want) {
            same("a part", stream.read(part)?, [churned(1, rounds); 64])?;
        }
    }
    Ok(())
}

/// Slots of guarded kernels: other values, no blocks at all, and more blocks than a guarded branch is recorded with.
fn guarded_slots(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut y, count, flag) = (device.zeros::<u32>(32 * 1030)?, Slot::new(4u32), Slot::new(1u32));
    let mut graph = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        r.when(nonzero(&flag), |r| r.run(k.increment_first(&count, &mut y)))?
            .otherwise(|r| r.run(k.increment_first(baked(2), &mut y)))
    })?;
    all_guarded(&graph)?;
    let mut want = vec![0u32; 32 * 1030];
    for (n, f) in [(4, 1), (0, 1), (0, 0), (32 * 1030, 1), (32 * 1030, 0), (3, 0), (3, 1), (0, 1), (1, 1)] {
        count.set(n);
        flag.set(f);
        graph.launch(&stream)?;
        want[..if f == 1 { n as usize } else { 2 }].iter_mut().for_each(|y| *y += 1);
        same(&format!("y for {n} and {f}"), stream.read(&y)?, want.clone())?;
    }
    Ok(())
}

/// A branch by some numbers: how many kernels, and what they add.
fn choice(b: &mut Bench, r: &mut Recorder<'_>, wide: usize, kernels: usize, by: f32) -> Result<()> {
    let mut t = r.alloc::<f32>(wide)?;
    r.run(fill(&mut t, baked(by)))?;
    r.when(nonzero(b.words.at(0)), |r: &mut Recorder<'_>| {
        (0..kernels).try_for_each(|at| r.run(b.k.saxpy(baked(1.0), &t[..1], &mut b.cells[at..at + 1])))
    })?
    .otherwise(|r: &mut Recorder<'_>| r.run(b.add(7, by)))
}

fn chosen(b: &mut Bench, graph: &mut Graph<()>, kernels: usize, by: f32) -> Outcome {
    let stream = b.stream.clone();
    for lit in [1, 0] {
        b.write(&[0.0; 8], &[lit, 0, 0, 0, 0, 0, 0, 0])?;
        graph.launch(&stream)?;
        let mut want = [0.0; 8];
        match lit {
            1 => want[..kernels].fill(by),
            _ => want[7] = by,
        }
        same(&format!("cells, {kernels} kernels, flag {lit}"), stream.read(&b.cells)?, want)?;
    }
    Ok(())
}

/// Other numbers and other memory, of the kernels and of the flag: set in place.
fn guarded_rerecorded(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let mut graph = device.graph().guarded(true).record(|r: &mut Recorder<'_>| choice(&mut b, r, 1, 2, 1.0))?;
    chosen(&mut b, &mut graph, 2, 1.0)?;
    for (wide, by) in [(1, 2.0), (1, 2.0), (1000, 3.0), (1, 4.0)] {
        let done = graph.rerecord(|r: &mut Recorder<'_>| choice(&mut b, r, wide, 2, by))?;
        holds(&format!("updated: {done}"), done.is_updated())?;
        all_guarded(&graph)?;
        chosen(&mut b, &mut graph, 2, by)?;
    }
    Ok(())
}

/// More kernels than a guarded branch has, fewer again, and the same with other options: each time it is built anew.
fn guarded_rerecorded_from_small_to_large(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let mut graph = device.graph().guarded(true).record(|r: &mut Recorder<'_>| choice(&mut b, r, 1, 2, 1.0))?;
    for (kernels, want) in [(5, Kind::Branch), (2, Kind::Guarded), (6, Kind::Branch), (1, Kind::Guarded)] {
        let done = graph.rerecord(|r: &mut Recorder<'_>| choice(&mut b, r, 1, kernels, 2.0))?;
        holds(&format!("rebuilt: {done}"), !done.is_updated())?;
        same("its kind", branches(&graph.inspect())[0], want)?;
        chosen(&mut b, &mut graph, kernels, 2.0)?;
    }
    for (guarded, why) in [(false, "it is not guarded any more"), (true, "it is guarded now")] {
        let recording = device.graph().guarded(guarded);
        let done = graph.rerecord_with(recording, |r: &mut Recorder<'_>| choice(&mut b, r, 1, 1, 3.0))?;
        holds(&format!("{why}: {done}"), !done.is_updated() && done.to_string().contains(why))?;
        chosen(&mut b, &mut graph, 1, 3.0)?;
    }
    Ok(())
}

/// Guarded or not, a graph inside another is what the outer one says.
fn guarded_inside_another_graph(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    for (inner, outer) in [(true, false), (false, true), (true, true)] {
        let recording = device.graph().guarded(inner);
        let part = recording.record(|r: &mut Recorder<'_>| choice(&mut b, r, 1, 2, 5.0))?;
        let mut graph = device.graph().guarded(outer).record(|r: &mut Recorder<'_>| r.run(part.as_op()))?;
        let want = if outer { Kind::Guarded } else { Kind::Branch };
        let report = graph.inspect();
        same("its kind", branches(&report)[0], want)?;
        let flags = report.nodes.iter().flat_map(|node| &node.arguments).filter(|argument| argument.name == "flag");
        same("kernels that look at a flag", flags.count(), if outer { 3 } else { 0 })?;
        drop(part);
        chosen(&mut b, &mut graph, 2, 5.0)?;
    }
    Ok(())
}

/// Replays on streams by turns, with a slot that changes.
fn guarded_on_streams(device: &Device) -> Outcome {
    let (streams, k) = ([device.stream()?, device.stream()?], Kernels::load(device)?);
    let (mut y, flag) = (device.zeros::<u32>(2)?, Slot::new(0u32));
    let (mut left, mut right) = (device.zeros::<u32>(1)?, device.zeros::<u32>(1)?);
    let mut graph = device.graph().guarded(true).record(|r: &mut Recorder<'_>| {
        r.when(nonzero(&flag), |r| r.run(k.increment_first(baked(1), &mut left)))?
            .otherwise(|r| r.run(k.increment_first(baked(1), &mut right)))?;
        r.run(copy(&left, &mut y[..1]))?;
        r.run(copy(&right, &mut y[1..]))
    })?;
    for turn in 0..12 {
        flag.set(u32::from(turn % 3 == 0));
        graph.launch(&streams[turn % 2])?;
    }
    same("y", streams[0].read(&y)?, [4, 8])
}

/// A profile runs what a replay does, and says what is guarded.
fn guarded_profiles(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let mut graph = device.graph().guarded(true).record(|r: &mut Recorder<'_>| choice(&mut b, r, 1, 2, 1.0))?;
    b.write(&[0.0; 8], &[1; 8])?;
    let profile = graph.profile(&b.stream)?;
    same("cells", b.stream.read(&b.cells[..3])?, [1.0, 1.0, 0.0])?;
    let guarded: Vec<_> = profile.ops.iter().filter(|op| op.kind == Kind::Guarded).collect();
    holds("one is guarded", !guarded.is_empty() && profile.table(By::Start).contains("when (guarded)"))?;
    // A guarded kernel runs whatever was decided.
    let inside = profile.ops.iter().filter(|op| op.inside == Some(guarded[0].index));
    holds("what is inside it ran once", inside.clone().count() >= 2 && inside.into_iter().all(|op| op.runs == 1))?;
    chosen(&mut b, &mut graph, 2, 1.0)
}
