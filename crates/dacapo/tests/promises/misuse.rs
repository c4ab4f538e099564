//! What happens to a program that does something else than it should, row by row of the table of holes looked for.

use std::sync::atomic::{AtomicBool, Ordering};

use dacapo_driver::Driver;

use dacapo::op::from_fn;
use dacapo::raw::foreign;
use dacapo::{Buffer, ErrorKind, Op, Recorder, Slot, baked, copy, download, fill, grid, inspect, upload};

use crate::kept_by_the_compiler;
use crate::kit::{Bench, benches, kind, panics, set_all};

#[test]
fn plain_numbers_are_compile_errors() {
    let programs = ["number_recorded", "number_variable", "number_in_fill", "number_eager", "number_in_raw_kernel"];
    kept_by_the_compiler(&programs.map(|name| (name, "E0277")));
}

#[test]
fn the_doors_that_the_macro_has_are_not_for_safe_code() {
    kept_by_the_compiler(&[("module_loaded_by_hand", "E0133"), ("macro_condition_is_not_unsafe", "E0133")]);
    kept_by_the_compiler(&[("reads_of_ones_own", "E0277"), ("unsafe_forbidden_beside_kernels", "unsafe_code")]);
}

#[test]
fn host_slices_in_a_recording_are_compile_errors() {
    kept_by_the_compiler(&[("upload_plain_slice", "E0277"), ("upload_vec", "E0277"), ("download_into_vec", "E0277")]);
}

#[test]
fn temps_that_leave_their_recording_are_compile_errors() {
    kept_by_the_compiler(&[
        ("temp_returned", "none"),
        ("temp_scalar_returned", "none"),
        ("temp_slice_returned", "E0515"),
    ]);
    kept_by_the_compiler(&[("temp_stored_outside", "E0521"), ("temp_of_outer_stored_in_inner", "E0521")]);
    kept_by_the_compiler(&[("temp_from_inner_op", "none"), ("temp_to_thread", "E0277"), ("temp_clone", "E0599")]);
}

#[test]
fn recorders_that_leave_their_recording_are_compile_errors() {
    kept_by_the_compiler(&[("recorder_kept", "E0521"), ("recorder_to_thread", "E0277")]);
    kept_by_the_compiler(&[("recorders_swapped", "E0521"), ("outer_recorder_in_inner_op", "E0501")]);
}

#[test]
fn one_buffer_read_and_written_by_an_op_is_a_compile_error() {
    kept_by_the_compiler(&[("read_and_write_same", "E0502"), ("write_same_twice", "E0499")]);
    kept_by_the_compiler(&[("read_and_write_overlapping", "E0502"), ("then_write_and_read", "E0502")]);
}

#[test]
fn the_same_memory_read_and_written_through_share_is_an_error_when_recorded() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let mut y = device.buffer(&[1u32, 2, 3, 4]).unwrap();
    let shared = y.share();
    assert!(matches!(kind(device.record(copy(&shared[1..3], &mut y[..2]))), ErrorKind::Overlap { .. }));
    assert!(matches!(kind(stream.run(copy(&shared, &mut y))), ErrorKind::Overlap { .. }));
    // Ranges that do not meet are no conflict.
    stream.run(copy(&shared[2..], &mut y[..2])).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [3, 4, 3, 4]);
}

#[test]
fn a_rebound_slice_that_meets_another_or_a_captured_one_is_an_error_at_launch() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let x = device.buffer(&[1u32, 2]).unwrap();
    let mut y = device.zeros::<u32>(2).unwrap();
    let mut captured = device.buffer(&[5u32; 4]).unwrap();
    let mut graph = device
        .graph()
        .record_into(&x[..], &mut y[..], |r, i, o| {
            r.run(copy(i, o))?;
            r.run(k.bump(captured.at_mut(1)))
        })
        .unwrap();
    let shared = captured.share();
    assert!(matches!(kind(graph.launch(&stream, &x, &mut captured[..2])), ErrorKind::Overlap { .. }));
    assert!(matches!(kind(graph.launch(&stream, &shared[1..3], &mut y)), ErrorKind::Overlap { .. }));
    let both = y.share();
    assert!(matches!(kind(graph.launch(&stream, &both, &mut y)), ErrorKind::Overlap { .. }));
    assert!(matches!(kind(graph.launch(&stream, &x[..1], &mut y)), ErrorKind::Length { .. }));
    assert_eq!(stream.read(&captured).unwrap(), [5; 4], "nothing was launched");
    // What the captured memory does not meet may be bound, also from the same allocation.
    graph.launch(&stream, &shared[2..], &mut y).unwrap();
    assert_eq!((stream.read(&y).unwrap(), stream.read(&captured).unwrap()), (vec![5, 5], vec![5, 6, 5, 5]));
}

