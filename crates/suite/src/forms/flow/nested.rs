//! Constructs inside each other: every pair, deep ones, and who a round and a way out belong to.

use dacapo::flow::{above, at_least, below, equal, nonzero, unbounded, up_to, zero};
use dacapo::{Device, Recorder, Result, baked, copy};

use super::{Bench, agree};
use crate::forms::check::Outcome;
use crate::forms::forms;

forms!("flow":
    each_in_each, eight_deep, twelve_loops_deep, inner_way_out, outer_way_out, round_of_the_innermost, triangle,
    loop_of_switches, a_way_out_around_a_loop, sorted_on_the_device,
);

/// How many constructs there are.
const KINDS: usize = 6;

/// One of the constructs around a body: as often as [`times`] says, which of them may depend on `words[6]`.
fn around<'r>(
    b: &mut Bench,
    r: &mut Recorder<'r>,
    kind: usize,
    body: &mut dyn FnMut(&mut Bench, &mut Recorder<'_>) -> Result<()>,
) -> Result<()> {
    match kind {
        0 => r.when(nonzero(b.words.at(6)), |r: &mut Recorder<'_>| body(b, r)).map(drop),
        1 => {
            r.when(nonzero(b.words.at(6)), |_: &mut Recorder<'_>| Ok(()))?.otherwise(|r: &mut Recorder<'_>| body(b, r))
        }
        2 => {
            let index = b.words.share();
            r.switch(index.at(6), 3, |r, case| if case == 2 { body(b, r) } else { Ok(()) })
        }
        3 => {
            let times = b.words.share();
            r.repeat_times(times.at(6), |r: &mut Recorder<'_>| body(b, r)).map(drop)
        }
        4 => r
            .repeat(up_to(baked(3)), |r: &mut Recorder<'_>| {
                body(b, r)?;
                Ok(nonzero(b.words.at(6)))
            })
            .map(drop),
        _ => r
            .repeat_while(zero(b.words.at(7)), unbounded(), |r: &mut Recorder<'_>| {
                body(b, r)?;
                let round = r.round()?;
                r.leave_if(at_least(&*round, b.words.at(6)))?;
                r.run(b.count(5))
            })
            .map(drop),
    }
}

/// How often it runs its body, and how often `words[5]` is counted for it.
fn times(kind: usize, n: u32) -> (u32, u32) {
    match kind {
        0 => (u32::from(n != 0), 0),
        1 => (u32::from(n == 0), 0),
        2 => (u32::from(n == 2), 0),
        3 => (n, 0),
        4 => (if n == 0 { 1 } else { 3 }, 0),
        _ => (n + 1, n),
    }
}

/// Every construct inside every other: 36 pairs.
fn each_in_each(device: &Device) -> Outcome {
    for (outer, inner) in (0..KINDS * KINDS).map(|pair| (pair / KINDS, pair % KINDS)) {
        agree(
            device,
            &[2u32, 0, 1],
            |n, _, words| words[6] = n,
            |b, r| {
                around(b, r, outer, &mut |b, r| {
                    r.run(b.count(0))?;
                    around(b, r, inner, &mut |b, r| r.run(b.count(1)))?;
                    r.run(b.count(2))
                })?;
                r.run(b.count(3))
            },
            |n, _, words| {
                let ((outside, own), (inside, its)) = (times(outer, n), times(inner, n));
                words[..4].copy_from_slice(&[outside, outside * inside, outside, 1]);
                words[5] = own + outside * its;
            },
        )?;
    }
    Ok(())
}

/// Eight constructs deep, all of them, in two orders.
fn eight_deep(device: &Device) -> Outcome {
    fn down(b: &mut Bench, r: &mut Recorder<'_>, kinds: &[usize]) -> Result<()> {
        match kinds {
            [] => r.run(b.count(0)),
            [kind, rest @ ..] => around(b, r, *kind, &mut |b, r| down(b, r, rest)),
        }
    }
    for kinds in [[5, 3, 0, 2, 4, 3, 0, 5], [0, 2, 5, 4, 0, 3, 2, 4]] {
        agree(
            device,
            &[2u32, 1],
            |n, _, words| words[6] = n,
            |b, r| down(b, r, &kinds),
            |n, _, words| {
                let mut runs = 1;
                for kind in kinds {
                    let (inside, own) = times(kind, n);
                    words[5] += runs * own;
                    runs *= inside;
                }
                words[0] = runs;
            },
        )?;
    }
    Ok(())
}

