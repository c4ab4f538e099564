//! Control flow on the device: each construct gives what the same Rust gives, eagerly and replayed.

use dacapo::flow::{Condition, above, at_least, below, differs, equal, nonzero, unbounded, up_to, zero};
use dacapo::{Buffer, Device, ErrorKind, Op, Recorder, Result, Scalar, Slot, Software, Stream, baked, copy, fill};

dacapo::kernels! {
    unsafe struct Kernels(include_str!("../kernels/saxpy.ptx")) {
        /// sum += a * x, for one value.
        fn add(a: f32, x: &f32, sum: &mut f32, n: u32 = 1) { entry: "saxpy"; grid: linear(1, 1); }
        /// y += a * x.
        fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) { grid: linear(y.len(), 256); }
    }
}

/// A device, and numbers that ops count in.
struct Bench {
    device: Device,
    stream: Stream,
    k: Kernels,
    one: Scalar<f32>,
    cells: Buffer<f32>,
    words: Buffer<u32>,
}

const CELLS: usize = 8;

fn bench() -> Bench {
    bench_on(Device::best().unwrap())
}

/// The drivers that the library knows: one that has all of it, and one of CUDA 12.4, which has IF and WHILE alone.
fn benches() -> [Bench; 2] {
    [bench(), bench_on(Software::new().options(|options| options.driver_version = 12_040).open().unwrap())]
}

fn bench_on(device: Device) -> Bench {
    Bench {
        stream: device.stream().unwrap(),
        k: Kernels::load(&device).unwrap(),
        one: device.scalar(1.0).unwrap(),
        cells: device.zeros(CELLS).unwrap().named("cells"),
        words: device.zeros(CELLS).unwrap().named("words"),
        device,
    }
}

/// Runs the op eagerly, then records it and launches it twice, each time with the same cells at first: all give the same cells
/// and words, and no finding.
fn both(
    b: &mut Bench,
    cells: &[f32],
    mut op: impl for<'a, 'r> FnMut(&mut Bench, &'a mut Recorder<'r>) -> Result<()>,
) -> (Vec<f32>, Vec<u32>) {
    let stream = b.stream.clone();
    let begin = |b: &mut Bench| {
        let mut all = cells.to_vec();
        all.resize(CELLS, 0.0);
        stream.write(&mut b.cells, &all).unwrap();
        stream.write(&mut b.words, &[0; CELLS]).unwrap();
    };
    let end = |b: &Bench| (stream.read(&b.cells).unwrap(), stream.read(&b.words).unwrap());
    begin(b);
    stream.run(|r: &mut Recorder<'_>| op(b, r)).unwrap();
    let eager = end(b);
    let device = b.device.clone();
    let mut graph = device.record(|r: &mut Recorder<'_>| op(b, r)).unwrap();
    for _ in 0..2 {
        begin(b);
        graph.launch(&stream).unwrap();
        assert_eq!(end(b), eager, "replayed, and eagerly");
    }
    assert_eq!(device.findings().len(), 0, "{:?}", device.findings());
    eager
}

#[test]
fn a_loop_runs_until_its_condition_fails() {
    let (cells, words) = both(&mut bench(), &[10.0], |b, r| {
        let rounds = r.repeat(up_to(baked(100)), |r| {
            r.run(b.k.add(baked(-1.0), &b.one, b.cells.at_mut(0)))?;
            Ok(above(b.cells.at(0), baked(4.0)))
        })?;
        r.run(copy(rounds.count().as_slice(), &mut b.words[..1]))?;
        r.run(copy(rounds.hit_bound().as_slice(), &mut b.words[1..2]))
    });
    assert_eq!((cells[0], words[0], words[1]), (4.0, 6, 0));
}

#[test]
fn a_bound_ends_a_loop_and_says_so() {
    let (cells, words) = both(&mut bench(), &[10.0], |b, r| {
        let rounds = r.repeat(up_to(baked(3)), |r| {
            r.run(b.k.add(baked(-1.0), &b.one, b.cells.at_mut(0)))?;
            Ok(above(b.cells.at(0), baked(4.0)))
        })?;
        r.run(copy(rounds.count().as_slice(), &mut b.words[..1]))?;
        r.run(copy(rounds.hit_bound().as_slice(), &mut b.words[1..2]))
    });
    assert_eq!((cells[0], words[0], words[1]), (7.0, 3, 1));
}

#[test]
fn a_loop_that_asks_first_may_not_run() {
    for (first, rounds) in [(10.0, 6), (4.5, 1), (4.0, 0)] {
        let (cells, words) = both(&mut bench(), &[first], |b, r| {
            let more = above(b.cells.at(0), baked(4.0));
            let rounds =
                r.repeat_while(more, unbounded(), |r| r.run(b.k.add(baked(-1.0), &b.one, b.cells.at_mut(0))))?;
            r.run(copy(rounds.count().as_slice(), &mut b.words[..1]))
        });
        assert_eq!((cells[0], words[0]), (first - rounds as f32, rounds));
    }
}

#[test]
fn a_counted_loop_runs_as_often_as_a_slot_or_a_scalar_says() {
    let mut b = bench();
    let (times, stream) = (Slot::new(5u32), b.stream.clone());
    let Bench { device, k, one, cells, .. } = &mut b;
    let mut graph = device
        .record(|r| {
            r.repeat_times(&times, |r| {
                r.run(k.add(baked(1.0), one, cells.at_mut(0)))?;
                // Another round within each: as many as the number of the round.
                let round = r.round()?;
                r.repeat_times(&*round, |r| r.run(k.add(baked(1.0), one, cells.at_mut(1)))).map(drop)
            })
            .map(drop)
        })
        .unwrap();
    for (count, sum) in [(5, 10.0), (0, 0.0), (3, 3.0)] {
        times.set(count);
        stream.write(cells, &[0.0; CELLS]).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&cells[..2]).unwrap(), [count as f32, sum]);
    }
}