#[test]
fn stand_ins_that_escape_and_other_types_at_launch_are_compile_errors() {
    kept_by_the_compiler(&[("stand_in_escapes", "E0521"), ("stand_in_output_escapes", "E0521")]);
    kept_by_the_compiler(&[("graph_into_wrong_type", "E0308"), ("graph_into_overlap", "E0502")]);
}

#[test]
fn a_slot_that_breaks_a_condition_after_recording_launches_nothing() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let x = device.buffer(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
        let mut y = device.buffer(&[-1.0f32; 2]).unwrap();
        let mut steps = device.scalar(0u32).unwrap();
        let offset = Slot::new(0u32);
        let mut graph = device.record(k.bump(&mut steps).zip(k.window(&offset, &x, &mut y))).unwrap();
        for outside in [3, 4, u32::MAX] {
            offset.set(outside);
            let error = graph.launch(stream).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Requires { .. }));
            assert!(error.op() == "window" && error.location().is_some_and(|at| at.file().ends_with("misuse.rs")));
        }
        assert_eq!((stream.read(&y).unwrap(), steps.get(stream).unwrap()), (vec![-1.0; 2], 0));
        offset.set(2);
        graph.launch(stream).unwrap();
        assert_eq!((stream.read(&y).unwrap(), steps.get(stream).unwrap()), (vec![3.0, 4.0], 1));
        bench.expect_no_findings();
    }
}

#[test]
fn a_slot_drives_geometry_and_derived_parameters() {
    let Bench { device, stream, k } = Bench::seeded(5);
    let mut y = device.zeros::<u32>(100).unwrap();
    let len = Slot::new(1u32);
    let mut graph = device.record(k.put_first(baked(9), &len, &mut y)).unwrap();
    for n in [1, 33, 100, 40] {
        stream.run(fill(&mut y, baked(0))).unwrap();
        len.set(n);
        graph.launch(&stream).unwrap();
        let written = stream.read(&y).unwrap().iter().filter(|&&element| element == 9).count();
        assert_eq!(written, n as usize);
    }
}

#[test]
fn a_launch_takes_one_snapshot_of_its_slots() {
    let Bench { device, stream, k } = &Bench::seeded(0);
    let (mut a, mut b) = (device.zeros::<u32>(1).unwrap(), device.zeros::<u32>(1).unwrap());
    let value = Slot::new(0u32);
    let mut graph = device.record(k.put(&value, &mut a).zip(k.put(&value, &mut b))).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut next = 0u32;
            while !stop.load(Ordering::Relaxed) {
                next += 1;
                value.set(next);
            }
        });
        let (mut last, mut changes, begun) = (0, 0, std::time::Instant::now());
        while changes < 100 {
            graph.launch(stream).unwrap();
            let (seen, other) = (stream.read(&a).unwrap()[0], stream.read(&b).unwrap()[0]);
            assert_eq!(seen, other, "two nodes of one launch saw two values");
            assert!(seen >= last, "a launch saw an older value than the one before");
            changes += u32::from(seen != last);
            last = seen;
            if begun.elapsed().as_secs() > 60 {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(changes >= 2, "the other thread hardly set it: nothing was tested");
    });
}

