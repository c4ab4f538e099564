//! A stranger's programs in safe code against control flow on the device, with every detector on.
#![allow(
    clippy::eq_op,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::nonminimal_bool,
    reason = "comparisons are written as the conditions that they are held against"
)]
#![cfg(feature = "software")]

#[path = "promises/kit.rs"]
#[allow(dead_code, reason = "shared with the promises, which use more of it")]
mod kit;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use dacapo::flow::{above, at_least, at_most, below, differs, equal, nonzero, unbounded, up_to, zero};
use dacapo::inspect::How;
use dacapo::raw::{RawArg, RawKernel, RawStream, foreign};
use dacapo::{Buffer, Error, ErrorKind, Recorder, Result, Slot, baked, copy, fill, grid};
use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::Machine;
use kit::{Bench, software};

/// All detectors; the newest driver, and one of CUDA 12.4.
fn benches() -> Vec<Bench> {
    let old = software(3).options(|options| options.driver_version = 12_040).open().unwrap();
    vec![Bench::seeded(3), Bench::new(old)]
}

fn bench() -> Bench {
    Bench::seeded(1)
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped")
    }
}

// What was broken once: docs/holes.md, W1 to W9, and reports.

/// what others do in the arena comes between two rounds, and lies on the temps and on the state of the loop.
#[test]
fn two_eager_loops_in_one_arena() {
    let b = bench();
    let arena = b.device.arena(4096).unwrap();
    let run = |value: u32| {
        let (b, arena) = (&b, &arena);
        move || {
            let stream = b.device.stream().unwrap();
            for _ in 0..20 {
                let mut y = b.device.zeros::<u32>(65).unwrap();
                let (data, rounds) = y.split_at_mut(64);
                let op = |r: &mut Recorder<'_>| {
                    let mut t = r.alloc::<u32>(64)?;
                    r.run(fill(&mut t, baked(value)))?;
                    let done = r.repeat_times(baked(value), |r| r.run(copy(&t, data)))?;
                    r.run(copy(done.count().as_slice(), rounds))
                };
                stream.run_in(arena, op).unwrap();
                assert_eq!(stream.read(&y).unwrap(), [value; 65]);
            }
        }
    };
    let whole =
        std::thread::scope(|scope| [5, 17].map(|value| scope.spawn(run(value))).map(|thread| thread.join().is_ok()));
    assert_eq!(whole, [true, true]);
}

/// every write of one side is paired with every write of the other; two levels further in, with all of those.
#[test]
fn ifs_in_ifs_five_deep() {
    fn leaves(r: &mut Recorder<'_>, flag: &Buffer<u32>, t: &mut dacapo::Slice<u32>, depth: usize) -> Result<()> {
        if depth == 0 {
            r.run(fill(t, baked(1)))?;
            return r.run(fill(t, baked(2)));
        }
        r.when(nonzero(flag.at(0)), |r| leaves(r, flag, t, depth - 1))?.otherwise(|r| leaves(r, flag, t, depth - 1))
    }
    let b = bench();
    let flag = b.device.zeros::<u32>(1).unwrap();
    let op = |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u32>(1)?;
        leaves(r, &flag, &mut t, 5)
    };
    b.device.graph().inspect(op).unwrap();
}

/// One loop with so many ways out of its round.
fn ways_out(r: &mut Recorder<'_>, flag: &Buffer<u32>, ways: usize) -> Result<()> {
    let body = |r: &mut Recorder<'_>| (0..ways).try_for_each(|_| r.leave_if(nonzero(flag.at(0))));
    r.repeat_times(baked(1), body).map(drop)
}

/// each way out is one body deeper, and walks over bodies are recursions.
#[test]
fn many_ways_out_of_a_round() {
    let b = bench();
    let flag = b.device.zeros::<u32>(1).unwrap();
    for ways in [60, 1_500, 20_000] {
        let op = |r: &mut Recorder<'_>| ways_out(r, &flag, ways);
        let errors = [
            b.device.graph().inspect(op).unwrap_err(),
            b.device.record(op).unwrap_err(),
            b.stream.run(op).unwrap_err(),
        ];
        assert!(errors.iter().all(|error| matches!(error.kind(), ErrorKind::Unsupported { .. })), "{errors:?}");
    }
    b.device.record(|r: &mut Recorder<'_>| ways_out(r, &flag, 59)).unwrap().launch(&b.stream).unwrap();
    b.stream.run(|r: &mut Recorder<'_>| ways_out(r, &flag, 59)).unwrap();
}

/// the same on the way to the driver: a refusal that says neither what nor what to do.
#[test]
fn more_ways_out_than_the_driver_nests_are_refused_with_help() {
    let b = bench();
    let flag = b.device.zeros::<u32>(1).unwrap();
    let error = b.device.record(|r: &mut Recorder<'_>| ways_out(r, &flag, 64)).unwrap_err();
    assert!(format!("{error:#}").contains("it needs conditions that are combined"), "{error:#}");
}

/// what both sides wrote does not count as written in the copy of a graph.
#[test]
fn a_graph_that_writes_a_temp_on_both_sides_is_part_of_another() {
    for b in benches() {
        let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(1).unwrap());
        let op = |r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(1)?;
            r.when(nonzero(&flag), |r| r.run(fill(&mut t, baked(7))))?.otherwise(|r| r.run(fill(&mut t, baked(9))))?;
            r.run(copy(&t, &mut y))
        };
        let inner = b.device.record(op).unwrap();
        let mut outer = b.device.record(inner.as_op()).unwrap();
        outer.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [7]);
    }
}

/// Baked numbers of conditions and bounds are values like others: `verify` finds those that changed.
#[test]
fn verify_finds_what_conditions_froze() {
    let b = bench();
    let x = b.device.scalar(1.0f32).unwrap();
    let mut step = 0;
    let body = |r: &mut Recorder<'_>| {
        step += 1;
        r.repeat_times(baked(step), |_| Ok(()))?;
        r.repeat(up_to(baked(step)), |_| Ok(nonzero(&x)))?;
        r.when(above(&x, baked(step as f32)), |_| Ok(()))?;
        r.when(above(&x, baked(step as f32)) & below(&x, baked(100.0)), |_| Ok(()))?;
        r.switch(baked(step), 2, |_, _| Ok(()))
    };
    let found = b.device.graph().verify(body).unwrap();
    let named = |name: &str, argument: &str| {
        found.iter().any(|one| (one.name.as_str(), one.argument.as_str()) == (name, argument))
    };
    assert!(named("repeat_times", "limit") && named("repeat", "limit"), "{found:?}");
    assert!(named("when", "right") && named("when", "right0"), "{found:?}");
    assert!(named("switch", "index") && !named("when", "right1"), "{found:?}");
    let limit = found.iter().find(|one| one.argument == "limit").unwrap();
    assert_eq!((limit.first.as_str(), limit.second.as_str()), ("1", "2"));
}

/// A report says what a decision compares: memory, slots and constants, by the names that its condition has.
#[test]
fn a_report_says_what_is_compared() {
    let b = bench();
    let x = b.device.scalar(1.0f32).unwrap().named("residual");
    let (most, enough) = (Slot::new(7u32), Slot::new(0.5f32));
    let mut op = |r: &mut Recorder<'_>| {
        r.repeat(up_to(&most), |r| {
            r.leave_if(!(at_most(&x, &enough) | equal(&x, baked(3.0))))?;
            Ok(above(&x, baked(2.0)))
        })?;
        r.switch(baked(4), 2, |_, _| Ok(()))
    };
    let report = b.device.graph().inspect(&mut op).unwrap().to_string();
    let lines = [
        "limit = 7 (slot)",
        "condition = left > right (derived)",
        "left = reads residual [0..4]",
        "right = 2.0 (baked)",
        "condition = !((left0 <= right0 | left0 == right1)) (derived)",
        "left0 = reads residual [0..4]",
        "right0 = 0.5 (slot)",
        "right1 = 3.0 (baked)",
        "index = 4 (baked)",
    ];
    for line in lines {
        assert!(report.lines().any(|other| other.trim() == line), "{line}:\n{report}");
    }
}

