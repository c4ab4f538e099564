//! Loops: how often they run, and what they say about it.

use dacapo::flow::{above, at_least, at_most, below, differs, equal, nonzero, unbounded, up_to};
use dacapo::{Device, Slot, baked, copy};

use super::agree;
use crate::forms::check::Outcome;
use crate::forms::forms;

forms!("flow":
    repeat_until, repeat_while_asks_first, repeat_times_of_a_slot, repeat_times_of_a_number,
    times_change_in_a_round, bound_ends_it, bound_from_a_slot, bound_on_the_device, bound_of_nothing,
    leave_first_and_last, leave_twice, leave_at_both_ends, leave_and_bound, round_as_argument, empty_rounds,
    loops_in_a_row,
);

/// `do { } while`: at least one round, and as many as the condition says.
fn repeat_until(device: &Device) -> Outcome {
    agree(
        device,
        &[10.0f32, 4.0, 0.0, 4.5],
        |x, cells, _| cells[0] = x,
        |b, r| {
            let rounds = r.repeat(up_to(baked(100)), |r| {
                r.run(b.add(0, -1.0))?;
                r.run(b.count(0))?;
                Ok(above(b.cells.at(0), baked(4.0)))
            })?;
            r.run(b.note(1, rounds.count()))?;
            r.run(b.note(2, rounds.hit_bound()))
        },
        |_, cells, words| {
            loop {
                cells[0] -= 1.0;
                words[0] += 1;
                if cells[0] <= 4.0 {
                    break;
                }
            }
            words[1] = words[0];
        },
    )
}

/// `while`: perhaps no round.
fn repeat_while_asks_first(device: &Device) -> Outcome {
    let limit = Slot::new(0.0f32);
    agree(
        device,
        &[(10.0f32, 4.0f32), (4.0, 4.0), (4.5, 4.0), (-1.0, -3.0)],
        |(x, enough), cells, _| {
            cells[0] = x;
            limit.set(enough);
        },
        |b, r| {
            let more = above(b.cells.at(0), &limit);
            let rounds = r.repeat_while(more, unbounded(), |r| r.run(b.add(0, -1.0)))?;
            r.run(b.note(1, rounds.count()))?;
            r.run(b.note(2, rounds.hit_bound()))
        },
        |(_, enough), cells, words| {
            while cells[0] > enough {
                cells[0] -= 1.0;
                words[1] += 1;
            }
        },
    )
}

/// `for`, as often as a slot says at each launch: also never.
fn repeat_times_of_a_slot(device: &Device) -> Outcome {
    let times = Slot::new(99u32);
    agree(
        device,
        &[5u32, 0, 1, 0, 7],
        |n, _, _| times.set(n),
        |b, r| {
            let rounds = r.repeat_times(&times, |r| r.run(b.count(0)))?;
            r.run(b.note(1, rounds.count()))?;
            r.repeat_times(baked(0), |r| r.run(b.count(2)))?;
            r.repeat_times(baked(3), |r| r.run(b.count(3))).map(drop)
        },
        |n, _, words| words[..4].copy_from_slice(&[n, n, 0, 3]),
    )
}

/// `for`, as often as a number on the device says, which an op before wrote.
fn repeat_times_of_a_number(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 6],
        |n, _, words| words[7] = n,
        |b, r| {
            let mut times = r.alloc_scalar::<u32>()?;
            r.run(copy(&b.words[7..8], times.as_mut_slice()))?;
            r.repeat_times(&times, |r| r.run(b.count(0)))?;
            let times = b.words.share();
            r.repeat_times(times.at(7), |r| r.run(b.count(1))).map(drop)
        },
        |n, _, words| words[..2].copy_from_slice(&[n, n]),
    )
}

/// The number is looked at when a round ends: a body may ask for more rounds, or fewer.
fn times_change_in_a_round(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 1, 2, 9],
        |n, _, words| words[7] = n,
        |b, r| {
            let times = b.words.share();
            r.repeat_times(times.at(7), |r| {
                r.run(b.count(0))?;
                r.run(b.put(7, 5))
            })
            .map(drop)
        },
        |n, _, words| {
            if n > 0 {
                words[0] = 5;
                words[7] = 5;
            }
        },
    )
}

