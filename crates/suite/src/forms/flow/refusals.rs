//! What is refused about control flow, and that nothing of it is left.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dacapo::flow::{nonzero, unbounded};
use dacapo::{Device, Error, ErrorKind, Recorder, Result, baked, copy, fill};

use super::Bench;
use crate::forms::check::{Outcome, holds, refused, same};
use crate::forms::forms;

forms!("flow":
    way_out_without_a_loop, round_without_a_loop, temp_of_a_body_outside, unwritten_behind_bodies,
    unwritten_in_a_second_round, failing_body_leaves_no_trace, failing_eagerly_runs_nothing, panic_in_a_body,
    eager_calls_in_a_body, otherwise_fails,
);

/// A way out outside of a loop, in a branch of a loop, in a switch, and in an embedded op that is in a loop.
fn way_out_without_a_loop(device: &Device) -> Outcome {
    let b = Bench::new(device)?;
    let is_no_loop = |kind: &ErrorKind| matches!(kind, ErrorKind::NoLoop { call: "leave_if" });
    let leave = |r: &mut Recorder<'_>| r.leave_if(nonzero(b.words.at(0)));
    refused("at the top", device.record(leave), is_no_loop)?;
    let in_a_branch = device.record(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| r.when(nonzero(b.words.at(0)), leave).map(drop)).map(drop)
    });
    refused("in a branch", in_a_branch, is_no_loop)?;
    let in_a_switch = device.record(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| r.switch(baked(0), 1, |r, _| leave(r))).map(drop)
    });
    refused("in a switch", in_a_switch, is_no_loop)?;
    let behind = device.record(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), leave)?;
        leave(r)
    });
    refused("behind a loop", behind, is_no_loop)?;
    refused("eagerly", b.stream.run(leave), is_no_loop).map(drop)
}

/// The number of the round outside of a loop.
fn round_without_a_loop(device: &Device) -> Outcome {
    let b = Bench::new(device)?;
    let is_no_loop = |kind: &ErrorKind| matches!(kind, ErrorKind::NoLoop { call: "round" });
    let round = |r: &mut Recorder<'_>| r.round().map(drop);
    refused("at the top", device.record(round), is_no_loop)?;
    let branch = |r: &mut Recorder<'_>| r.when(nonzero(b.words.at(0)), round).map(drop);
    refused("in a branch alone", device.record(branch), is_no_loop)?;
    let behind = device.record(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), round)?;
        round(r)
    });
    refused("behind a loop", behind, is_no_loop).map(drop)
}

/// A condition cannot take a temp of a body out of it: not behind it, not into a neighbour.
fn temp_of_a_body_outside(device: &Device) -> Outcome {
    let b = Bench::new(device)?;
    for neighbour in [false, true] {
        let refusal = device.record(|r: &mut Recorder<'_>| {
            let mut kept = None;
            r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
                let mut t = r.alloc_scalar::<u32>()?;
                r.run(fill(t.as_mut_slice(), baked(1)))?;
                kept = Some(nonzero(&t));
                Ok(())
            })?;
            let kept = kept.ok_or_else(|| Error::msg("no condition"))?;
            match neighbour {
                true => r
                    .when(nonzero(b.words.at(0)), |r: &mut Recorder<'_>| {
                        r.when(kept, |_: &mut Recorder<'_>| Ok(())).map(drop)
                    })
                    .map(drop),
                false => r.when(kept, |_: &mut Recorder<'_>| Ok(())).map(drop),
            }
        });
        refused("a temp of a body", refusal, |kind| *kind == ErrorKind::TempOfBody)?;
    }
    Ok(())
}

/// What only a branch, a loop that may not run, a case, or the rest of a round wrote is not written behind it.
fn unwritten_behind_bodies(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let is_uninit = |kind: &ErrorKind| matches!(kind, ErrorKind::UninitTemp { .. });
    for way in 0..6 {
        let refusal = device.record(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<f32>(1)?;
            let set = nonzero(b.words.at(0));
            let mut write = |r: &mut Recorder<'_>| r.run(fill(&mut t, baked(1.0)));
            match way {
                0 => drop(r.when(set, &mut write)?),
                1 => drop(r.repeat_while(set, unbounded(), &mut write)?),
                2 => drop(r.repeat_times(baked(2), &mut write)?),
                3 => r.switch(baked(0), 2, |r, _| write(r))?,
                4 => r.when(set, |_: &mut Recorder<'_>| Ok(()))?.otherwise(&mut write)?,
                _ => drop(r.repeat(unbounded(), |r: &mut Recorder<'_>| {
                    r.leave_if(set.clone())?;
                    write(r)?;
                    Ok(set)
                })?),
            }
            r.run(copy(&t, &mut b.cells[..1]))
        });
        refused(&format!("way {way}"), refusal, is_uninit)?;
    }
    Ok(())
}