/// the rounds of an eager loop are nobody's: `rounds_max` of the software device ends a replay only.
#[test]
fn a_loop_without_end_is_found_in_an_eager_run_too() {
    let b = Bench::new(software(1).options(|options| options.rounds_max = 50).open().unwrap());
    let flag = b.device.scalar(1u32).unwrap();
    let op = |r: &mut Recorder<'_>| r.repeat(unbounded(), |_| Ok(nonzero(&flag))).map(drop);
    b.stream.run(op).unwrap_err();
}

/// `conditions` of what was taken back stay counted.
#[test]
fn an_error_that_is_swallowed_leaves_a_warm_up_possible() {
    let b = bench();
    let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(1).unwrap());
    let graph = b.device.graph().warmup(1).record(|r: &mut Recorder<'_>| {
        assert!(r.when(nonzero(&flag), |_| Err(Error::msg("no"))).is_err());
        r.run(fill(&mut y, baked(1)))
    });
    assert_eq!(graph.unwrap().len(), 1);
}

/// An op and the loop that it is in do not count as two at a time.
#[test]
fn a_profile_of_a_line_has_one_lane() {
    let b = bench();
    let mut y = b.device.zeros::<u32>(1).unwrap();
    let op = |r: &mut Recorder<'_>| {
        r.repeat_times(baked(3), |r| {
            let round = r.round()?;
            r.run(copy(round.as_slice(), &mut y))
        })
        .map(drop)
    };
    let mut graph = b.device.record(op).unwrap();
    assert_eq!(graph.profile(&b.stream).unwrap().lanes(), 1);
}

/// Bodies are drawn however deep they are.
#[test]
fn a_drawing_has_every_node_that_it_has_edges_of() {
    let b = bench();
    let flag = b.device.zeros::<u32>(1).unwrap();
    let report = b.device.graph().inspect(|r: &mut Recorder<'_>| ways_out(r, &flag, 40)).unwrap();
    let dot = report.to_dot();
    let missing = |node: &usize| !dot.contains(&format!("n{node} [label")) && dot.contains(&format!("-> n{node};"));
    assert_eq!((0..report.nodes.len()).filter(missing).collect::<Vec<_>>(), [0; 0]);
}

/// A replay of a loop reads as much in each round, and the report does not know how many there are.
#[test]
fn a_report_does_not_say_what_one_replay_of_a_loop_reads() {
    let b = bench();
    let (x, mut y) = (b.device.zeros::<u32>(1000).unwrap(), b.device.zeros::<u32>(1000).unwrap());
    let op = |r: &mut Recorder<'_>| r.repeat_times(baked(1000), |r| r.run(copy(&x, &mut y))).map(drop);
    let report = b.device.graph().inspect(op).unwrap().to_string();
    // What the copy and the end of a round read; what these and the beginning write.
    assert!(report.contains("one replay reads 4016 B and writes 4032 B, each body counted once"), "{report}");
}

/// A fill in a body reads nothing, and so its loop does not.
#[test]
fn a_loop_reads_what_its_body_reads() {
    let b = bench();
    let mut y = b.device.zeros::<u32>(1000).unwrap().named("y");
    let op = |r: &mut Recorder<'_>| r.repeat_times(baked(3), |r| r.run(fill(&mut y, baked(1)))).map(drop);
    let report = b.device.graph().inspect(op).unwrap().to_string();
    assert!(report.contains("= writes y [0..4000]") && !report.contains("reads and writes y"), "{report}");
}

// What held.
#[test]
fn errors_and_panics_that_are_swallowed_leave_nothing() {
    for b in benches() {
        let mut y = b.device.zeros::<u32>(4).unwrap();
        let flag = b.device.scalar(1u32).unwrap();
        let (y0, rest) = y.split_at_mut(1);
        let mut graph = b
            .device
            .record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(1)?;
                r.repeat_times(baked(2), |r| {
                    let caught = catch_unwind(AssertUnwindSafe(|| {
                        r.repeat(unbounded(), |r| {
                            r.run(fill(&mut t, baked(1)))?;
                            r.leave_if(nonzero(&flag))?;
                            r.switch(&flag, 3, |r, case| {
                                r.run(fill(y0, baked(99)))?;
                                if case == 2 { panic!("user's") } else { Ok(()) }
                            })?;
                            Ok(nonzero(&flag))
                        })
                        .map(drop)
                    }));
                    assert!(caught.is_err());
                    // Nothing of it counts as written.
                    let refused = r.run(copy(&t, &mut rest[..1]));
                    assert!(matches!(refused.unwrap_err().kind(), ErrorKind::UninitTemp { .. }));
                    let otherwise = r.when(nonzero(&flag), |r| r.run(fill(&mut t, baked(5))))?.otherwise(|r| {
                        r.run(fill(&mut t, baked(6)))?;
                        Err(Error::msg("no"))
                    });
                    assert!(otherwise.is_err());
                    let refused = r.run(copy(&t, &mut rest[..1]));
                    assert!(matches!(refused.unwrap_err().kind(), ErrorKind::UninitTemp { .. }));
                    r.leave_if(zero(&flag))?;
                    let left = r.run(|r: &mut Recorder<'_>| {
                        r.leave_if(nonzero(&flag))?;
                        r.run(fill(rest, baked(77)))?;
                        Err::<(), _>(Error::msg("no"))
                    });
                    assert!(left.is_err());
                    r.run(b.k.bump(rest.at_mut(2)))
                })
                .map(drop)
            })
            .unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [0, 0, 0, 2]);
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [0, 0, 0, 4]);
        b.expect_no_findings();
        b.expect_usable();
    }
}

/// Whether each comparison gives what Rust's gives.
fn compares<T: dacapo::flow::Number + PartialOrd + std::fmt::Debug>(b: &Bench, numbers: &[T]) {
    for &p in numbers {
        for &q in numbers {
            let (x, y) = (b.device.scalar(p).unwrap(), b.device.scalar(q).unwrap());
            let slot = Slot::new(q);
            let mut out = b.device.zeros::<u32>(20).unwrap();
            let op = |r: &mut Recorder<'_>| {
                let all = [
                    above(&x, &y),
                    at_least(&x, &y),
                    below(&x, &y),
                    at_most(&x, &y),
                    equal(&x, &y),
                    differs(&x, &y),
                    nonzero(&x),
                    zero(&x),
                    above(&x, baked(q)),
                    above(&x, &slot),
                    below(baked(p), &y),
                    at_most(&x, &slot),
                    above(&x, &y) | (equal(&x, baked(q)) & !differs(&slot, &y)), // 6 steps, mixed
                    !below(&x, &slot),
                ];
                for (number, condition) in all.into_iter().enumerate() {
                    r.when(condition, |r| r.run(fill(&mut out[number..][..1], baked(1))))?;
                }
                Ok(())
            };
            b.stream.run(op).unwrap();
            let zero: T = numbers[0];
            let expected = [
                p > q,
                p >= q,
                p < q,
                p <= q,
                p == q,
                p != q,
                p != zero,
                p == zero,
                p > q,
                p > q,
                p < q,
                p <= q,
                p > q || (p == q && q == q),
                !(p < q),
            ];
            let got: Vec<bool> = b.stream.read(&out).unwrap()[..14].iter().map(|&w| w == 1).collect();
            assert_eq!(got, expected, "{p:?} {q:?}");
        }
    }
}