#[test]
fn a_branch_runs_one_of_its_bodies() {
    for (mut bench, flag) in [0.0, 1.0, -3.0].into_iter().flat_map(|flag| benches().map(|bench| (bench, flag))) {
        let (cells, _) = both(&mut bench, &[flag], |b, r| {
            let mut t = r.alloc::<f32>(1)?;
            r.when(nonzero(b.cells.at(0)), |r| r.run(fill(&mut t, baked(7.0))))?
                .otherwise(|r| r.run(fill(&mut t, baked(9.0))))?;
            // Both wrote it.
            r.run(copy(&t, &mut b.cells[1..2]))?;
            r.when(below(b.cells.at(0), baked(0.0)), |r| r.run(fill(&mut b.cells[2..3], baked(1.0))))?;
            Ok(())
        });
        let expected = [if flag == 0.0 { 9.0 } else { 7.0 }, if flag < 0.0 { 1.0 } else { 0.0 }];
        assert_eq!(cells[1..3], expected);
    }
}

#[test]
fn what_one_branch_writes_is_not_written_behind_it() {
    let b = bench();
    let mut y = b.device.zeros::<f32>(1).unwrap();
    let refused = b.device.record(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f32>(1)?;
        r.when(nonzero(b.cells.at(0)), |r| r.run(fill(&mut t, baked(7.0))))?;
        r.run(copy(&t, &mut y))
    });
    let error = refused.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UninitTemp { branch: Some(_), .. }));
    assert!(error.to_string().contains("a body of `when` at"), "{error}");
}