/// A temp of a body is undefined in each round, and one from outside that a later op of the round writes is in the
/// first.
fn unwritten_in_a_second_round(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let is_uninit = |kind: &ErrorKind| matches!(kind, ErrorKind::UninitTemp { .. });
    let refusal = device.record(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f32>(1)?;
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            r.run(copy(&t, &mut b.cells[..1]))?;
            r.run(fill(&mut t, baked(1.0)))
        })
        .map(drop)
    });
    refused("read before it is written", refusal, is_uninit)?;
    let refusal = device.record(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f32>(1)?;
        r.when(nonzero(b.words.at(0)), |r: &mut Recorder<'_>| r.run(fill(&mut t, baked(1.0))))?
            .otherwise(|r: &mut Recorder<'_>| r.run(copy(&t, &mut b.cells[..1])))
    });
    refused("written on the other side", refusal, is_uninit).map(drop)
}

/// A body that fails takes its whole construct with it, and the recording goes on.
fn failing_body_leaves_no_trace(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let stream = b.stream.clone();
    let mut failures = 0;
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        r.run(b.count(0))?;
        let no = || Err::<(), _>(Error::msg("no"));
        let failed = [
            r.repeat_times(baked(2), |r: &mut Recorder<'_>| r.run(b.count(1)).and_then(|()| no())).map(drop),
            r.switch(baked(1), 3, |r, case| if case < 2 { r.run(b.count(1)) } else { no() }),
            r.repeat(unbounded(), |r: &mut Recorder<'_>| {
                r.leave_if(nonzero(b.words.at(0)))?;
                r.when(nonzero(b.words.at(0)), |r: &mut Recorder<'_>| r.run(b.count(1)))?
                    .otherwise(|_: &mut Recorder<'_>| no())?;
                Ok(nonzero(b.words.at(0)))
            })
            .map(drop),
        ];
        failures += failed.iter().filter(|failed| failed.is_err()).count();
        r.repeat_times(baked(3), |r: &mut Recorder<'_>| r.run(b.count(2))).map(drop)
    })?;
    same("failures", failures, 3)?;
    graph.launch(&stream)?;
    same("words", stream.read(&b.words[..3])?, [1, 0, 3])
}

/// An eager run that fails in a body runs nothing at all.
fn failing_eagerly_runs_nothing(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let stream = b.stream.clone();
    let ran: Result<()> = stream.run(|r: &mut Recorder<'_>| {
        r.run(b.count(0))?;
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            r.run(b.count(1))?;
            Err(Error::msg("no"))
        })
        .map(drop)
    });
    refused("an eager run", ran, |kind| matches!(kind, ErrorKind::Msg(_)))?;
    same("words", stream.read(&b.words[..2])?, [0, 0])
}

/// A panic in a body ends the recording; the device works on.
fn panic_in_a_body(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let stream = b.stream.clone();
    for eagerly in [false, true] {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let op = |r: &mut Recorder<'_>| {
                r.run(b.count(0))?;
                r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
                    r.run(b.count(1))?;
                    // Not `panic!`: a hook prints those.
                    std::panic::resume_unwind(Box::new("meant"))
                })
                .map(drop)
            };
            if eagerly { stream.run(op) } else { device.record(op).map(drop) }
        }));
        holds("it panicked", ended.is_err())?;
    }
    stream.run(|r: &mut Recorder<'_>| r.repeat_times(baked(2), |r: &mut Recorder<'_>| r.run(b.count(2))).map(drop))?;
    same("words", stream.read(&b.words[..3])?, [0, 0, 2])
}

/// What acts now is refused inside a body, and the recording goes on.
fn eager_calls_in_a_body(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let (stream, mut refusals) = (b.stream.clone(), 0);
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            let eager = |kind: &ErrorKind| matches!(kind, ErrorKind::EagerInRecording { .. });
            refusals += usize::from(stream.read(&b.words).is_err_and(|error| eager(error.kind())));
            refusals += usize::from(stream.synchronize().is_err_and(|error| eager(error.kind())));
            refusals += usize::from(device.record(b.count(1)).is_err_and(|error| eager(error.kind())));
            r.run(b.count(0))
        })
        .map(drop)
    })?;
    holds(&format!("{refusals} refusals"), refusals >= 2)?;
    graph.launch(&stream)?;
    same("words", stream.read(&b.words[..1])?, [2])
}

/// The second side fails: the first stays, as it was before that call.
fn otherwise_fails(device: &Device) -> Outcome {
    let mut b = Bench::new(device)?;
    let stream = b.stream.clone();
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let when = r.when(nonzero(b.words.at(7)), |r: &mut Recorder<'_>| r.run(b.count(0)))?;
        let failed = when.otherwise(|r: &mut Recorder<'_>| {
            r.run(b.count(1))?;
            Err(Error::msg("no"))
        });
        assert!(failed.is_err());
        r.run(b.count(2))
    })?;
    for flag in [0, 1] {
        b.write(&[0.0; 8], &[0, 0, 0, 0, 0, 0, 0, flag])?;
        graph.launch(&stream)?;
        same("words", stream.read(&b.words[..3])?, [flag, 0, 1])?;
    }
    Ok(())
}