#[test]
fn another_geometry_is_an_error_unless_the_kernel_allows_any() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let mut y = device.zeros::<u32>(70).unwrap();
    let grid = grid::exact([2, 1, 1], [32, 1, 1]);
    assert_eq!(kind(device.record(k.put(baked(1), &mut y).with_grid(grid))), ErrorKind::GridFixed);
    assert_eq!(kind(stream.run(fill(&mut y, baked(1)).with_grid(grid))), ErrorKind::GridUnused);
    let mut other = device.zeros::<u32>(70).unwrap();
    let two = k.put_any(baked(1), &mut y).then(k.put_any(baked(1), &mut other));
    assert_eq!(kind(stream.run(two.with_grid(grid))), ErrorKind::GridUnused, "it would be the first one's alone");
    stream.run(k.put_any(baked(1), &mut y).with_grid(grid)).unwrap();
    let read = stream.read(&y).unwrap();
    assert_eq!(read.iter().sum::<u32>(), 64, "two blocks of 32 threads");
}

#[test]
fn a_condition_does_not_overflow() {
    assert!(grid::within(2u32, 2, 4) && !grid::within(3u32, 2, 4));
    assert!(!grid::within(u64::MAX, 1, 4) && !grid::within(usize::MAX, 4, 4) && !grid::within(-1i32, 1, 4));
    let Bench { device, k, .. } = Bench::seeded(0);
    let x = device.zeros::<f32>(4).unwrap();
    let mut y = device.zeros::<f32>(4).unwrap();
    assert!(matches!(kind(device.record(k.window(baked(u32::MAX - 1), &x, &mut y))), ErrorKind::Requires { .. }));
}

#[test]
fn a_derived_parameter_is_never_truncated() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let mut y = device.zeros::<u32>(300).unwrap();
    match kind(device.record(k.put_few(baked(1), &mut y))) {
        ErrorKind::Derived { param: "n", values } => assert!(values.contains("300"), "{values}"),
        other => panic!("{other:?}"),
    }
    stream.run(k.put_few(baked(1), &mut y[..255])).unwrap();
    assert_eq!(stream.read(&y).unwrap().iter().sum::<u32>(), 255);
}

#[test]
fn outputs_read_while_the_next_replay_overwrites_them_are_compile_errors() {
    kept_by_the_compiler(&[("output_across_launch", "E0499"), ("outputs_across_launch", "E0502")]);
    kept_by_the_compiler(&[("launched_across_launch", "E0499"), ("module_output_across_call", "E0499")]);
}