/// Twelve loops, each of two rounds or of one.
fn twelve_loops_deep(device: &Device) -> Outcome {
    fn down(b: &mut Bench, r: &mut Recorder<'_>, depth: usize) -> Result<()> {
        let times = b.words.share();
        match depth {
            0 => r.run(b.count(0)),
            // The number of rounds of each fourth loop is in a word.
            _ if depth.is_multiple_of(4) => {
                r.repeat_times(times.at(7), |r: &mut Recorder<'_>| down(b, r, depth - 1)).map(drop)
            }
            _ => r.repeat_times(baked(1), |r: &mut Recorder<'_>| down(b, r, depth - 1)).map(drop),
        }
    }
    agree(device, &[2u32, 3, 0], |n, _, words| words[7] = n, |b, r| down(b, r, 12), |n, _, words| words[0] = n.pow(3))
}

/// A way out of an inner loop leaves that one alone.
fn inner_way_out(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 2, 5],
        |n, _, words| words[7] = n,
        |b, r| {
            r.repeat_times(baked(3), |r| {
                r.repeat_times(baked(4), |r| {
                    let round = r.round()?;
                    r.leave_if(equal(&*round, b.words.at(7)))?;
                    r.run(b.count(0))
                })?;
                r.run(b.count(1))
            })
            .map(drop)
        },
        |n, _, words| words[..2].copy_from_slice(&[3 * n.min(4), 3]),
    )
}

/// A way out of the outer loop, by what an inner one counted; inner loops behind it are not run.
fn outer_way_out(device: &Device) -> Outcome {
    agree(
        device,
        &[1u32, 4, 6, 100],
        |n, _, words| words[7] = n,
        |b, r| {
            let rounds = r.repeat_times(baked(5), |r| {
                r.repeat_times(baked(2), |r| r.run(b.count(0)))?;
                r.leave_if(at_least(b.words.at(0), b.words.at(7)))?;
                r.repeat_times(baked(3), |r| r.run(b.count(1)))?;
                r.when(nonzero(b.words.at(1)), |r| r.run(b.count(2))).map(drop)
            })?;
            r.run(b.note(3, rounds.count()))
        },
        |n, _, words| {
            for _ in 0..5 {
                words[3] += 1;
                words[0] += 2;
                if words[0] >= n {
                    break;
                }
                words[1] += 3;
                words[2] += 1;
            }
        },
    )
}

/// The round is that of the innermost loop, also inside a branch of it; the outer one is still there.
fn round_of_the_innermost(device: &Device) -> Outcome {
    agree(
        device,
        &[1u32, 3],
        |n, _, words| words[7] = n,
        |b, r| {
            let times = b.words.share();
            r.repeat_times(times.at(7), |r| {
                let outer = r.round()?;
                r.repeat_times(baked(3), |r| {
                    let inner = r.round()?;
                    r.when(equal(&*inner, &*outer), |r| {
                        let inner = r.round()?;
                        r.run(b.note(0, &inner))?;
                        r.run(b.count(1))
                    })
                    .map(drop)
                })?;
                let round = r.round()?;
                r.run(b.note(2, &round))
            })
            .map(drop)
        },
        |n, _, words| words[..3].copy_from_slice(&[n - 1, n, n - 1]),
    )
}

/// A triangle of rounds: each inner loop as long as the outer one's number, and what is left of it in the next.
fn triangle(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 5],
        |n, _, words| words[7] = n,
        |b, r| {
            let times = b.words.share();
            r.repeat_times(times.at(7), |r| {
                let mut left = r.alloc::<u32>(1)?;
                let i = r.round()?;
                r.run(copy(i.as_slice(), &mut left))?;
                r.repeat_times(left.at(0), |r| {
                    let j = r.round()?;
                    r.repeat_times(&*j, |r| r.run(b.count(0)))?;
                    r.run(b.count(1))
                })
                .map(drop)
            })
            .map(drop)
        },
        |n, _, words| {
            for i in 0..n {
                for j in 0..i {
                    words[0] += j;
                    words[1] += 1;
                }
            }
        },
    )
}

