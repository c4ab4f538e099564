//! Slots and new recordings: what changes in bodies between launches.

use dacapo::flow::{below, nonzero, up_to};
use dacapo::graph::Change;
use dacapo::{Device, ErrorKind, Graph, Recorder, Result, Slot, baked, copy, fill};

use super::{Bench, agree};
use crate::forms::check::{Outcome, holds, refused, same};
use crate::forms::forms;
use crate::forms::kernels::{Kernels, churned};

forms!("flow":
    slots_of_kernels_in_bodies, slot_drives_geometry_in_a_body, slot_drives_to_no_work_in_a_body,
    broken_value_in_a_body, rerecorded_in_place, rerecorded_with_other_bodies, rerecorded_temps_move,
    rerecorded_as_fresh, rerecord_fails_in_a_body,
);

/// Slots of kernels and fills in bodies of every kind, changed between launches; one value in all rounds.
fn slots_of_kernels_in_bodies(device: &Device) -> Outcome {
    let (by, value, times) = (Slot::new(0.0f32), Slot::new(0u32), Slot::new(0u32));
    agree(
        device,
        &[(1.0f32, 5u32, 3u32), (2.5, 6, 0), (-1.0, 0, 1), (1.0, 0, 1)],
        |(a, v, n), _, _| {
            by.set(a);
            value.set(v);
            times.set(n);
        },
        |b, r| {
            r.repeat_times(&times, |r| {
                r.run(b.k.add_stride(&by, &mut b.cells[..2]))?;
                r.when(nonzero(&value), |r| r.run(fill(&mut b.words[..2], &value)))?
                    .otherwise(|r| r.run(b.k.add_stride(&by, &mut b.cells[1..3])))
            })?;
            r.switch(&value, 7, |r, case| if case == 6 { r.run(fill(&mut b.words[2..3], &value)) } else { Ok(()) })
        },
        |(a, v, n), cells, words| {
            for _ in 0..n {
                cells[0] += a;
                cells[1] += a;
                if v != 0 {
                    words[..2].fill(v);
                } else {
                    cells[1] += a;
                    cells[2] += a;
                }
            }
            if v == 6 {
                words[2] = 6;
            }
        },
    )
}

/// A slot decides how many threads a kernel of a body has.
fn slot_drives_geometry_in_a_body(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut y, count) = (device.zeros::<u32>(100)?, Slot::new(1u32));
    let mut op = |r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| r.run(k.increment_first(&count, &mut y))).map(drop)
    };
    let mut graph = device.record(&mut op)?;
    let mut want = vec![0u32; 100];
    for (n, eagerly) in [(100, false), (33, false), (64, true), (1, false), (64, false)] {
        count.set(n);
        match eagerly {
            true => stream.run(&mut op)?,
            false => graph.launch(&stream).map(drop)?,
        }
        want[..n as usize].iter_mut().for_each(|y| *y += 2);
    }
    drop(graph);
    same("y", stream.read(&y)?, want)
}

/// To no work and back, in a loop, in a branch, and in a branch that is not taken.
fn slot_drives_to_no_work_in_a_body(device: &Device) -> Outcome {
    let (count, flag) = (Slot::new(4u32), Slot::new(1u32));
    agree(
        device,
        &[(0u32, 1u32), (4, 1), (0, 0), (0, 1), (2, 1), (3, 0)],
        |(n, f), _, _| {
            count.set(n);
            flag.set(f);
        },
        |b, r| {
            r.repeat_times(baked(3), |r| {
                r.run(b.count(6))?;
                r.run(b.k.increment_first(&count, &mut b.words[..4]))?;
                r.run(b.count(7))?;
                r.when(nonzero(&flag), |r| r.run(b.k.increment_first(&count, &mut b.words[..4]))).map(drop)
            })
            .map(drop)
        },
        |(n, f), _, words| {
            words[..n as usize].fill(3 + 3 * f);
            words[6..].fill(3);
        },
    )
}