/// Allowed on purpose: `share` opts out of the lending, and the contents are those of the latest launch.
/// Every two arguments of an op are compared, not only neighbours.
#[test]
fn overlaps_are_found_between_any_two_arguments() {
    let Bench { device, stream, k: _ } = &Bench::seeded(0);
    let (mut y, mut z) = (device.zeros::<u32>(8).unwrap(), device.zeros::<u32>(8).unwrap());
    let (a, b, c) = (y.share(), device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
    // SAFETY: nothing is done with the addresses.
    let far = unsafe { foreign((&a[..4], &b[..], &c[..]), &mut y[2..6], |_, _, _| Ok(())) };
    assert!(matches!(kind(device.record(far)), ErrorKind::Overlap { .. }));
    // SAFETY: as above.
    let farther = unsafe { foreign((&a[..4], &b[..], &c[..]), (&mut z[..], &mut y[3..4]), |_, _, _| Ok(())) };
    assert!(matches!(kind(stream.run(farther)), ErrorKind::Overlap { .. }));
    // SAFETY: as above.
    let beside = unsafe { foreign((&a[..4], &b[..], &c[..]), (&mut z[..], &mut y[4..]), |_, _, _| Ok(())) };
    stream.run(beside).unwrap();
}

#[test]
fn a_shared_output_outlives_the_lending_and_the_graph() {
    for Bench { device, stream, k } in benches() {
        let mut graph = device
            .record(|r| {
                let mut out = r.output::<u32>(2)?;
                r.run(k.bump(out.at_mut(0)))?;
                Ok(out)
            })
            .unwrap();
        let shared = graph.outputs().share();
        assert_eq!(stream.read(&shared).unwrap(), [0, 0]);
        for launch in 1..4 {
            graph.launch(&stream).unwrap();
            assert_eq!(stream.read(&shared).unwrap(), [launch, 0]);
        }
        graph.launch(&stream).unwrap();
        drop(graph);
        let stranger = device.buffer(&[7u32; 2]).unwrap();
        assert_eq!((stream.read(&shared).unwrap(), stream.read(&stranger).unwrap()), (vec![4, 0], vec![7, 7]));
    }
}

#[test]
fn an_op_that_is_never_run_is_a_lint() {
    kept_by_the_compiler(&[("op_unused", "unused_must_use")]);
}

#[test]
fn ops_that_outlive_or_share_what_they_touch_are_compile_errors() {
    kept_by_the_compiler(&[("op_outlives_buffer", "E0597"), ("op_used_twice", "E0382")]);
    kept_by_the_compiler(&[("buffer_used_while_described", "E0502"), ("scalar_set_while_described", "E0502")]);
    kept_by_the_compiler(&[("buffer_dropped_while_described", "E0505"), ("host_set_while_described", "E0502")]);
}

/// Every call that would act now, inside a recording and inside an eager closure.
#[test]
fn eager_calls_inside_a_recording_are_errors() {
    let Bench { device, stream, k } = &Bench::seeded(0);
    let mut y = device.zeros::<u32>(4).unwrap();
    let x = device.zeros::<u32>(4).unwrap();
    let mut scalar = device.scalar(1u32).unwrap();
    let mut host = device.host(&[0u32; 4]).unwrap();
    let mut graph = device.record(k.put(baked(1), &mut y)).unwrap();
    let mut into = device.graph().record_into(&x[..], &mut y[..], |r, i, o| r.run(copy(i, o))).unwrap();
    let mut check = |_: &mut Recorder<'_>| -> dacapo::Result<()> {
        let mut refused = 0;
        let mut expect = |kind: ErrorKind| {
            assert!(matches!(kind, ErrorKind::EagerInRecording { .. }), "{kind:?}");
            refused += 1;
        };
        expect(kind(stream.read(&x)));
        expect(kind(stream.write(&mut y, &[0; 4])));
        expect(kind(stream.run(k.put(baked(2), &mut y))));
        expect(kind(stream.synchronize()));
        expect(kind(stream.is_done()));
        expect(kind(device.synchronize()));
        expect(kind(graph.launch(stream)));
        expect(kind(graph.submit(stream)));
        expect(kind(graph.preload(stream)));
        expect(kind(into.launch(stream, &x, &mut y)));
        expect(kind(scalar.set(stream, 2)));
        expect(kind(scalar.get(stream)));
        expect(kind(host.set(&[1; 4])));
        expect(kind(host.to_vec()));
        expect(kind(device.graph().warmup(1).record(|_| Ok(()))));
        assert_eq!(refused, 15);
        Ok(())
    };
    device.record(|r: &mut Recorder<'_>| check(r)).unwrap();
    stream.run(|r: &mut Recorder<'_>| check(r)).unwrap();
    device.graph().verify(&mut check).unwrap();
    device.graph().warmup(1).record(&mut check).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [0; 4]);
    assert_eq!(scalar.get(stream).unwrap(), 1);
    graph.launch(stream).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [1; 4]);
}

/// Documented: it sees the present contents, and nothing is unsafe about it.
#[test]
fn another_thread_may_work_during_a_recording() {
    let Bench { device, stream, k } = &Bench::seeded(4);
    let mut y = device.buffer(&[3u32; 4]).unwrap();
    let shared = y.share();
    let mut other = device.zeros::<u32>(4).unwrap();
    let mut graph = device
        .record(|r| {
            r.run(k.put(baked(8), &mut y))?;
            std::thread::scope(|scope| {
                let beside = scope.spawn(|| {
                    assert_eq!(stream.read(&shared).unwrap(), [3; 4]);
                    stream.run(copy(&shared, &mut other)).unwrap();
                });
                beside.join().unwrap();
            });
            Ok(())
        })
        .unwrap();
    assert_eq!(graph.len(), 1, "what another thread does is not recorded");
    graph.launch(stream).unwrap();
    assert_eq!((stream.read(&shared).unwrap(), stream.read(&other).unwrap()), (vec![8; 4], vec![3; 4]));
}