#[test]
fn comparisons_are_exact() {
    let b = bench();
    compares(&b, &[0u64, 1, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 53) + 1, 1 << 53]);
    compares(&b, &[0i64, -1, i64::MIN, i64::MAX, i64::MAX - 1, (1 << 53) + 1, 1 << 53]);
    compares(&b, &[0i8, -1, i8::MIN, i8::MAX, 1]);
    compares(&b, &[0u8, 255, 128, 127]);
    compares(&b, &[0i16, -1, i16::MIN, i16::MAX]);
    compares(&b, &[0i32, -1, i32::MIN, i32::MAX]);
    compares(&b, &[0u32, u32::MAX, 1 << 31]);
    compares(
        &b,
        &[
            0.0f32,
            -0.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::from_bits(1),
            -f32::from_bits(1),
            f32::MIN_POSITIVE,
        ],
    );
    compares(&b, &[0.0f64, -0.0, f64::NAN, f64::INFINITY, f64::from_bits(1), 9007199254740993.0, f64::MAX]);
    b.expect_no_findings();
}

#[test]
fn calls_that_would_act_now_are_refused_in_bodies() {
    let b = bench();
    let mut y = b.device.zeros::<u32>(1).unwrap();
    let mut other = b.device.record(b.k.bump(y.at_mut(0))).unwrap();
    let kept = std::cell::RefCell::new(None);
    let mut graph = b.device.record(|r: &mut Recorder<'_>| {
        let mut t = r.alloc_scalar::<u32>()?;
        r.run(fill(t.as_mut_slice(), baked(1)))?;
        r.repeat_times(baked(3), |r| {
            assert!(matches!(other.launch(&b.stream).unwrap_err().kind(), ErrorKind::EagerInRecording { .. }));
            assert!(matches!(
                b.stream.run(|_: &mut Recorder<'_>| Ok(())).unwrap_err().kind(),
                ErrorKind::EagerInRecording { .. }
            ));
            // A recording of its own: its loops are its own, and so is what it has.
            let refused = b.device.record(|s: &mut Recorder<'_>| s.leave_if(nonzero(&t)));
            assert!(matches!(refused.unwrap_err().kind(), ErrorKind::NoLoop { .. }));
            let refused = b.device.record(|s: &mut Recorder<'_>| s.when(nonzero(&t), |_| Ok(())).map(drop));
            assert!(matches!(refused.unwrap_err().kind(), ErrorKind::ForeignTemp));
            let round = r.round()?;
            *kept.borrow_mut() = Some(equal(&*round, baked(2)));
            let refused = b.device.record(|s: &mut Recorder<'_>| s.repeat_times(&*round, |_| Ok(())).map(drop));
            assert!(matches!(refused.unwrap_err().kind(), ErrorKind::ForeignTemp));
            // The other recorder inside of this one's body and the other way round.
            let refused =
                b.device.record(|s: &mut Recorder<'_>| s.repeat_times(baked(1), |_| r.leave_if(nonzero(&t))).map(drop));
            refused.unwrap();
            r.run(b.k.bump(t.as_mut_slice().at_mut(0)))
        })?;
        r.run(copy(t.as_slice(), &mut y))
    });
    // Of another recording.
    let condition = kept.borrow_mut().take().unwrap();
    let refused = b.device.record(|r: &mut Recorder<'_>| r.when(condition, |_| Ok(())).map(drop));
    assert!(matches!(refused.unwrap_err().kind(), ErrorKind::ForeignTemp));
    graph.as_mut().unwrap().launch(&b.stream).unwrap();
    b.expect_no_findings();
}

#[test]
fn stand_ins_in_conditions() {
    for b in benches() {
        let (x, mut y) = (b.device.zeros::<u32>(4).unwrap(), b.device.zeros::<u32>(4).unwrap());
        let mut graph = b
            .device
            .graph()
            .record_into(&x[..], &mut y[..], |r, x, y| {
                r.run(fill(&mut y[..], baked(0)))?;
                let rounds = r.repeat_times(x.at(1), |r| {
                    r.run(b.k.bump(y.at_mut(0)))?;
                    r.when(equal(y.at(0), x.at(2)) & nonzero(x.at(3)), |r| r.run(fill(&mut y[2..3], baked(8))))?
                        .otherwise(|r| r.run(fill(&mut y[3..4], baked(9))))
                })?;
                r.run(copy(rounds.count().as_slice(), &mut y[1..2]))
            })
            .unwrap();
        for (input, expected) in
            [([0, 3, 2, 1], [3, 3, 8, 9]), ([0, 0, 0, 0], [0, 0, 0, 0]), ([7, 1, 1, 5], [1, 1, 8, 0])]
        {
            let x = b.device.buffer(&input).unwrap();
            let mut y = b.device.buffer(&[5u32; 4]).unwrap();
            graph.launch(&b.stream, &x[..], &mut y[..]).unwrap();
            drop(x);
            assert_eq!(b.stream.read(&y).unwrap(), expected);
        }
        b.expect_no_findings();
    }
}

#[test]
fn memory_of_a_condition_lives_with_its_graph() {
    let b = bench();
    let mut y = b.device.zeros::<u32>(1).unwrap();
    let mut graph = {
        let (x, limit) = (b.device.scalar(1u32).unwrap(), b.device.scalar(3u32).unwrap());
        let go = nonzero(&x);
        let bound = up_to(&limit);
        drop((x, limit));
        b.device
            .record(|r: &mut Recorder<'_>| r.repeat_while(go, bound, |r| r.run(b.k.bump(y.at_mut(0)))).map(drop))
            .unwrap()
    };
    let junk: Vec<_> = (0..50).map(|n| b.device.scalar(n as u32).unwrap()).collect();
    graph.launch(&b.stream).unwrap();
    drop(graph.submit(&b.stream).unwrap());
    drop(graph);
    assert_eq!(b.stream.read(&y).unwrap(), [6]);
    drop(junk);
    b.expect_no_findings();
}

#[test]
fn a_body_writes_what_its_loop_looks_at() {
    for b in benches() {
        let mut y = b.device.zeros::<u32>(8).unwrap();
        let op = |r: &mut Recorder<'_>| {
            r.run(fill(&mut y, baked(0)))?;
            let (limit, rest) = y.split_at_mut(1);
            r.run(fill(limit, baked(2)))?;
            let bound = up_to(limit.at(0));
            let rounds = r.repeat_while(below(rest.at(0), baked(9)), bound, |r| {
                r.run(b.k.bump(rest.at_mut(0)))?;
                // The bound runs away.
                r.run(b.k.bump(limit.at_mut(0)))
            })?;
            r.run(copy(rounds.count().as_slice(), &mut rest[1..2]))?;
            r.run(copy(rounds.hit_bound().as_slice(), &mut rest[2..3]))?;
            // Its own index.
            let round_end = r.repeat_times(baked(10), |r| {
                let round = r.round()?;
                r.leave_if(equal(&*round, baked(4)))?;
                r.run(copy(round.as_slice(), &mut rest[3..4]))
            })?;
            r.run(copy(round_end.count().as_slice(), &mut rest[4..5]))?;
            r.run(copy(round_end.hit_bound().as_slice(), &mut rest[5..6]))
        };
        let mut op = op;
        b.stream.run(&mut op).unwrap();
        let mut graph = b.device.record(&mut op).unwrap();
        let eager = b.stream.read(&y).unwrap();
        assert_eq!(eager, [11, 9, 9, 0, 3, 5, 0, 0]);
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), eager);
        let profile = graph.profile(&b.stream).unwrap();
        let runs: Vec<u64> = profile.ops.iter().map(|op| op.runs).collect();
        assert_eq!(runs, [1, 1, 1, 1, 9, 9, 9, 1, 1, 1, 1, 5, 5, 4, 4, 1, 1]);
        assert_eq!(b.stream.read(&y).unwrap(), eager);
        b.expect_no_findings();
    }
}

#[test]
fn launches_from_threads() {
    let b = bench();
    let mut shared = b.device.zeros::<u32>(1).unwrap();
    let pool = b.device.pool();
    let graphs: Vec<_> = (0..3)
        .map(|_| {
            b.device
                .graph()
                .pool(&pool)
                .record(|r: &mut Recorder<'_>| {
                    let mut t = r.alloc::<u32>(100)?;
                    r.run(fill(&mut t, baked(1)))?;
                    r.repeat_times(baked(5), |r| {
                        let mut u = r.alloc::<u32>(100)?;
                        r.run(copy(&t, &mut u))?;
                        r.when(equal(u.at(3), baked(1)), |r| r.run(b.k.bump(shared.at_mut(0)))).map(drop)
                    })
                    .map(drop)
                })
                .unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for mut graph in graphs {
            let b = &b;
            scope.spawn(move || {
                let stream = b.device.stream().unwrap();
                for _ in 0..20 {
                    graph.launch(&stream).unwrap();
                }
            });
        }
    });
    assert_eq!(b.stream.read(&shared).unwrap(), [300]);
    b.expect_no_findings();
}

#[test]
fn rerecorded_with_another_structure() {
    for b in benches() {
        let mut y = b.device.zeros::<u32>(2).unwrap();
        let flag = b.device.scalar(1u32).unwrap();
        let mut graph = b
            .device
            .record(|r: &mut Recorder<'_>| r.repeat_times(baked(2), |r| r.run(b.k.bump(y.at_mut(0)))).map(drop))
            .unwrap();
        graph.launch(&b.stream).unwrap();
        // A failed part in front of it: conditions have other numbers.
        graph
            .rerecord(|r: &mut Recorder<'_>| {
                let _ = r.when(nonzero(&flag), |_| Err(Error::msg("no"))).map(drop);
                r.repeat_times(baked(3), |r| r.run(b.k.bump(y.at_mut(0)))).map(drop)
            })
            .unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [5, 0]);
        let refused = graph.rerecord(|r: &mut Recorder<'_>| {
            r.repeat_times(baked(3), |r| {
                r.run(b.k.bump(y.at_mut(1)))?;
                Err(Error::msg("no"))
            })
            .map(drop)
        });
        assert!(refused.is_err());
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [8, 0]);
        // while -> if, same number of nodes; the loop's bound became an element.
        graph
            .rerecord(|r: &mut Recorder<'_>| r.when(nonzero(&flag), |r| r.run(b.k.bump(y.at_mut(0)))).map(drop))
            .unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [9, 0]);
        graph.rerecord(|r: &mut Recorder<'_>| r.when(zero(&flag), |r| r.run(b.k.bump(y.at_mut(0)))).map(drop)).unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [9, 0]);
        b.expect_no_findings();
    }
}