/// A value that breaks a condition of a kernel in a body is refused at the launch, also where the body would not run.
fn broken_value_in_a_body(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&[10u32, 11, 12, 13])?;
    let (mut y, mut calls, offset, flag) =
        (device.zeros::<u32>(2)?, device.zeros::<u32>(1)?, Slot::new(0u32), Slot::new(1u32));
    let mut graph = device.record(|r| {
        r.run(k.increment_first(baked(1), &mut calls))?;
        r.when(nonzero(&flag), |r| r.run(k.window(&offset, &x, &mut y))).map(drop)
    })?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [10, 11])?;
    for (bad, taken) in [(3, 1), (u32::MAX, 0)] {
        offset.set(bad);
        flag.set(taken);
        let error = refused("past the end", graph.launch(&stream), |kind| matches!(kind, ErrorKind::Requires { .. }))?;
        same("the op", error.op(), "window")?;
        same("nothing ran", (stream.read(&y)?, stream.read(&calls)?), (vec![10, 11], vec![1]))?;
    }
    offset.set(2);
    flag.set(1);
    graph.launch(&stream)?;
    same("back again", (stream.read(&y)?, stream.read(&calls)?), (vec![12, 13], vec![2]))
}

/// A loop with a branch in it, by three numbers.
fn looped(b: &mut Bench, r: &mut Recorder<'_>, times: u32, by: f32, limit: u32) -> Result<()> {
    r.repeat_times(baked(times), |r: &mut Recorder<'_>| {
        r.run(b.add(0, by))?;
        r.when(below(b.words.at(0), baked(limit)), |r: &mut Recorder<'_>| r.run(b.count(0))).map(drop)
    })
    .map(drop)
}

fn launched(b: &mut Bench, graph: &mut Graph<()>, cells: [f32; 2], words: [u32; 2]) -> Outcome {
    b.write(&[0.0; 8], &[0; 8])?;
    let stream = b.stream.clone();
    graph.launch(&stream)?;
    same("cells", stream.read(&b.cells[..2])?, cells)?;
    same("words", stream.read(&b.words[..2])?, words)
}

/// Other numbers of rounds, other values in bodies, other conditions: the graph is updated where it is.
fn rerecorded_in_place(device: &Device) -> Outcome {
    for guarded in [false, true] {
        let mut b = Bench::new(device)?;
        let recording = device.graph().guarded(guarded);
        let mut graph = recording.record(|r: &mut Recorder<'_>| looped(&mut b, r, 3, 1.0, 2))?;
        launched(&mut b, &mut graph, [3.0, 0.0], [2, 0])?;
        for (times, by, limit) in [(5, 1.0, 2), (5, 2.0, 2), (5, 2.0, 9), (0, 2.0, 9), (1, 7.0, 0)] {
            let done = graph.rerecord(|r: &mut Recorder<'_>| looped(&mut b, r, times, by, limit))?;
            holds(&format!("updated: {done}"), done.is_updated())?;
            launched(&mut b, &mut graph, [times as f32 * by, 0.0], [times.min(limit), 0])?;
        }
        // Nothing but where the loop's own numbers are: they are temps, and temps are new memory. A guarded kernel reads one.
        let done = graph.rerecord(|r: &mut Recorder<'_>| looped(&mut b, r, 1, 7.0, 0))?;
        let is_kept = |op: &str| done.nodes.iter().any(|node| node.op == op && node.change == Change::Kept);
        let as_expected = is_kept("add_stride") && is_kept("increment_first") != guarded;
        holds(&format!("what is in the bodies is kept: {done}"), as_expected)?;
    }
    Ok(())
}

/// An op more in a body, a body more, another construct: the graph is built anew, and right.
fn rerecorded_with_other_bodies(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let mut graph = device.record(|r: &mut Recorder<'_>| looped(&mut b, r, 3, 1.0, 9))?;
    launched(&mut b, &mut graph, [3.0, 0.0], [3, 0])?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(3), |r: &mut Recorder<'_>| {
            r.run(b.add(0, 1.0))?;
            r.run(b.add(1, 1.0))?;
            r.when(below(b.words.at(0), baked(9)), |r: &mut Recorder<'_>| r.run(b.count(0))).map(drop)
        })
        .map(drop)
    })?;
    holds(&format!("one op more, rebuilt: {done}"), !done.is_updated())?;
    launched(&mut b, &mut graph, [3.0, 3.0], [3, 0])?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(3), |r: &mut Recorder<'_>| {
            r.run(b.add(0, 1.0))?;
            r.run(b.add(1, 1.0))?;
            r.when(below(b.words.at(0), baked(2)), |r: &mut Recorder<'_>| r.run(b.count(0)))?
                .otherwise(|r: &mut Recorder<'_>| r.run(b.count(1)))
        })
        .map(drop)
    })?;
    holds(&format!("one body more, rebuilt: {done}"), !done.is_updated())?;
    launched(&mut b, &mut graph, [3.0, 3.0], [2, 1])?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| {
        r.repeat(up_to(baked(4)), |r: &mut Recorder<'_>| {
            r.run(b.add(0, 1.0))?;
            Ok(below(b.cells.at(0), baked(2.0)))
        })
        .map(drop)
    })?;
    holds(&format!("another loop, rebuilt: {done}"), !done.is_updated())?;
    launched(&mut b, &mut graph, [2.0, 0.0], [0, 0])?;
    let done = graph.rerecord(|r: &mut Recorder<'_>| r.run(b.add(1, 4.0)))?;
    holds(&format!("no loop at all, rebuilt: {done}"), !done.is_updated())?;
    launched(&mut b, &mut graph, [0.0, 4.0], [0, 0])
}