#[test]
fn a_temp_of_an_outer_recording_is_refused_in_an_inner_one() {
    let Bench { device, .. } = Bench::seeded(0);
    let mut y = device.zeros::<u32>(4).unwrap();
    device
        .record(|outer| {
            let mut t = outer.alloc::<u32>(4)?;
            outer.run(fill(&mut t, baked(1)))?;
            assert_eq!(kind(device.record(copy(&t, &mut y))), ErrorKind::ForeignTemp);
            assert_eq!(kind(device.record(fill(&mut t, baked(2)))), ErrorKind::ForeignTemp);
            outer.run(copy(&t, &mut y))
        })
        .unwrap();
}

#[test]
fn a_temp_that_nothing_has_written_cannot_be_read() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let mut y = device.zeros::<f32>(4).unwrap();
    let mut host = device.host(&[0f32; 4]).unwrap();
    let refused = |kind: ErrorKind| assert!(matches!(kind, ErrorKind::UninitTemp { .. }), "{kind:?}");
    device
        .record(|r| {
            let mut t = r.alloc::<f32>(4)?;
            refused(kind(r.run(copy(&t, &mut y))));
            refused(kind(r.run(k.window(baked(0), &t, &mut y))));
            refused(kind(r.run(download(&t, &mut host))));
            r.run(fill(&mut t[..2], baked(1.0)))?;
            refused(kind(r.run(copy(&t[2..], &mut y[..2]))));
            // Written is a matter of bytes.
            refused(kind(r.run(copy(&t[1..3], &mut y[..2]))));
            r.run(copy(&t[..2], &mut y[..2]))
        })
        .unwrap();
    refused(kind(stream.run(from_fn(|r| {
        let t = r.alloc::<f32>(4)?;
        r.run(copy(&t, &mut y))
    }))));
}

#[test]
fn a_failed_op_whose_error_is_swallowed_leaves_no_trace() {
    for Bench { device, stream, k } in benches() {
        let x = device.zeros::<f32>(2).unwrap();
        let mut wide = device.zeros::<f32>(4).unwrap();
        let mut y = device.zeros::<u32>(4).unwrap();
        let mut t_read = device.zeros::<u32>(4).unwrap();
        let mut graph = device
            .record(|r| {
                let mut t = r.alloc::<u32>(4)?;
                let failed = r.run(|r: &mut Recorder<'_>| {
                    r.run(k.put(baked(1), &mut y))?;
                    r.run(fill(&mut t, baked(1)))?;
                    r.keep(vec![0u8; 8]);
                    r.output::<u32>(4)?;
                    r.run(k.window(baked(0), &x, &mut wide))
                });
                assert!(matches!(kind(failed), ErrorKind::Requires { .. }));
                // The temp's write is taken back too.
                assert!(matches!(kind(r.run(copy(&t, &mut t_read))), ErrorKind::UninitTemp { .. }));
                r.run(k.put(baked(2), &mut y))
            })
            .unwrap();
        assert_eq!((graph.len(), graph.memory().temps()), (1, 0));
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [2; 4]);
        stream
            .run(|r: &mut Recorder<'_>| {
                let failed = r.run(fill(&mut y, baked(7)).then(k.window(baked(0), &x, &mut wide)));
                assert!(matches!(kind(failed), ErrorKind::Requires { .. }));
                r.run(k.put(baked(3), &mut y[..2]))
            })
            .unwrap();
        assert_eq!(stream.read(&y).unwrap(), [3, 3, 2, 2]);
    }
}