#[test]
fn a_profile_tells_how_often_what_is_inside_ran() {
    let mut b = bench();
    let stream = b.stream.clone();
    let Bench { device, k, one, cells, .. } = &mut b;
    let mut graph = device
        .record(|r| {
            r.repeat_times(baked(5), |r| r.run(k.add(baked(1.0), one, cells.at_mut(0))))?;
            r.when(nonzero(cells.at(7)), |r| r.run(fill(&mut cells[1..2], baked(1.0)))).map(drop)
        })
        .unwrap();
    let profile = graph.profile(&stream).unwrap();
    let ran = |name: &str| profile.ops.iter().filter(|op| op.name == name).map(|op| op.runs).collect::<Vec<_>>();
    assert_eq!((ran("add"), ran("fill")), (vec![5], vec![0]));
    assert!(profile.critical_path.iter().all(|&op| profile.ops[op].inside.is_none()));
    let (of_loop, of_branch) = (profile.rounds(profile.critical_path[1]), profile.rounds(profile.ops.len() - 2));
    assert_eq!((of_loop, of_branch), (Some(5), None));
    let text = profile.to_string();
    assert!(text.contains("runs") && text.contains("  add") && text.contains("none"), "{text}");
    assert!(text.contains("5 rounds of "), "{text}");
    assert_eq!(stream.read(&cells[..2]).unwrap(), [5.0, 0.0]);
}

#[test]
fn a_report_shows_what_is_inside() {
    let b = bench();
    let mut y = b.device.zeros::<f32>(4).unwrap().named("y");
    let report = b
        .device
        .graph()
        .inspect(|r: &mut Recorder<'_>| {
            r.when(nonzero(b.cells.at(0)), |r| r.run(fill(&mut y, baked(1.0))))?;
            Ok(())
        })
        .unwrap();
    let inside: Vec<Option<usize>> = report.nodes.iter().map(|node| node.inside.map(|inside| inside.node)).collect();
    assert_eq!(inside, [None, None, Some(1)]);
    assert!(report.nodes[1].warnings[0].contains("its body is small"), "{:?}", report.nodes[1].warnings);
    assert!(report.to_string().contains("\n2     fill      fill  1"), "{report}");
    assert!(report.to_dot().contains("subgraph cluster_0"), "{}", report.to_dot());
}

#[test]
fn a_switch_runs_the_body_of_its_number_or_none() {
    for (mut bench, index) in (0..6u32).flat_map(|index| benches().map(|bench| (bench, index))) {
        let (cells, _) = both(&mut bench, &[], |b, r| {
            r.run(fill(&mut b.words[7..8], baked(index)))?;
            let (words, cells) = (&mut b.words, &mut b.cells);
            let index = words.share();
            r.switch(index.at(7), 4, |r, case| {
                // What it looks at is another case's number from here on: it has been decided.
                r.run(fill(&mut words[7..8], baked(case + 1)))?;
                r.run(fill(&mut cells[case as usize..][..1], baked(1.0)))
            })
        });
        let expected: Vec<f32> = (0..4).map(|case| f32::from(case == index)).collect();
        assert_eq!(cells[..4], expected);
    }
}

#[test]
fn a_round_is_left_in_its_middle() {
    let (cells, words) = both(&mut bench(), &[], |b, r| {
        let rounds = r.repeat(up_to(baked(100)), |r| {
            r.run(b.k.add(baked(1.0), &b.one, b.cells.at_mut(0)))?;
            r.leave_if(at_least(b.cells.at(0), baked(5.0)))?;
            r.run(b.k.add(baked(1.0), &b.one, b.cells.at_mut(1)))?;
            r.leave_if(equal(b.cells.at(1), baked(99.0)))?;
            r.run(b.k.add(baked(1.0), &b.one, b.cells.at_mut(2)))?;
            Ok(differs(b.cells.at(2), baked(50.0)))
        })?;
        r.run(copy(rounds.count().as_slice(), &mut b.words[..1]))?;
        r.run(b.k.add(baked(1.0), &b.one, b.cells.at_mut(3)))
    });
    assert_eq!((&cells[..4], words[0]), (&[5.0, 4.0, 4.0, 1.0][..], 5));
}