/// Temps and outputs of bodies are new memory, and the loop's own numbers move with them.
fn rerecorded_temps_move(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let body = |wide: usize, times: u32| {
        let k = &k;
        move |r: &mut Recorder<'_>| {
            let (mut y, mut kept) = (r.output::<u32>(2)?, r.alloc::<u32>(wide)?);
            r.run(fill(&mut kept, baked(0)))?;
            let rounds = r.repeat_times(baked(times), |r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(wide)?;
                r.run(copy(&kept, &mut t))?;
                r.run(k.churn(baked(1), &mut t))?;
                r.run(copy(&t, &mut kept))
            })?;
            r.run(copy(&kept[wide - 1..], &mut y[..1]))?;
            r.run(copy(rounds.count().as_slice(), &mut y[1..]))?;
            Ok(y)
        }
    };
    let mut graph = device.record(body(10, 3))?;
    same("first", stream.read(graph.launch_sync(&stream)?)?, [churned(0, 3), 3])?;
    for (wide, times) in [(10, 4), (1000, 4), (1, 2), (300, 0)] {
        graph.rerecord(body(wide, times))?;
        for _ in 0..2 {
            same("y", stream.read(graph.launch_sync(&stream)?)?, [churned(0, times), times])?;
        }
    }
    Ok(())
}

/// Updated by turns with slots and without, while replays are in flight: each launch is that of its recording.
fn rerecorded_as_fresh(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut y, times) = (device.zeros::<u32>(8)?, Slot::new(1u32));
    let mut steps = 0;
    let mut graph: Graph<()> = Graph::empty(device, ());
    for turn in 0..8u32 {
        times.set(turn);
        let (by, is_slot) = (100 * turn, turn % 3 == 1);
        graph.rerecord(|r: &mut Recorder<'_>| {
            let y = &mut y;
            let mut body = |r: &mut Recorder<'_>| r.run(k.churn(baked(by), &mut *y));
            match is_slot {
                true => r.repeat_times(&times, &mut body).map(drop),
                false => r.repeat_times(baked(2), &mut body).map(drop),
            }
        })?;
        for launch in 0..2 {
            times.set(launch);
            graph.launch(&stream)?;
            steps += by * if is_slot { launch } else { 2 };
        }
    }
    same("y", stream.read(&y)?, [churned(0, steps); 8])
}

/// A new recording that fails inside a body leaves the old one as it was.
fn rerecord_fails_in_a_body(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let mut graph = device.record(|r: &mut Recorder<'_>| looped(&mut b, r, 3, 1.0, 2))?;
    let failed = graph.rerecord(|r: &mut Recorder<'_>| {
        looped(&mut b, r, 9, 9.0, 9)?;
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            r.run(b.count(1))?;
            r.leave_if(nonzero(b.words.at(1)))?;
            Err(dacapo::Error::msg("no"))
        })
        .map(drop)
    });
    refused("a failing body", failed, |kind| matches!(kind, ErrorKind::Msg(_)))?;
    launched(&mut b, &mut graph, [3.0, 0.0], [2, 0])
}