#[test]
fn builders_and_control_flow() {
    let b = bench();
    let mut y = b.device.zeros::<u32>(64).unwrap();
    let flag = b.device.scalar(1u32).unwrap();
    let mut body = |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u32>(64)?;
        r.run(fill(&mut t, baked(0)))?;
        r.repeat_times(baked(3), |r| {
            let mut u = r.alloc::<u32>(64)?;
            let mut v = r.alloc::<u32>(64)?;
            r.run(copy(&t, &mut u))?;
            r.run(copy(&t, &mut v))?;
            r.run(b.k.bump(u.at_mut(5)))?;
            r.leave_if(zero(&flag))?;
            r.run(copy(&v, &mut y))?;
            r.run(copy(&u, &mut t))
        })?;
        r.run(copy(&t, &mut y))
    };
    let arena = b.device.arena(1 << 16).unwrap();
    let graphs = [
        b.device.graph().straight_line().record(&mut body),
        b.device.graph().apart().record(&mut body),
        b.device.graph().arena(&arena).record(&mut body),
        b.device.graph().preloaded().record(&mut body),
        b.device.graph().warmup_unrestored(2).record(&mut body),
    ];
    for graph in graphs {
        let mut graph = graph.unwrap();
        b.stream.write(&mut y, &[7; 64]).unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap()[4..7], [0, 3, 0]);
    }
    b.expect_no_findings();
}

#[test]
fn generators_in_bodies_draw_anew() {
    for b in benches() {
        let mut random = dacapo::random::Generator::new(&b.device, 42).unwrap();
        let mut state = random.save(&b.stream).unwrap();
        let mut y = b.device.zeros::<u32>(3).unwrap();
        let mut op = |r: &mut Recorder<'_>| {
            r.repeat_times(baked(4), |r| r.run(random.words(&mut y)))?;
            r.run(random.words(&mut y))
        };
        b.stream.run(&mut op).unwrap();
        let mut graph = b.device.record(&mut op).unwrap();
        graph.launch(&b.stream).unwrap();
        graph.launch(&b.stream).unwrap();
        for _ in 0..14 {
            state = state.advanced(3);
        }
        assert_eq!(b.stream.read(&y).unwrap(), state.next_words(3));
        assert_eq!(random.save(&b.stream).unwrap(), state.advanced(3));
        b.expect_no_findings();
    }
}

#[test]
fn a_slot_that_empties_a_grid_in_a_body() {
    for b in benches() {
        let mut y = b.device.zeros::<u32>(32).unwrap();
        let flag = b.device.scalar(1u32).unwrap();
        let (len, other) = (Slot::new(32u32), Slot::new(32u32));
        let mut graph = b
            .device
            .record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(32)?;
                r.when(nonzero(&flag), |r| r.run(b.k.put_first(baked(5), &len, &mut t)))?
                    .otherwise(|r| r.run(b.k.put_first(baked(6), &other, &mut t)))?;
                r.repeat(up_to(baked(2)), |r| {
                    r.run(copy(&t, &mut y))?;
                    Ok(nonzero(&flag))
                })
                .map(drop)
            })
            .unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [5; 32]);
        for (len_, other_) in [(0, 32), (32, 0), (0, 0)] {
            len.set(len_);
            other.set(other_);
            let error = graph.launch(&b.stream).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::UninitTemp { .. }), "{error:#}");
        }
        len.set(32);
        other.set(32);
        graph.launch(&b.stream).unwrap();
        b.stream.synchronize().unwrap();
        b.expect_no_findings();
    }
}

#[test]
fn host_memory_in_a_body() {
    let b = bench();
    let host = b.device.host(&[4u32]).unwrap();
    let mut y = b.device.zeros::<u32>(2).unwrap();
    let mut op = |r: &mut Recorder<'_>| {
        let (a, z) = y.split_at_mut(1);
        r.repeat_times(baked(3), |r| {
            r.run(dacapo::upload(&host, a))?;
            r.run(b.k.bump(a.at_mut(0)))?;
            r.run(b.k.bump(z.at_mut(0)))
        })
        .map(drop)
    };
    b.stream.run(&mut op).unwrap();
    let mut graph = b.device.record(&mut op).unwrap();
    drop(host);
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&y).unwrap(), [5, 6]);
    b.expect_no_findings();
}