#[test]
fn bodies_nest_eight_deep() {
    fn down(b: &mut Bench, r: &mut Recorder<'_>, depth: usize) -> Result<()> {
        if depth == 0 {
            return r.run(b.k.add(baked(1.0), &b.one, b.cells.at_mut(0)));
        }
        match depth % 4 {
            0 => r.when(zero(b.cells.at(7)), |r: &mut Recorder<'_>| down(b, r, depth - 1)).map(drop),
            1 => r.repeat_times(baked(2), |r: &mut Recorder<'_>| down(b, r, depth - 1)).map(drop),
            2 => r.switch(baked(1), 2, |r, case| if case == 1 { down(b, r, depth - 1) } else { Ok(()) }),
            _ => r
                .repeat(up_to(baked(3)), |r: &mut Recorder<'_>| {
                    down(b, r, depth - 1)?;
                    Ok(zero(b.cells.at(7)))
                })
                .map(drop),
        }
    }
    for mut bench in benches() {
        let (cells, _) = both(&mut bench, &[], |b, r| down(b, r, 10));
        assert_eq!(cells[0], 2.0 * 3.0 * 2.0 * 3.0 * 2.0);
    }
}

#[test]
fn conditions_combine() {
    for (x, y) in [(0.0, 0.0), (0.0, 5.0), (5.0, 0.0), (5.0, 5.0)] {
        let limit = Slot::new(3.0);
        let (cells, _) = both(&mut bench(), &[x, y], |b, r| {
            let big = |cell: usize| above(b.cells.at(cell), &limit);
            let all = [big(0) & big(1), big(0) | big(1), !big(0) & big(1), !(big(0) | big(1))];
            for (number, condition) in all.into_iter().enumerate() {
                r.when(condition, |r| r.run(fill(&mut b.cells[2 + number..][..1], baked(1.0))))?;
            }
            Ok(())
        });
        let (p, q) = (x > 3.0, y > 3.0);
        let expected: Vec<f32> = [p && q, p || q, !p && q, !(p || q)].map(|holds| f32::from(u8::from(holds))).to_vec();
        assert_eq!(cells[2..6], expected, "{x} {y}");
    }
}

#[test]
fn a_body_with_many_temps_takes_the_bytes_of_one_round() {
    let b = bench();
    let device = &b.device;
    let record = |rounds: u32| {
        let mut y = device.zeros::<f32>(1000).unwrap();
        let graph = device.record(|r: &mut Recorder<'_>| {
            r.repeat_times(baked(rounds), |r: &mut Recorder<'_>| {
                let mut last = r.alloc::<f32>(1000)?;
                r.run(fill(&mut last, baked(1.0)))?;
                for _ in 0..20 {
                    let mut next = r.alloc::<f32>(1000)?;
                    r.run(copy(&last, &mut next))?;
                    last = next;
                }
                r.run(b.k.saxpy(baked(1.0), &last, &mut y))
            })
            .map(drop)
        });
        graph.unwrap().memory().arena
    };
    assert_eq!(record(1), record(1000));
    // Two alive at a time, and the state of the loop.
    assert!(record(7) <= 2 * 4096 + 256, "{}", record(7));
}

#[test]
fn a_graph_with_control_flow_is_part_of_a_larger_one() {
    let mut b = bench();
    let stream = b.stream.clone();
    let Bench { device, k, one, cells, .. } = &mut b;
    let inner = device
        .record(|r| {
            let mut t = r.alloc::<f32>(1)?;
            r.run(fill(&mut t, baked(1.0)))?;
            r.repeat_times(baked(3), |r| {
                let mut u = r.alloc::<f32>(1)?;
                r.run(copy(&t, &mut u))?;
                r.run(k.saxpy(baked(2.0), &u, &mut cells[..1]))
            })
            .map(drop)
        })
        .unwrap();
    let mut outer = device
        .record(|r| {
            r.repeat_times(baked(2), |r| r.run(inner.as_op()))?;
            r.run(inner.as_op())?;
            r.run(k.add(baked(1.0), one, cells.at_mut(1)))
        })
        .unwrap();
    outer.launch(&stream).unwrap();
    assert_eq!(stream.read(&cells[..2]).unwrap(), [18.0, 1.0]);
}