/// A small machine: each round does what the word of its state says, and says what is next.
fn loop_of_switches(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 2, 3],
        |state, _, words| words[7] = state,
        |b, r| {
            let state = b.words.share();
            let rounds = r.repeat_while(below(state.at(7), baked(3)), up_to(baked(30)), |r| {
                r.switch(state.at(7), 3, |r, case| {
                    r.run(b.count(case as usize))?;
                    match case {
                        0 => r.run(b.put(7, 2)),
                        1 => r.run(b.put(7, 0)),
                        _ => r
                            .when(below(b.words.at(2), baked(4)), |r| r.run(b.put(7, 1)))?
                            .otherwise(|r| r.run(b.put(7, 3))),
                    }
                })
            })?;
            r.run(b.note(3, rounds.count()))
        },
        |_, _, words| {
            while words[7] < 3 {
                words[3] += 1;
                let state = words[7];
                words[state as usize] += 1;
                words[7] = match state {
                    0 => 2,
                    1 => 0,
                    _ if words[2] < 4 => 1,
                    _ => 3,
                };
            }
        },
    )
}

/// A loop in the rest of a round, with a way out of its own, and another way out of the outer one behind it.
fn a_way_out_around_a_loop(device: &Device) -> Outcome {
    agree(
        device,
        &[(1u32, 2u32), (3, 2), (9, 1), (9, 9)],
        |(outer, inner), _, words| words[6..].copy_from_slice(&[outer, inner]),
        |b, r| {
            r.repeat_times(baked(3), |r| {
                r.run(b.count(0))?;
                r.leave_if(equal(b.words.at(0), b.words.at(6)))?;
                r.repeat_times(baked(4), |r| {
                    let round = r.round()?;
                    r.leave_if(at_least(&*round, b.words.at(7)))?;
                    r.run(b.count(1))
                })?;
                r.leave_if(above(b.words.at(1), baked(7)))?;
                r.run(b.count(2))
            })
            .map(drop)
        },
        |(outer, inner), _, words| {
            for _ in 0..3 {
                words[0] += 1;
                if words[0] == outer {
                    break;
                }
                words[1] += inner.min(4);
                if words[1] > 7 {
                    break;
                }
                words[2] += 1;
            }
        },
    )
}

/// Bubble sort, as long as something moved: a program with a loop, branches in it, and a flag.
fn sorted_on_the_device(device: &Device) -> Outcome {
    agree(
        device,
        &[[3.0f32, 1.0, 2.0, 0.0], [0.0, 1.0, 2.0, 3.0], [5.0, 5.0, -1.0, 4.0]],
        |numbers, cells, _| cells[..4].copy_from_slice(&numbers),
        |b, r| {
            let rounds = r.repeat(up_to(baked(10)), |r| {
                let mut moved = r.alloc_scalar::<u32>()?;
                r.run(dacapo::fill(moved.as_mut_slice(), baked(0)))?;
                for at in 0..3 {
                    r.when(above(b.cells.at(at), b.cells.at(at + 1)), |r| {
                        let mut t = r.alloc::<f32>(2)?;
                        r.run(copy(&b.cells[at..at + 2], &mut t))?;
                        r.run(copy(&t[..1], &mut b.cells[at + 1..at + 2]))?;
                        r.run(copy(&t[1..], &mut b.cells[at..at + 1]))?;
                        r.run(dacapo::fill(moved.as_mut_slice(), baked(1)))
                    })?;
                }
                Ok(nonzero(&moved))
            })?;
            r.run(b.note(0, rounds.count()))
        },
        |_, cells, words| {
            loop {
                words[0] += 1;
                let mut moved = false;
                for at in 0..3 {
                    if cells[at] > cells[at + 1] {
                        cells.swap(at, at + 1);
                        moved = true;
                    }
                }
                if !moved {
                    break;
                }
            }
        },
    )
}