#[test]
fn a_graph_of_everything_is_part_of_another() {
    // The same op three ways: eagerly, recorded, and embedded twice in loops of a larger graph.
    for b in benches() {
        let mut y = b.device.zeros::<u32>(8).unwrap();
        let inner = {
            let (c, z) = y.split_at_mut(1);
            b.device
                .record(|r: &mut Recorder<'_>| {
                    let mut t = r.alloc::<u32>(8)?;
                    r.run(fill(&mut t, baked(0)))?;
                    let rounds = r.repeat(up_to(baked(6)), |r| {
                        let mut u = r.alloc::<u32>(8)?;
                        r.run(copy(&t, &mut u))?;
                        r.run(b.k.bump(u.at_mut(2)))?;
                        let round = r.round()?;
                        r.leave_if(equal(&*round, baked(3)))?;
                        let mut v = r.alloc::<u32>(8)?;
                        r.run(copy(&u, &mut v))?;
                        r.switch(&*round, 3, |r, case| r.run(b.k.bump(v.at_mut(3 + case as usize))))?;
                        r.run(copy(&v, &mut t))?;
                        Ok(below(t.at(2), baked(100)))
                    })?;
                    r.run(copy(&t[..7], z))?;
                    r.run(copy(rounds.count().as_slice(), &mut z[..1]))?;
                    r.run(b.k.bump(c.at_mut(0)))
                })
                .unwrap()
        };
        let mut outer = b
            .device
            .record(|r: &mut Recorder<'_>| {
                r.repeat_times(baked(2), |r| {
                    r.run(inner.as_op())?;
                    r.run(inner.as_op())
                })?;
                r.run(inner.as_op())
            })
            .unwrap();
        drop(inner);
        outer.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [5, 4, 0, 3, 1, 1, 1, 0]);
        b.expect_no_findings();
    }
}

struct Refuse {
    left: std::sync::atomic::AtomicI64,
    code: dacapo_driver::CUresult,
    struck: std::sync::Mutex<Option<dacapo_driver::Call>>,
}

impl dacapo_driver::Hook for Refuse {
    fn around(
        &self,
        call: dacapo_driver::Call,
        _: &[dacapo_driver::Argument],
        run: &mut dyn FnMut() -> dacapo_driver::CUresult,
    ) -> dacapo_driver::CUresult {
        use std::sync::atomic::Ordering::Relaxed;
        if call == dacapo_driver::Call::cuThreadExchangeStreamCaptureMode || self.left.load(Relaxed) < 0 {
            return run();
        }
        if self.left.fetch_sub(1, Relaxed) == 0 {
            *self.struck.lock().unwrap() = Some(call);
            return self.code;
        }
        run()
    }
}

fn with_everything(b: &Bench, y: &mut Buffer<u32>) -> Result<()> {
    let flag = b.device.scalar(1u32)?;
    let times = Slot::new(2u32);
    let mut op = |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u32>(4)?;
        r.run(fill(&mut t, baked(0)))?;
        r.repeat_times(&times, |r| {
            let mut u = r.alloc::<u32>(4)?;
            r.run(copy(&t, &mut u))?;
            r.leave_if(zero(&flag))?;
            r.run(b.k.bump(u.at_mut(0)))?;
            r.when(nonzero(&flag), |r| r.run(b.k.bump(u.at_mut(1))))?.otherwise(|r| r.run(b.k.bump(u.at_mut(2))))?;
            r.run(copy(&u, &mut t))
        })?;
        r.run(copy(&t, &mut y[..4]))
    };
    b.stream.run(&mut op)?;
    let mut graph = b.device.record(&mut op)?;
    graph.launch(&b.stream)?;
    times.set(3);
    graph.launch(&b.stream)?;
    graph.rerecord(&mut op)?;
    graph.launch(&b.stream)?;
    graph.profile(&b.stream)?;
    drop(graph);
    assert_eq!(b.stream.read(&*y)?, [3, 3, 0, 0]);
    Ok(())
}

#[test]
fn halves_are_exact() {
    use half::{bf16, f16};
    let b = bench();
    compares(
        &b,
        &[
            f16::ZERO,
            f16::NEG_ZERO,
            f16::NAN,
            f16::INFINITY,
            f16::from_bits(1),
            f16::from_bits(0x8001),
            f16::MAX,
            f16::MIN,
        ],
    );
    compares(
        &b,
        &[
            bf16::ZERO,
            bf16::NEG_ZERO,
            bf16::NAN,
            bf16::INFINITY,
            bf16::from_bits(1),
            bf16::from_bits(0x8001),
            bf16::MAX,
            bf16::MIN,
        ],
    );
}

#[test]
fn kept_values_that_panic_in_bodies() {
    let b = bench();
    let flag = b.device.scalar(1u32).unwrap();
    let mut y = b.device.zeros::<u32>(1).unwrap();
    for how in 0..2 {
        let done = catch_unwind(AssertUnwindSafe(|| {
            b.device
                .record(|r: &mut Recorder<'_>| {
                    r.keep(Bomb);
                    r.when(nonzero(&flag), |r| {
                        r.keep(Bomb);
                        r.run(b.k.bump(y.at_mut(0)))?;
                        r.repeat_times(baked(2), |r| {
                            r.keep(Bomb);
                            r.leave_if(nonzero(&flag))?;
                            r.keep(Bomb);
                            if how == 0 { Err(Error::msg("no")) } else { panic!("user's") }
                        })
                        .map(drop)
                    })
                    .map(drop)
                })
                .map(drop)
        }));
        assert!(done.is_err());
        b.expect_usable();
    }
}

#[cfg(feature = "json")]
#[test]
fn a_report_survives_json() {
    let b = bench();
    let flag = b.device.zeros::<u32>(1).unwrap();
    let graph = b.device.record(|r: &mut Recorder<'_>| ways_out(r, &flag, 3)).unwrap();
    let report = graph.inspect();
    assert_eq!(dacapo::inspect::Report::from_json(&report.to_json()).unwrap(), report);
}

#[test]
fn caches_of_loops() {
    let b = bench();
    let mut cache = dacapo::shapes::GraphCache::new(&b.device);
    for key in [3u32, 5, 3, 9, 5, 3] {
        let out: &Buffer<u32> = cache
            .run(&b.stream, &key, |r| {
                let mut y = r.output::<u32>(key as usize)?;
                let mut t = r.alloc::<u32>(key as usize)?;
                r.run(fill(&mut t, baked(0)))?;
                r.repeat_times(baked(key), |r| {
                    let mut u = r.alloc::<u32>(key as usize * 100)?;
                    r.run(fill(&mut u, baked(7)))?;
                    r.run(b.k.bump(t.at_mut(0)))
                })?;
                r.run(copy(&t, &mut y))?;
                Ok(y)
            })
            .unwrap();
        assert_eq!(b.stream.read(out).unwrap()[0], key);
    }
    b.expect_no_findings();
}

#[test]
fn nothing_leaks_by_refused_calls() {
    use std::sync::atomic::Ordering::Relaxed;
    let code = dacapo_driver::CUresult::CUDA_ERROR_NOT_PERMITTED;
    for nth in (0..).step_by(5) {
        let refuse = Refuse { left: (-1).into(), code, struck: Default::default() };
        let (b, hook) = kit::hooked(refuse);
        let mut y = b.device.zeros::<u32>(4).unwrap();
        with_everything(&b, &mut y).unwrap();
        b.device.synchronize().unwrap();
        let before = b.device.counters();
        hook.left.store(nth, Relaxed);
        let outcome = with_everything(&b, &mut y);
        let was_struck = hook.left.swap(-1, Relaxed) < 0;
        if let Ok(()) = outcome
            && !was_struck
        {
            eprintln!("{nth} calls");
            break;
        }
        with_everything(&b, &mut y).unwrap();
        b.device.synchronize().unwrap();
        let after = b.device.counters();
        assert_eq!(
            (after.allocations, after.graphs, after.streams, after.modules, after.waiting),
            (before.allocations, before.graphs, before.streams, before.modules, before.waiting),
            "{nth} {:?}",
            hook.struck
        );
        b.expect_usable();
        b.expect_no_findings();
    }
}

#[test]
fn an_idle_kernel_in_a_body() {
    for b in benches() {
        let mut y = b.device.zeros::<u32>(32).unwrap();
        let (len, value) = (Slot::new(32u32), Slot::new(1u32));
        let mut graph = b
            .device
            .record(|r: &mut Recorder<'_>| {
                r.repeat_times(baked(2), |r| r.run(b.k.put_first(&value, &len, &mut y))).map(drop)
            })
            .unwrap();
        for (n, v) in [(32, 1), (0, 2), (4, 3), (0, 4), (1, 5)] {
            len.set(n);
            value.set(v);
            let before = b.stream.read(&y).unwrap();
            graph.launch(&b.stream).unwrap();
            let mut expected = before;
            expected[..n as usize].fill(v);
            assert_eq!(b.stream.read(&y).unwrap(), expected);
        }
        b.expect_no_findings();
    }
}