#[test]
fn what_both_sides_of_a_branch_write_is_written_in_a_larger_graph_too() {
    for mut b in benches() {
        let stream = b.stream.clone();
        let Bench { device, cells, .. } = &mut b;
        let inner = device
            .record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<f32>(1)?;
                r.when(nonzero(cells.at(0)), |r| r.run(fill(&mut t, baked(7.0))))?
                    .otherwise(|r| r.run(fill(&mut t, baked(9.0))))?;
                r.run(copy(&t, &mut cells[1..2]))
            })
            .unwrap();
        let mut outer = device.record(|r: &mut Recorder<'_>| r.run(inner.as_op())).unwrap();
        outer.launch(&stream).unwrap();
        assert_eq!(stream.read(&cells[1..2]).unwrap(), [9.0]);
    }
}

#[test]
fn a_warm_up_knows_nothing_of_control_flow_that_failed() {
    let mut b = bench();
    let stream = b.stream.clone();
    let Bench { device, k, one, cells, .. } = &mut b;
    let recorded = device.graph().warmup(1).record(|r: &mut Recorder<'_>| {
        let failed = r.repeat_times(baked(2), |_: &mut Recorder<'_>| Err::<(), _>(dacapo::Error::msg("no")));
        assert!(failed.is_err());
        r.run(k.add(baked(1.0), one, cells.at_mut(0)))
    });
    recorded.unwrap().launch(&stream).unwrap();
    assert_eq!(stream.read(&cells[..1]).unwrap(), [1.0]);
}

#[test]
fn a_loop_is_recorded_again_in_place() {
    let mut b = bench();
    let stream = b.stream.clone();
    let Bench { device, k, one, cells, .. } = &mut b;
    let mut graph = device.graph().record(|r: &mut Recorder<'_>| looped(r, k, one, cells, 3, 1.0)).unwrap();
    let done = graph.rerecord(|r: &mut Recorder<'_>| looped(r, k, one, cells, 5, 2.0)).unwrap();
    assert!(done.is_updated(), "{done}");
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&cells[..1]).unwrap(), [10.0]);

    fn looped(
        r: &mut Recorder<'_>,
        k: &Kernels,
        one: &Scalar<f32>,
        cells: &mut Buffer<f32>,
        times: u32,
        by: f32,
    ) -> Result<()> {
        r.repeat_times(baked(times), |r: &mut Recorder<'_>| r.run(k.add(baked(by), one, cells.at_mut(0)))).map(drop)
    }
}

/// How the branch of a [`Shape`] compares.
#[derive(Clone, Copy)]
enum Compared {
    Above,
    Below,
    Between,
}

/// A loop and a branch behind it, in a few shapes.
#[derive(Clone, Copy)]
struct Shape {
    times: u32,
    by: f32,
    cell: usize,
    /// The branch is taken if this cell compares so with that.
    looked_at: usize,
    compared: Compared,
    with: f32,
    ops: usize,
    is_fill: bool,
    has_else: bool,
}

impl Shape {
    const PLAIN: Shape = Shape {
        times: 3,
        by: 1.0,
        cell: 0,
        looked_at: 0,
        compared: Compared::Above,
        with: 2.0,
        ops: 1,
        is_fill: false,
        has_else: false,
    };

    fn record(self, r: &mut Recorder<'_>, k: &Kernels, one: &Scalar<f32>, cells: &mut Buffer<f32>) -> Result<()> {
        r.repeat_times(baked(self.times), |r: &mut Recorder<'_>| {
            (0..self.ops).try_for_each(|_| r.run(k.add(baked(self.by), one, cells.at_mut(self.cell))))
        })?;
        let (cell, with) = (cells.at(self.looked_at), baked(self.with));
        let condition = match self.compared {
            Compared::Above => above(cell, with),
            Compared::Below => below(cell, with),
            Compared::Between => above(cell, with) & below(cell, baked(100.0)),
        };
        let when = r.when(condition, |r: &mut Recorder<'_>| match self.is_fill {
            true => r.run(fill(&mut cells[2..3], baked(9.0))),
            false => r.run(k.add(baked(9.0), one, cells.at_mut(2))),
        })?;
        match self.has_else {
            true => when.otherwise(|r: &mut Recorder<'_>| r.run(k.add(baked(7.0), one, cells.at_mut(3)))),
            false => Ok(()),
        }
    }
}