/// A bound ends a loop whose condition still holds, and says so; one that is reached when the condition fails does not.
fn bound_ends_it(device: &Device) -> Outcome {
    agree(
        device,
        &[1.0f32, 2.0, 3.0, 4.0, 50.0],
        |x, cells, _| cells[0] = x,
        |b, r| {
            let rounds = r.repeat(up_to(baked(3)), |r| {
                r.run(b.add(0, -1.0))?;
                Ok(above(b.cells.at(0), baked(0.0)))
            })?;
            r.run(b.note(0, rounds.count()))?;
            r.run(b.note(1, rounds.hit_bound()))?;
            let more = above(b.cells.at(0), baked(0.0));
            let rounds = r.repeat_while(more, up_to(baked(2)), |r| r.run(b.add(0, -1.0)))?;
            r.run(b.note(2, rounds.count()))?;
            r.run(b.note(3, rounds.hit_bound()))
        },
        |_, cells, words| {
            loop {
                cells[0] -= 1.0;
                words[0] += 1;
                if cells[0] <= 0.0 || words[0] == 3 {
                    break;
                }
            }
            words[1] = u32::from(cells[0] > 0.0);
            while cells[0] > 0.0 && words[2] < 2 {
                cells[0] -= 1.0;
                words[2] += 1;
            }
            words[3] = u32::from(cells[0] > 0.0);
        },
    )
}

/// A bound that changes between launches.
fn bound_from_a_slot(device: &Device) -> Outcome {
    let most = Slot::new(1u32);
    agree(
        device,
        &[4u32, 1, 9, 2, u32::MAX],
        |n, _, _| most.set(n),
        |b, r| {
            let rounds = r.repeat(up_to(&most), |r| {
                r.run(b.count(0))?;
                Ok(below(b.words.at(0), baked(7)))
            })?;
            r.run(b.note(1, rounds.hit_bound()))?;
            let more = below(b.words.at(2), baked(5));
            let rounds = r.repeat_while(more, up_to(&most), |r| r.run(b.count(2)))?;
            r.run(b.note(3, rounds.hit_bound()))
        },
        |n, _, words| {
            words[0] = n.min(7);
            words[1] = u32::from(n < 7);
            words[2] = n.min(5);
            words[3] = u32::from(n < 5);
        },
    )
}

/// A bound in device memory, which a body lowers.
fn bound_on_the_device(device: &Device) -> Outcome {
    agree(
        device,
        &[1u32, 3, 100],
        |n, _, words| words[7] = n,
        |b, r| {
            let most = b.words.share();
            let rounds = r.repeat(up_to(most.at(7)), |r| {
                r.run(b.count(0))?;
                r.when(equal(b.words.at(0), baked(10)), |r| r.run(b.put(7, 4)))?;
                Ok(nonzero(b.words.at(0)))
            })?;
            r.run(b.note(1, rounds.count()))?;
            r.run(b.note(2, rounds.hit_bound()))
        },
        |n, _, words| {
            words[0] = n.min(10);
            words[1] = n.min(10);
            words[2] = 1;
            words[7] = if n >= 10 { 4 } else { n };
        },
    )
}

/// A bound of 0: one round of `repeat`, none of the others.
fn bound_of_nothing(device: &Device) -> Outcome {
    let most = Slot::new(7u32);
    agree(
        device,
        &[0u32, 1],
        |n, _, _| most.set(n),
        |b, r| {
            let go_on = || equal(baked(1u8), baked(1));
            let rounds = r.repeat(up_to(&most), |r| {
                r.run(b.count(0))?;
                Ok(go_on())
            })?;
            r.run(b.note(1, rounds.count()))?;
            let rounds = r.repeat_while(go_on(), up_to(&most), |r| r.run(b.count(2)))?;
            r.run(b.note(3, rounds.count()))?;
            r.run(b.note(4, rounds.hit_bound()))
        },
        |n, _, words| words[..5].copy_from_slice(&[1, 1, n, n, 1]),
    )
}

/// Left in the first round, in one between, in the last, and never.
fn leave_first_and_last(device: &Device) -> Outcome {
    agree(
        device,
        &[1u32, 2, 5, 6, 99],
        |n, _, words| words[7] = n,
        |b, r| {
            let rounds = r.repeat_times(baked(5), |r| {
                r.run(b.count(0))?;
                r.leave_if(equal(b.words.at(0), b.words.at(7)))?;
                r.run(b.count(1))
            })?;
            r.run(b.note(2, rounds.count()))?;
            r.run(b.note(3, rounds.hit_bound()))?;
            r.run(b.count(4))
        },
        |n, _, words| {
            for _ in 0..5 {
                words[0] += 1;
                if words[0] == n {
                    break;
                }
                words[1] += 1;
            }
            words[2] = words[0];
            words[3] = u32::from(n > 5);
            words[4] = 1;
        },
    )
}

/// Two ways out of one round: either may be the one.
fn leave_twice(device: &Device) -> Outcome {
    agree(
        device,
        &[(3u32, 9u32), (9, 3), (3, 3), (9, 9), (1, 1), (9, 0)],
        |(first, second), _, words| words[6..].copy_from_slice(&[first, second]),
        |b, r| {
            let rounds = r.repeat(unbounded(), |r| {
                r.run(b.count(0))?;
                r.leave_if(equal(b.words.at(0), b.words.at(6)))?;
                r.run(b.count(1))?;
                r.leave_if(equal(b.words.at(1), b.words.at(7)))?;
                r.run(b.count(2))?;
                Ok(below(b.words.at(2), baked(6)))
            })?;
            r.run(b.note(3, rounds.count()))
        },
        |(first, second), _, words| {
            loop {
                words[3] += 1;
                words[0] += 1;
                if words[0] == first {
                    break;
                }
                words[1] += 1;
                if words[1] == second {
                    break;
                }
                words[2] += 1;
                if words[2] >= 6 {
                    break;
                }
            }
        },
    )
}