#[test]
fn rerecorded_with_bodies_of_other_numbers() {
    let b = Bench::seeded(3);
    let mut y = b.device.zeros::<u32>(4).unwrap();
    let flag = b.device.scalar(1u32).unwrap();
    let mut op = |r: &mut Recorder<'_>, fails: bool| {
        let when = r.when(nonzero(&flag), |r| r.run(b.k.bump(y.at_mut(0))))?;
        if fails {
            assert!(when.otherwise(|_| Err(Error::msg("no"))).is_err());
        }
        r.when(nonzero(&flag), |r| {
            let mut t = r.alloc::<u32>(1)?;
            r.run(fill(&mut t, baked(8)))?;
            r.run(b.k.bump(t.at_mut(0)))?;
            r.run(copy(&t, &mut y[1..2]))
        })
        .map(drop)
    };
    let mut graph = b.device.record(|r: &mut Recorder<'_>| op(r, false)).unwrap();
    graph.launch(&b.stream).unwrap();
    graph.rerecord(|r: &mut Recorder<'_>| op(r, true)).unwrap();
    graph.launch(&b.stream).unwrap();
    assert_eq!(graph.inspect().nodes.len(), 8);
    graph.profile(&b.stream).unwrap();
    let mut outer = b.device.record(|r: &mut Recorder<'_>| r.run(graph.as_op())).unwrap();
    outer.launch(&b.stream).unwrap();
    graph.rerecord(|r: &mut Recorder<'_>| op(r, false)).unwrap();
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&y).unwrap(), [5, 9, 0, 0]);
    b.expect_no_findings();
}

#[test]
fn memory_is_exchanged_after_the_condition_was_made() {
    let b = bench();
    let (mut x, mut y) = (b.device.buffer(&[1u32]).unwrap(), b.device.buffer(&[0u32]).unwrap());
    let mut z = b.device.zeros::<u32>(1).unwrap();
    let condition = nonzero(x.at(0));
    std::mem::swap(&mut x, &mut y); // the condition looks at what is `y` now
    let mut graph = b
        .device
        .record(|r: &mut Recorder<'_>| {
            r.repeat_while(condition.clone(), up_to(baked(5)), |r| {
                r.run(b.k.bump(z.at_mut(0)))?;
                r.run(copy(&x, &mut y)) // a zero
            })
            .map(drop)
        })
        .unwrap();
    drop((x, y, condition));
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&z).unwrap(), [1]);
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&z).unwrap(), [1]);
    b.expect_no_findings();
}

#[test]
fn values_are_kept_forgotten_and_sent() {
    fn sent<T: Send + Sync + Clone + 'static>(_: &T) {}
    let b = bench();
    let flag = b.device.scalar(1u32).unwrap();
    let (condition, bound) = (nonzero(&flag), up_to(&flag));
    sent(&condition);
    sent(&bound);
    let (c, d) = std::thread::spawn(move || (condition.clone() & !condition, bound)).join().unwrap();
    let mut y = b.device.zeros::<u32>(1).unwrap();
    let mut graph = b
        .device
        .record(|r: &mut Recorder<'_>| {
            std::mem::forget(r.when(c.clone(), |r| r.run(b.k.bump(y.at_mut(0))))?);
            std::mem::forget(r.repeat_while(c.clone(), d.clone(), |r| {
                std::mem::forget(r.round()?);
                r.run(b.k.bump(y.at_mut(0)))
            })?);
            std::mem::forget(r.repeat(d, |r| {
                r.run(b.k.bump(y.at_mut(0)))?;
                Ok(c)
            })?);
            Ok(())
        })
        .unwrap();
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&y).unwrap(), [1]);
    b.expect_no_findings();
}

#[derive(Debug, Clone)]
enum Stmt {
    Bump(usize),
    Via(usize, usize),
    If(Cond, Vec<Stmt>, Option<Vec<Stmt>>),
    Times(u32, Vec<Stmt>),
    AsOften(usize, Vec<Stmt>),
    Until(Cond, Vec<Stmt>),
    Leave(Cond),
    Switch(usize, Vec<Vec<Stmt>>),
    Both(Cond, u32, usize),
}

#[derive(Debug, Clone, Copy)]
enum Cond {
    Below(usize, u32),
    Same(usize, usize),
    OddOnes(usize, usize, u32),
}

const N: usize = 5;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
    fn cell(&mut self) -> usize {
        self.roll(N as u64) as usize
    }
    fn cond(&mut self) -> Cond {
        match self.roll(3) {
            0 => Cond::Below(self.cell(), self.roll(6) as u32),
            1 => Cond::Same(self.cell(), self.cell()),
            _ => Cond::OddOnes(self.cell(), self.cell(), self.roll(4) as u32),
        }
    }
    fn list(&mut self, depth: u64, in_loop: bool, both: bool) -> Vec<Stmt> {
        (0..1 + self.roll(4)).map(|_| self.stmt(depth, in_loop, both)).collect()
    }
    fn stmt(&mut self, depth: u64, in_loop: bool, both: bool) -> Stmt {
        match self.roll(if depth == 0 { 4 } else { 12 }) {
            0 | 1 => Stmt::Bump(self.cell()),
            2 => Stmt::Via(self.cell(), self.cell()),
            3 if both => Stmt::Both(self.cond(), self.roll(9) as u32, self.cell()),
            3 => Stmt::Bump(self.cell()),
            4 | 5 => Stmt::If(
                self.cond(),
                self.list(depth - 1, false, both),
                (self.roll(2) == 0).then(|| self.list(depth - 1, false, both)),
            ),
            6 => Stmt::Times(self.roll(4) as u32, self.list(depth - 1, true, both)),
            7 => Stmt::AsOften(self.cell(), self.list(depth - 1, true, both)),
            8 => Stmt::Until(self.cond(), self.list(depth - 1, true, both)),
            9 | 10 if in_loop => Stmt::Leave(self.cond()),
            _ => Stmt::Switch(self.cell(), (0..1 + self.roll(3)).map(|_| self.list(depth - 1, false, both)).collect()),
        }
    }
}

fn holds(cells: &[u32], cond: Cond) -> bool {
    match cond {
        Cond::Below(i, c) => cells[i] < c,
        Cond::Same(i, j) => cells[i] == cells[j],
        Cond::OddOnes(i, j, c) => !(cells[i] > c) | ((cells[j] >= 2) & (cells[i] != cells[j])),
    }
}