#[test]
fn a_rerecord_sets_parameters_in_bodies_and_rebuilds_for_another_shape() {
    let plain = Shape::PLAIN;
    for (what, shape, is_set, expected) in [
        ("the same", plain, true, [3.0, 0.0, 9.0, 0.0]),
        (
            "arguments, the bound and the condition",
            Shape { times: 5, by: 2.0, with: 20.0, ..plain },
            true,
            [10.0, 0.0, 0.0, 0.0],
        ),
        ("other memory", Shape { cell: 1, looked_at: 1, ..plain }, true, [0.0, 3.0, 9.0, 0.0]),
        ("other memory, so that the branch waits for nothing", Shape { cell: 1, ..plain }, false, [0.0, 3.0, 0.0, 0.0]),
        ("another comparison", Shape { compared: Compared::Below, ..plain }, true, [3.0, 0.0, 0.0, 0.0]),
        ("two comparisons", Shape { compared: Compared::Between, ..plain }, false, [3.0, 0.0, 9.0, 0.0]),
        ("an op more in a body", Shape { ops: 2, ..plain }, false, [6.0, 0.0, 9.0, 0.0]),
        ("another kind of op in a body", Shape { is_fill: true, ..plain }, false, [3.0, 0.0, 9.0, 0.0]),
        ("a body more", Shape { has_else: true, with: 20.0, ..plain }, false, [3.0, 0.0, 0.0, 7.0]),
    ] {
        let mut b = bench();
        let stream = b.stream.clone();
        let Bench { device, k, one, cells, .. } = &mut b;
        let mut graph = device.record(|r: &mut Recorder<'_>| plain.record(r, k, one, cells)).unwrap();
        let done = graph.rerecord(|r: &mut Recorder<'_>| shape.record(r, k, one, cells)).unwrap();
        assert_eq!(done.is_updated(), is_set, "{what}: {done}");
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&cells[..4]).unwrap(), expected, "{what}");
        assert_eq!(device.findings().len(), 0, "{what}: {:?}", device.findings());
    }
}

/// What the software device says of a loop that never ends; `cell` is where its body counts, and its condition is that the
/// first cell is below 4.
fn endless(cell: usize) -> String {
    let mut b = bench_on(Software::new().options(|options| options.rounds_max = 50).open().unwrap());
    let stream = b.stream.clone();
    let Bench { device, k, one, cells, .. } = &mut b;
    let solve = |r: &mut Recorder<'_>| {
        r.repeat(unbounded(), |r: &mut Recorder<'_>| {
            r.run(k.add(baked(-1.0), one, cells.at_mut(cell)).label("step"))?;
            Ok(below(cells.at(0), baked(4.0)))
        })
        .map(drop)
    };
    let mut graph = device.record(solve.label("solve")).unwrap();
    let ended = graph.launch(&stream).and_then(|_| stream.synchronize());
    assert!(matches!(ended.unwrap_err().kind(), ErrorKind::Lost { .. }));
    let findings = device.findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings[0].to_string()
}