/// A way out before anything of a round, and one behind all of it.
fn leave_at_both_ends(device: &Device) -> Outcome {
    agree(
        device,
        &[(0u32, 9u32), (2, 9), (9, 1), (9, 3), (9, 9)],
        |(first, last), _, words| words[6..].copy_from_slice(&[first, last]),
        |b, r| {
            let rounds = r.repeat_times(baked(4), |r| {
                r.leave_if(at_least(b.words.at(0), b.words.at(6)))?;
                r.run(b.count(0))?;
                r.leave_if(at_least(b.words.at(0), b.words.at(7)))
            })?;
            r.run(b.note(1, rounds.count()))
        },
        |(first, last), _, words| {
            for _ in 0..4 {
                words[1] += 1;
                if words[0] >= first {
                    break;
                }
                words[0] += 1;
                if words[0] >= last {
                    break;
                }
            }
        },
    )
}

/// Who leaves in the last round that the bound allows was not ended by the bound.
fn leave_and_bound(device: &Device) -> Outcome {
    agree(
        device,
        &[2u32, 3, 4],
        |n, _, words| words[7] = n,
        |b, r| {
            let more = differs(b.words.at(0), baked(77));
            let rounds = r.repeat_while(more, up_to(baked(3)), |r| {
                r.run(b.count(0))?;
                r.leave_if(equal(b.words.at(0), b.words.at(7)))?;
                r.run(b.count(1))
            })?;
            r.run(b.note(2, rounds.count()))?;
            r.run(b.note(3, rounds.hit_bound()))
        },
        |n, _, words| {
            let rounds = n.min(3);
            words[..4].copy_from_slice(&[rounds, if n <= 3 { n - 1 } else { 3 }, rounds, u32::from(n > 3)]);
        },
    )
}

/// The number of the round, as an argument of a kernel and of a copy, and in conditions.
fn round_as_argument(device: &Device) -> Outcome {
    let times = Slot::new(0u32);
    agree(
        device,
        &[4u32, 0, 1, 8],
        |n, _, _| times.set(n),
        |b, r| {
            let (odd, count) = (Slot::new(0u32), &times);
            r.repeat_times(count, |r| {
                let round = r.round()?;
                // The last one.
                r.run(b.k.window(&odd, round.as_slice(), &mut b.words[0..1]))?;
                r.when(at_most(&*round, baked(2)), |r| r.run(b.note(1, &round)))?;
                // As many as the number of the round: 0 + 1 + 2 + ..
                r.repeat_times(&*round, |r| r.run(b.count(2)))?;
                r.switch(&*round, 3, |r, case| r.run(b.put(3 + case as usize, 10 + case)))
            })
            .map(drop)
        },
        |n, _, words| {
            for round in 0..n {
                words[0] = round;
                if round <= 2 {
                    words[1] = round;
                    words[3 + round as usize] = 10 + round;
                }
                words[2] += round;
            }
        },
    )
}

/// Rounds that do nothing are counted all the same.
fn empty_rounds(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 3],
        |n, _, words| words[7] = n,
        |b, r| {
            let times = b.words.share();
            let rounds = r.repeat_times(times.at(7), |_| Ok(()))?;
            r.run(b.note(0, rounds.count()))?;
            let rounds = r.repeat(up_to(baked(2)), |_| Ok(equal(baked(0.5f64), baked(0.5))))?;
            r.run(b.note(1, rounds.count()))?;
            let rounds = r.repeat_while(nonzero(times.at(7)), up_to(baked(9)), |_| Ok(()))?;
            r.run(b.note(2, rounds.count()))
        },
        |n, _, words| words[..3].copy_from_slice(&[n, 2, if n == 0 { 0 } else { 9 }]),
    )
}

/// Six loops in one recording, each behind the one before, by what they count in.
fn loops_in_a_row(device: &Device) -> Outcome {
    agree(
        device,
        &[1u32, 2],
        |n, _, words| words[0] = n,
        |b, r| {
            for at in 1..7 {
                let times = b.words.share();
                r.repeat_times(times.at(at - 1), |r| {
                    r.run(b.count(at))?;
                    r.run(b.count(7))
                })?;
                r.run(b.count(at))?;
            }
            Ok(())
        },
        |_, _, words| {
            for at in 1..7 {
                words[at] = words[at - 1] + 1;
                words[7] += words[at - 1];
            }
        },
    )
}