fn model(cells: &mut [u32], list: &[Stmt], steps: &mut u64) -> bool {
    for stmt in list {
        *steps += 1;
        if *steps > 400 {
            return true;
        }
        match stmt {
            Stmt::Bump(i) => cells[*i] += 1,
            Stmt::Via(i, j) => cells[*j] = cells[*i] + 1,
            Stmt::If(cond, then, otherwise) => match holds(cells, *cond) {
                true => drop(model(cells, then, steps)),
                false => drop(otherwise.as_ref().map(|list| model(cells, list, steps))),
            },
            Stmt::Times(n, list) => {
                for _ in 0..*n {
                    if model(cells, list, steps) {
                        break;
                    }
                }
            }
            Stmt::AsOften(i, list) => {
                // The number is looked at before and behind each round.
                let mut rounds = 0;
                while rounds < cells[*i] {
                    rounds += 1;
                    if model(cells, list, steps) {
                        break;
                    }
                }
            }
            Stmt::Until(cond, list) => {
                let mut rounds = 0;
                loop {
                    rounds += 1;
                    if model(cells, list, steps) || !holds(cells, *cond) || rounds >= 3 {
                        break;
                    }
                }
            }
            Stmt::Leave(cond) => {
                if holds(cells, *cond) {
                    return true;
                }
            }
            Stmt::Switch(i, cases) => drop(cases.get(cells[*i] as usize).map(|list| model(cells, list, steps))),
            Stmt::Both(cond, c, j) => cells[*j] = if holds(cells, *cond) { *c } else { *c + 1 },
        }
    }
    false
}

fn condition(y: &Buffer<u32>, cond: Cond) -> dacapo::flow::Condition {
    match cond {
        Cond::Below(i, c) => below(y.at(i), baked(c)),
        Cond::Same(i, j) => equal(y.at(i), y.at(j)),
        Cond::OddOnes(i, j, c) => !above(y.at(i), baked(c)) | (at_least(y.at(j), baked(2)) & differs(y.at(i), y.at(j))),
    }
}

fn recorded(r: &mut Recorder<'_>, b: &Bench, y: &mut Buffer<u32>, list: &[Stmt]) -> Result<()> {
    for stmt in list {
        match stmt {
            Stmt::Bump(i) => r.run(b.k.bump(y.at_mut(*i)))?,
            Stmt::Via(i, j) => {
                let mut t = r.alloc::<u32>(3)?;
                r.run(copy(&y[*i..][..1], &mut t[1..2]))?;
                r.run(b.k.bump(t.at_mut(1)))?;
                r.run(copy(&t[1..2], &mut y[*j..][..1]))?;
            }
            Stmt::If(cond, then, None) => drop(r.when(condition(y, *cond), |r| recorded(r, b, y, then))?),
            Stmt::If(cond, then, Some(otherwise)) => {
                r.when(condition(y, *cond), |r| recorded(r, b, y, then))?
                    .otherwise(|r| recorded(r, b, y, otherwise))?;
            }
            Stmt::Times(n, list) => drop(r.repeat_times(baked(*n), |r| recorded(r, b, y, list))?),
            Stmt::AsOften(i, list) => {
                let bound = up_to(y.at(*i));
                drop(r.repeat_while(equal(baked(1), baked(1)), bound, |r| recorded(r, b, y, list))?);
            }
            Stmt::Until(cond, list) => drop(r.repeat(up_to(baked(3)), |r| {
                recorded(r, b, y, list)?;
                Ok(condition(y, *cond))
            })?),
            Stmt::Leave(cond) => r.leave_if(condition(y, *cond))?,
            Stmt::Switch(i, cases) => {
                let index = y.share();
                r.switch(index.at(*i), cases.len() as u32, |r, case| recorded(r, b, y, &cases[case as usize]))?;
            }
            Stmt::Both(cond, c, j) => {
                let mut t = r.alloc::<u32>(2)?;
                r.when(condition(y, *cond), |r| r.run(fill(&mut t, baked(*c))))?
                    .otherwise(|r| r.run(fill(&mut t, baked(*c + 1))))?;
                r.run(copy(&t[1..], &mut y[*j..][..1]))?;
            }
        }
    }
    Ok(())
}