#[test]
fn a_loop_that_never_ends_is_reported_with_the_ops_that_could_end_it() {
    let wrong_way = endless(0);
    let elsewhere = endless(1);
    for report in [&wrong_way, &elsewhere] {
        for part in [
            "error[endless-while]",
            "after 50 rounds",
            "flow.rs:",
            "op `repeat` (labelled `solve`) sets the condition",
            "condition 1 (handle 0x",
            "op `repeat` (labelled `solve`) reads byte 0 of `cells` (32 bytes",
            "`up_to(..)`",
        ] {
            assert!(report.contains(part), "{part} is not in\n{report}");
        }
    }
    assert!(wrong_way.contains("can be written by `saxpy` (op `add`, labelled `solve/step`, "), "{wrong_way}");
    assert!(elsewhere.contains("which nothing in the body writes: each round decides the same"), "{elsewhere}");
}

#[test]
fn a_way_out_needs_a_loop() {
    let b = bench();
    let refused = b.device.record(|r: &mut Recorder<'_>| r.leave_if(nonzero(b.cells.at(0))));
    assert!(matches!(refused.unwrap_err().kind(), ErrorKind::NoLoop { call: "leave_if" }));
    let refused = b.device.record(|r: &mut Recorder<'_>| {
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            r.when(nonzero(b.cells.at(0)), |r: &mut Recorder<'_>| r.leave_if(nonzero(b.cells.at(1)))).map(drop)
        })
        .map(drop)
    });
    assert!(matches!(refused.unwrap_err().kind(), ErrorKind::NoLoop { call: "leave_if" }));
    let refused = b.device.record(|r: &mut Recorder<'_>| r.round().map(drop));
    assert!(matches!(refused.unwrap_err().kind(), ErrorKind::NoLoop { call: "round" }));
}

#[test]
fn a_temp_of_a_body_is_not_looked_at_behind_it() {
    let b = bench();
    let refused = b.device.record(|r: &mut Recorder<'_>| {
        let mut kept = None;
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            let mut t = r.alloc_scalar::<u32>()?;
            r.run(fill(t.as_mut_slice(), baked(1)))?;
            kept = Some(nonzero(&t));
            Ok(())
        })?;
        r.when(kept.unwrap(), |_: &mut Recorder<'_>| Ok(())).map(drop)
    });
    assert!(matches!(refused.unwrap_err().kind(), ErrorKind::TempOfBody));
}

#[test]
fn a_body_that_fails_leaves_no_trace() {
    let mut b = bench();
    let stream = b.stream.clone();
    let Bench { device, k, one, cells, .. } = &mut b;
    let mut graph = device
        .record(|r: &mut Recorder<'_>| {
            let failed = r.repeat(unbounded(), |r: &mut Recorder<'_>| {
                r.run(k.add(baked(1.0), one, cells.at_mut(0)))?;
                r.leave_if(nonzero(cells.at(0)))?;
                r.when(nonzero(cells.at(0)), |_: &mut Recorder<'_>| Err(dacapo::Error::msg("no")))?;
                Ok(nonzero(cells.at(0)))
            });
            assert!(failed.is_err());
            r.run(k.add(baked(1.0), one, cells.at_mut(1)))
        })
        .unwrap();
    assert_eq!(graph.len(), 1);
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&cells[..2]).unwrap(), [0.0, 1.0]);
}

#[test]
fn a_switch_without_cases_does_nothing() {
    for mut bench in benches() {
        let (cells, _) = both(&mut bench, &[3.0], |b, r| {
            r.switch(b.words.at(0), 0, |_, _| unreachable!("there is no case"))?;
            r.run(b.k.add(baked(1.0), &b.one, b.cells.at_mut(0)))
        });
        assert_eq!(cells[0], 4.0);
    }
}