#[test]
fn a_panic_in_a_closure_leaves_nothing_behind() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let mut y = device.zeros::<u32>(4).unwrap();
        let before = {
            stream.read(&y).unwrap();
            device.synchronize().unwrap();
            device.counters()
        };
        let body = |r: &mut Recorder<'_>, y: &mut Buffer<u32>| -> dacapo::Result<()> {
            let mut t = r.alloc::<u32>(4)?;
            r.run(fill(&mut t, baked(1)))?;
            r.run(k.put(baked(1), y))?;
            panic!("on purpose")
        };
        assert_eq!(panics(|| drop(device.record(|r: &mut Recorder<'_>| body(r, &mut y)))), "on purpose");
        assert_eq!(panics(|| drop(stream.run(|r: &mut Recorder<'_>| body(r, &mut y)))), "on purpose");
        let warm = || drop(device.graph().warmup(2).record(|r: &mut Recorder<'_>| body(r, &mut y)));
        assert_eq!(panics(warm), "on purpose");
        let verify = || drop(device.graph().verify(|r: &mut Recorder<'_>| body(r, &mut y)));
        assert_eq!(panics(verify), "on purpose");
        assert_eq!(stream.read(&y).unwrap(), [0; 4], "nothing ran");
        device.synchronize().unwrap();
        assert_eq!(device.counters(), before, "nothing is left");
        bench.expect_usable();
    }
}

/// The second run of a warm-up panics: what the first wrote is put back.
#[test]
fn a_panic_in_a_later_run_of_a_warm_up_restores_what_earlier_ones_wrote() {
    let bench = Bench::seeded(0);
    let Bench { device, stream, k } = &bench;
    let mut y = device.buffer(&[4u32; 4]).unwrap();
    let mut runs = 0;
    let warm = || {
        drop(device.graph().warmup(3).record(|r: &mut Recorder<'_>| {
            runs += 1;
            assert!(runs < 2, "on purpose");
            r.run(k.put(baked(1), &mut y))
        }))
    };
    assert_eq!(panics(warm), "on purpose");
    assert_eq!(stream.read(&y).unwrap(), [4; 4]);
    bench.expect_usable();
}

#[test]
fn a_panic_in_foreign_work_leaves_nothing_capturing() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let mut y = device.zeros::<u32>(4).unwrap();
        let set = set_all(bench.machine().clone(), 5);
        let panicking = move |on, (), y| -> dacapo::Result<()> {
            set(on, (), y)?;
            panic!("on purpose")
        };
        // SAFETY: it sets what is declared as written, and nothing else.
        let recorded = || drop(device.record(unsafe { foreign((), &mut y[..], panicking.clone()) }));
        assert_eq!(panics(recorded), "on purpose");
        bench.expect_usable();
        // SAFETY: as above.
        let eager = || drop(stream.run(unsafe { foreign((), &mut y[..], panicking.clone()) }));
        assert_eq!(panics(eager), "on purpose");
        bench.expect_usable();
        // What was enqueued before the panic happens, in order with what follows.
        assert_eq!(stream.read(&y).unwrap(), [5; 4]);
        let other = device.stream().unwrap();
        other.run(fill(&mut y, baked(6))).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [6; 4]);
        // An error is reported as the closure's own, not as the capture's.
        // SAFETY: it enqueues nothing.
        let failing = unsafe { foreign((), &mut y[..], |_, (), _| Err(dacapo::Error::msg("mine"))) };
        assert_eq!(kind(device.record(failing)), ErrorKind::Msg("mine".into()));
        bench.expect_usable();
    }
}

/// The closure breaks its capture, which takes the graph being built with it, and panics: nothing is destroyed twice.
#[test]
fn a_panic_in_foreign_work_whose_capture_is_broken_destroys_nothing_twice() {
    for bench in benches() {
        let Bench { device, .. } = &bench;
        let mut y = device.zeros::<u32>(4).unwrap();
        for panicking in [true, false] {
            let machine = bench.machine().clone();
            // What many libraries do at their first call.
            let work = move |_, (), _| -> dacapo::Result<()> {
                // SAFETY: the context is alive. It answers that a capture is open, and breaks that.
                assert!(!unsafe { machine.cuCtxSynchronize() }.is_success());
                assert!(!panicking, "on purpose");
                Ok(())
            };
            // SAFETY: it enqueues nothing.
            let recorded = std::panic::AssertUnwindSafe(|| device.record(unsafe { foreign((), &mut y[..], work) }));
            match std::panic::catch_unwind(recorded) {
                Ok(outcome) => assert!(matches!(kind(outcome), ErrorKind::CaptureBroken { .. })),
                Err(_) => assert!(panicking),
            }
            bench.expect_usable();
        }
        let stale =
            device.findings().into_iter().filter(|finding| finding.contains("stale-handle")).collect::<Vec<_>>();
        assert_eq!(stale, [] as [String; 0]);
    }
}

/// Host buffers, and what foreign work does beyond its declared writes, are not put back: documented.
#[test]
fn a_warm_up_leaves_device_memory_as_it_was() {
    for Bench { device, stream, k } in benches() {
        let mut weights = device.buffer(&[10u32, 20]).unwrap();
        let mut count = device.scalar(0u32).unwrap();
        let mut host = device.host(&[0u32; 2]).unwrap();
        let mut runs = 0;
        let mut graph = device
            .graph()
            .warmup(3)
            .record(|r| {
                runs += 1;
                r.run(k.bump(weights.at_mut(0)))?;
                r.run(k.count(&mut count))?;
                r.run(download(&weights, &mut host))
            })
            .unwrap();
        assert_eq!(runs, 4, "three eager runs and the recording");
        assert_eq!(stream.read(&weights).unwrap(), [10, 20]);
        assert_eq!(
            host.to_vec().unwrap(),
            [11, 20],
            "a host buffer is not put back; each run begins with what was there"
        );
        graph.launch(&stream).unwrap();
        assert_eq!((stream.read(&weights).unwrap(), count.get(&stream).unwrap()), (vec![11, 20], 1));
        let too_large = device.graph().warmup(1).warmup_cap(7).record(|r| r.run(fill(&mut weights, baked(0))));
        assert!(matches!(kind(too_large), ErrorKind::WarmupTooLarge { bytes: 8, cap: 7 }));
        assert_eq!(stream.read(&weights).unwrap(), [11, 20]);
        device.graph().warmup_unrestored(2).record(|r| r.run(k.bump(weights.at_mut(1)))).unwrap();
        assert_eq!(stream.read(&weights).unwrap(), [11, 22]);
    }
}

/// What is put back is what was written, each byte once: neither what lies between, nor what was written twice again.
#[test]
fn a_warm_up_saves_the_bytes_that_are_written_and_no_others() {
    let Bench { device, .. } = Bench::seeded(0);
    let (mut y, mut z) = (device.zeros::<u8>(100).unwrap(), device.zeros::<u8>(100).unwrap());
    let mut saved = |ranges: &[(usize, usize)]| {
        let mut body = |r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u8>(100)?;
            r.run(fill(&mut t, baked(1)))?;
            r.run(fill(&mut z[..10], baked(1)))?;
            ranges.iter().try_for_each(|&(from, to)| r.run(fill(&mut y[from..to], baked(1))))
        };
        match kind(device.graph().warmup(1).warmup_cap(0).record(&mut body)) {
            ErrorKind::WarmupTooLarge { bytes, cap: 0 } => {
                device.graph().warmup(1).warmup_cap(bytes).record(&mut body).unwrap();
                bytes - 10
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(saved(&[(4, 12), (24, 30)]), 14, "two that are apart");
    assert_eq!(saved(&[(24, 30), (4, 12), (4, 12)]), 14, "the other way round, and one twice");
    assert_eq!(saved(&[(0, 8), (6, 20), (20, 21)]), 21, "two that meet, and one beside them");
    assert_eq!(saved(&[(0, 50), (10, 20), (30, 30)]), 50, "one inside another, and one of nothing");
}

#[test]
fn kernels_memory_streams_and_graphs_of_another_device_are_refused() {
    let (here, there) = (Bench::seeded(0), Bench::seeded(0));
    let (mut y, mut away) = (here.device.zeros::<u32>(4).unwrap(), there.device.zeros::<u32>(4).unwrap());
    let mut host = there.device.host(&[0u32; 4]).unwrap();
    let wrong = |kind: ErrorKind| assert!(matches!(kind, ErrorKind::WrongDevice { .. }), "{kind:?}");
    wrong(kind(here.device.record(here.k.put(baked(1), &mut away))));
    wrong(kind(here.device.record(there.k.put(baked(1), &mut y))));
    wrong(kind(here.device.record(copy(&away, &mut y))));
    wrong(kind(here.device.record(upload(&host, &mut y))));
    wrong(kind(here.device.record(download(&y, &mut host))));
    wrong(kind(here.stream.run(fill(&mut away, baked(1)))));
    wrong(kind(here.stream.read(&away)));
    wrong(kind(here.stream.write(&mut away, &[1; 4])));
    let mut graph = here.device.record(here.k.put(baked(1), &mut y)).unwrap();
    wrong(kind(graph.launch(&there.stream)));
    wrong(kind(graph.submit(&there.stream)));
    wrong(kind(there.device.record(graph.as_op())));
    wrong(kind(there.device.graph().pool(&here.device.pool()).record(fill(&mut away, baked(1)))));
    let mut into = here.device.graph().record_into((), &mut y[..], |r, (), o| r.run(fill(o, baked(1)))).unwrap();
    wrong(kind(into.launch(&here.stream, (), &mut away)));
    wrong(kind(into.launch(&there.stream, (), &mut y)));
    assert_eq!(there.stream.read(&away).unwrap(), [0; 4]);
}

#[test]
fn slices_that_are_swapped_are_compile_errors() {
    kept_by_the_compiler(&[("slice_swap", "E0277")]);
}

#[test]
fn values_of_a_users_own_are_compile_errors() {
    kept_by_the_compiler(&[("value_of_ones_own", "E0277"), ("value_for_number", "E0117")]);
}

#[test]
fn a_variable_that_is_assigned_again_leaves_the_graph_its_memory_and_inspect_says_so() {
    for Bench { device, stream, .. } in benches() {
        let mut x = device.buffer(&[1u32; 4]).unwrap();
        let mut y = device.zeros::<u32>(4).unwrap();
        let mut graph = device.record(copy(&x, &mut y)).unwrap();
        let marked =
            |report: inspect::Report| report.memories.iter().map(|memory| memory.graph_only).collect::<Vec<_>>();
        assert_eq!(marked(graph.inspect()), [false, false]);
        x = device.buffer(&[2u32; 4]).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [1; 4], "a graph is bound to memory, not to variables");
        assert_eq!(marked(graph.inspect()), [true, false], "the source is held by this graph only");
        assert!(graph.inspect().to_string().contains("held by this graph only"));
        assert_eq!(stream.read(&x).unwrap(), [2; 4]);
    }
}

#[test]
fn what_a_closure_decides_is_decided_once_and_verify_names_what_it_froze() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let mut y = device.zeros::<u32>(4).unwrap();
    let mut step = 0u32;
    let mut graph = device
        .record(|r| {
            step += 1;
            if step == 1 { r.run(k.put(baked(step), &mut y)) } else { Ok(()) }
        })
        .unwrap();
    for _ in 0..3 {
        graph.launch(&stream).unwrap();
    }
    assert_eq!((step, stream.read(&y).unwrap()), (1, vec![1; 4]));

    let frozen = device
        .graph()
        .verify(|r| {
            step += 1;
            r.run(k.put_first(baked(step), baked(2), &mut y).label("step"))
        })
        .unwrap();
    assert_eq!(frozen.len(), 1, "the length is the same both times");
    assert_eq!((frozen[0].name.as_str(), frozen[0].argument.as_str()), ("put_first", "value"));
    assert_eq!((frozen[0].first.as_str(), frozen[0].second.as_str(), frozen[0].label.as_str()), ("2", "3", "step"));
    let value = Slot::new(0u32);
    let slotted = device.graph().verify(|r| r.run(k.put(&value, &mut y))).unwrap();
    assert!(slotted.is_empty());
}

#[test]
fn elements_without_size_are_compile_errors() {
    kept_by_the_compiler(&[("buffer_of_nothing", "E0080"), ("slot_of_nothing", "E0080"), ("host_of_nothing", "E0080")]);
}