#[test]
fn foreign_work_of_nothing_may_be_in_a_body() {
    let b = bench();
    let mut y = b.device.zeros::<u32>(1).unwrap();
    // SAFETY: it does nothing.
    let mut nothing = |r: &mut Recorder<'_>| r.run(unsafe { foreign((), &mut y[..], |_, (), _| Ok(())) });
    b.device.record(&mut nothing).unwrap(); // as it may be outside of one
    b.device.record(|r: &mut Recorder<'_>| r.repeat_times(baked(1), &mut nothing).map(drop)).unwrap();
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// Puts a child graph with a host function in a child graph of its own onto a stream that is captured.
fn capture_a_grandchild(cuda: &Machine, stream: RawStream) {
    let ok = |code: CUresult| assert_eq!(code, CUresult::CUDA_SUCCESS);
    let (mut parent, mut child, mut node) = (CUgraph::NULL, CUgraph::NULL, CUgraphNode::NULL);
    let (mut status, mut id, mut graph) = (CU_STREAM_CAPTURE_STATUS_NONE, 0, CUgraph::NULL);
    let (mut after, mut edges, mut count) = (std::ptr::null(), std::ptr::null(), 0);
    let host = CUDA_HOST_NODE_PARAMS { r#fn: Some(nothing), userData: std::ptr::null_mut() };
    // SAFETY: all pointers are valid for the calls; the graphs are made here, and copied into their parents.
    unsafe {
        ok(cuda.cuGraphCreate(&mut parent, 0));
        ok(cuda.cuGraphCreate(&mut child, 0));
        ok(cuda.cuGraphAddHostNode(&mut node, child, std::ptr::null(), 0, &host));
        ok(cuda.cuGraphAddChildGraphNode(&mut node, parent, std::ptr::null(), 0, child));
        ok(cuda.cuStreamGetCaptureInfo_v3(
            stream.0,
            &mut status,
            &mut id,
            &mut graph,
            &mut after,
            &mut edges,
            &mut count,
        ));
        ok(cuda.cuGraphAddChildGraphNode(&mut node, graph, after, count, parent));
        let set = CU_STREAM_SET_CAPTURE_DEPENDENCIES;
        ok(cuda.cuStreamUpdateCaptureDependencies_v2(stream.0, &mut node, std::ptr::null(), 1, set));
        ok(cuda.cuGraphDestroy(child));
        ok(cuda.cuGraphDestroy(parent));
    }
}

#[test]
fn a_host_function_in_a_child_graph_is_named() {
    let b = bench();
    let mut y = b.device.zeros::<u32>(1).unwrap();
    let cuda = b.device.machine().unwrap().clone();
    // SAFETY: it touches nothing.
    let call = unsafe {
        foreign((), &mut y[..], move |stream, (), _| {
            capture_a_grandchild(&cuda, stream);
            Ok(())
        })
    };
    let error = b.device.record(|r: &mut Recorder<'_>| r.repeat_times(baked(1), call).map(drop)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotInBody { what } if what == "a host function"), "{error:#}");
}

#[test]
fn closures_that_panic_when_they_are_taken_back() {
    let b = bench();
    let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(1).unwrap());
    let done = catch_unwind(AssertUnwindSafe(|| {
        b.device.record(|r: &mut Recorder<'_>| {
            let body = |r: &mut Recorder<'_>| {
                for bomb in [Bomb, Bomb] {
                    let call = move |_, (), _| -> Result<()> {
                        let _ = &bomb;
                        Ok(())
                    };
                    // SAFETY: it does nothing.
                    r.run(unsafe { foreign((), &mut y[..], call) })?;
                }
                Err(Error::msg("no"))
            };
            r.when(nonzero(&flag), body).map(drop)
        })
    }));
    assert!(done.is_err());
}

/// Foreign work that does nothing, with closures that panic when they are dropped.
fn bombs(r: &mut Recorder<'_>, y: &mut Buffer<u32>) -> Result<()> {
    for bomb in [Bomb, Bomb, Bomb] {
        let call = move |_, (), _| -> Result<()> {
            let _ = &bomb;
            Ok(())
        };
        // SAFETY: it does nothing.
        r.run(unsafe { foreign((), &mut y[..], call) })?;
    }
    Ok(())
}

#[test]
fn closures_that_panic_with_their_recording() {
    let b = bench();
    let mut y = b.device.zeros::<u32>(1).unwrap();
    let mut panics = |what: &mut dyn FnMut(&mut Buffer<u32>)| {
        assert!(catch_unwind(AssertUnwindSafe(|| what(&mut y))).is_err());
        b.device.record(fill(&mut y, baked(1))).unwrap().launch_sync(&b.stream).unwrap();
    };
    panics(&mut |y| {
        let dropped = b.device.record(|r: &mut Recorder<'_>| bombs(r, y).and(Err::<(), _>(Error::msg("no"))));
        dropped.unwrap_err();
    });
    panics(&mut |y| {
        let unwound = b.device.record(|r: &mut Recorder<'_>| -> Result<()> {
            bombs(r, y)?;
            panic!("while recording")
        });
        drop(unwound);
    });
    panics(&mut |y| drop(b.device.graph().inspect(|r: &mut Recorder<'_>| bombs(r, y))));
    panics(&mut |y| drop(b.device.record(|r: &mut Recorder<'_>| bombs(r, y)).unwrap()));
    panics(&mut |y| {
        let mut graph = b.device.record(|r: &mut Recorder<'_>| bombs(r, y)).unwrap();
        graph.launch(&b.stream).unwrap();
        b.device.synchronize().unwrap();
        drop(graph.rerecord(fill(y, baked(1))));
    });
}

#[test]
fn a_switch_without_cases_checks_its_number() {
    let (b, other) = (bench(), bench());
    let (here, there) = (b.device.scalar(0u32).unwrap(), other.device.scalar(0u32).unwrap());
    let none = |_: &mut Recorder<'_>, _| -> Result<()> { unreachable!("there is no case") };
    let graph = b.device.record(|r: &mut Recorder<'_>| r.switch(&here, 0, none)).unwrap();
    assert_eq!(graph.len(), 0);
    b.device.record(|r: &mut Recorder<'_>| r.switch(&there, 0, none)).unwrap_err();
    let unwritten = |r: &mut Recorder<'_>| {
        let index = r.alloc_scalar::<u32>()?;
        r.switch(&index, 0, none)
    };
    let error = b.device.record(unwritten).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UninitTemp { .. }), "{error:#}");
}

/// The effort of planning grows with what is recorded. Minutes, if each body looked at the temps of all others.
#[test]
fn thousands_of_loops_and_cases_are_planned_at_once() {
    let b = bench();
    let (last, mut y) = (b.device.scalar(0u32).unwrap(), b.device.zeros::<u32>(1).unwrap());
    let (loops, cases) = (4000, 36_000);
    let begun = Instant::now();
    let steps = b.device.graph().plan_only(|r: &mut Recorder<'_>| {
        (0..loops).try_for_each(|_| r.repeat_times(baked(1), |r| r.run(b.k.bump(y.at_mut(0)))).map(drop))?;
        r.switch(&last, cases, |r, case| {
            let mut t = r.alloc::<u32>(1)?;
            r.run(fill(&mut t, baked(case)))?;
            r.run(copy(&t, &mut y))
        })
    });
    assert_eq!(steps.unwrap(), 4 * loops + 2 + 2 * cases as usize);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn random_programs_do_what_the_host_would() {
    let (mut tried, mut nonce) = (0, 0);
    let until = Instant::now() + Duration::from_secs(5);
    for b in benches() {
        while tried < 60 || (Instant::now() < until && tried < 1500) {
            nonce += 1;
            let both = nonce % 2 == 0;
            let list = Dice(nonce * 7919).list(3, false, both);
            let mut expected = vec![0, 1, 2, 0, 3];
            let begin = expected.clone();
            let mut steps = 0;
            model(&mut expected, &list, &mut steps);
            if steps > 400 {
                continue;
            }
            tried += 1;
            let mut y = b.device.buffer(&begin).unwrap();
            b.stream.run(|r: &mut Recorder<'_>| recorded(r, &b, &mut y, &list)).unwrap();
            assert_eq!(b.stream.read(&y).unwrap(), expected, "eager {nonce}: {list:#?}");
            let mut graph = b.device.record(|r: &mut Recorder<'_>| recorded(r, &b, &mut y, &list)).unwrap();
            b.stream.write(&mut y, &begin).unwrap();
            graph.launch(&b.stream).unwrap();
            assert_eq!(b.stream.read(&y).unwrap(), expected, "replayed {nonce}: {list:#?}");
            if !both {
                let mut outer = b
                    .device
                    .record(|r: &mut Recorder<'_>| r.repeat_times(baked(1), |r| r.run(graph.as_op())).map(drop))
                    .unwrap();
                b.stream.write(&mut y, &begin).unwrap();
                outer.launch(&b.stream).unwrap();
                assert_eq!(b.stream.read(&y).unwrap(), expected, "embedded {nonce}: {list:#?}");
            }
            assert!(b.device.findings().is_empty(), "{nonce}: {:?} {list:#?}", b.device.findings());
        }
        tried = 0;
    }
}

#[test]
fn broad_recordings_come_to_an_end() {
    let b = bench();
    let (last, mut y) = (b.device.scalar(2999u32).unwrap(), b.device.zeros::<u32>(2).unwrap());
    let op = |r: &mut Recorder<'_>| {
        let (p, q) = y.split_at_mut(1);
        r.switch(&last, 3000, |r, case| r.run(fill(p, baked(case))))?;
        (0..300).try_for_each(|_| r.repeat_times(baked(1), |r| r.run(b.k.bump(q.at_mut(0)))).map(drop))?;
        r.repeat_times(baked(2), |r| (0..3000).try_for_each(|_| r.run(b.k.bump(q.at_mut(0))))).map(drop)
    };
    let mut graph = b.device.record(op).unwrap();
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&y).unwrap(), [2999, 6300]);
    b.expect_no_findings();
}

/// A slot behind memory, among the arguments of a raw kernel, is shown as a slot.
#[test]
fn a_slot_of_a_raw_kernel_is_told_as_one() {
    let b = bench();
    let saxpy = RawKernel::load(&b.device, include_str!("../kernels/saxpy.ptx"), "saxpy").unwrap();
    let (x, mut y, n) = (b.device.zeros::<f32>(4).unwrap(), b.device.zeros::<f32>(4).unwrap(), Slot::new(4u32));
    let arguments = vec![RawArg::value(baked(1.0f32)), RawArg::read(&x), RawArg::write(&mut y), RawArg::value(&n)];
    // SAFETY: the arguments are those of `saxpy`, and both slices have as many elements.
    let report = b.device.graph().inspect(unsafe { saxpy.launch(grid::linear(4, 32), arguments) }).unwrap();
    let is = |at: usize, kind: fn(&How) -> bool| kind(&report.nodes[0].arguments[at].how);
    assert!(is(0, |how| matches!(how, How::Baked { .. })) && is(3, |how| matches!(how, How::Slot { .. })), "{report}");
}