#[test]
fn the_same_recording_gives_the_same_report_whatever_the_numbers_of_its_memory() {
    let b = bench();
    let report = |x: &Buffer<f32>, y: &mut Buffer<f32>, z: &mut Buffer<f32>| {
        let op = |r: &mut Recorder<'_>| {
            r.when(nonzero(x.at(0)), |r| r.run(copy(x, y)).and_then(|()| r.run(copy(x, z)))).map(drop)
        };
        let report = b.device.graph().inspect(op).unwrap();
        let arguments = |node: &dacapo::inspect::Node| format!("{:?}", node.arguments);
        report.nodes.iter().map(arguments).collect::<Vec<_>>()
    };
    let mut all: Vec<Buffer<f32>> =
        (0..3).map(|number| b.device.zeros(4).unwrap().named(format!("buffer {number}"))).collect();
    let [x, y, z] = &mut all[..] else { unreachable!("three") };
    let one = report(x, y, z);
    // The same roles in the reverse order of their numbers.
    assert_eq!(one, report(z, y, x));
}

#[test]
fn a_condition_of_too_many_parts_is_refused_where_it_is_used() {
    let b = bench();
    let one = || nonzero(b.cells.at(0));
    let record = |condition| b.device.record(|r: &mut Recorder<'_>| r.when(condition, |_| Ok(())).map(drop));
    let seven = (0..6).fold(one(), |all, _| all & one()); // 13 steps, 7 constants
    assert!(record(seven).is_ok());
    // A million: neither making it nor dropping it needs a stack of that depth.
    let million = (0..1_000_000).fold(one(), |all, _| !all);
    let error = record(million).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
    assert!(format!("{error:#}").contains("a kernel of yours"), "{error:#}");
}

#[test]
fn a_body_with_a_branch_in_it_is_a_line() {
    let mut b = bench();
    let (words, device) = (b.words.share(), b.device.clone());
    let mut record = |inner: bool| {
        let op = |r: &mut Recorder<'_>| {
            let (left, right) = b.words.split_at_mut(4);
            r.repeat_times(baked(2), |r| {
                r.run(fill(&mut left[..1], baked(1)))?;
                if inner {
                    r.when(nonzero(words.at(1)), |r| r.run(fill(&mut left[2..3], baked(1))))?;
                }
                r.run(fill(&mut right[..1], baked(1)))
            })
            .map(drop)
        };
        device.graph().inspect(op).unwrap()
    };
    // The loop's begin and node, then in its body two fills that nothing holds together, and the end of a round.
    let pairs = |report: dacapo::inspect::Report| report.edges.iter().map(|(a, b, _)| (*a, *b)).collect::<Vec<_>>();
    assert_eq!(pairs(record(false)), [(0, 1)]);
    // The same with a decision (3), its branch (4) and what is inside of that (5): one behind the other.
    assert_eq!(pairs(record(true)), [(0, 1), (2, 3), (3, 4), (4, 6), (6, 7)]);
}

#[test]
fn a_condition_of_another_device_or_recording_is_refused() {
    let (mut b, other) = (bench(), Device::software().unwrap());
    let device = b.device.clone();
    let theirs = other.scalar(1u32).unwrap();
    let mut using = |condition: &Condition| {
        let mut op =
            |r: &mut Recorder<'_>| r.when(condition.clone(), |r| r.run(fill(&mut b.words[..1], baked(1)))).map(drop);
        let (recorded, run) = (b.device.record(&mut op).unwrap_err(), b.stream.run(&mut op).unwrap_err());
        assert_eq!(recorded.kind().word(), run.kind().word());
        recorded
    };
    let error = using(&nonzero(&theirs));
    assert!(matches!(error.kind(), ErrorKind::WrongDevice { .. }), "{error:?}");
    // A condition holds no borrow, so it can leave a recording; what it looks at stays there.
    let mut kept = None;
    let keep = |r: &mut Recorder<'_>| {
        let mut temp = r.alloc_scalar::<u32>()?;
        r.run(fill(temp.as_mut_slice(), baked(1)))?;
        kept = Some(nonzero(&temp));
        Ok(())
    };
    let recorded = device.record(keep).unwrap();
    let error = using(&kept.unwrap());
    assert_eq!(*error.kind(), ErrorKind::ForeignTemp, "{error:?}");
    drop(recorded);
}
