//! What the library adds to the first proof of its signatures.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use dacapo::{ErrorKind, Op, Slice, Slot, baked, copy, download, fill, inspect, upload};
use dacapo::raw::foreign;
use dacapo_driver::{CUresult, Call, Driver, Fault};

use crate::kit::{Bench, benches, hooked, kind, set_all, software};

/// Numbers of allocations are given out again after the last hold, and never while a slice can still name them.
/// (That they run out with a typed error is a unit test beside the numbers.)
#[test]
fn row_1_numbers_are_reused_and_never_a_strangers() {
    let bench = Bench::seeded(3);
    let before = bench.device.counters().allocations;
    let first = bench.device.buffer(&[u32::MAX; 8]).unwrap();
    let mut held: Vec<dacapo::Buffer<u32>> = Vec::new();
    for round in 0..600u32 {
        held.push(bench.device.buffer(&[round; 8]).unwrap());
        if held.len() == 20 {
            // The oldest goes, and its number with it.
            held.swap_remove(0);
        }
    }
    let mut seen: Vec<u32> = held.iter().map(|buffer| bench.stream.read(buffer).unwrap()[7]).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), held.len(), "two buffers are the same memory");
    assert_eq!(bench.stream.read(&first).unwrap(), [u32::MAX; 8]);
    assert_eq!((bench.device.counters().allocations - before) as usize, held.len() + 1);
    bench.expect_no_findings();
}

#[test]
fn row_2_host_buffers_are_accesses_like_any_other() {
    for bench in benches() {
        let x = bench.device.buffer(&[1.0f32, 2.0]).unwrap();
        let mut y = bench.device.zeros::<f32>(2).unwrap();
        let mut h = bench.device.host(&[0.0f32; 2]).unwrap();
        let mut graph = bench
            .device
            .record(|r| {
                r.run(download(&x, &mut h))?;
                r.run(upload(&h, &mut y))
            })
            .unwrap();
        assert_eq!(graph.dependencies(), [(0, 1)]);
        graph.launch(&bench.stream).unwrap();
        assert_eq!(bench.stream.read(&y).unwrap(), [1.0, 2.0]);
        // And between the host and the graph: a set after a launch does not reach into it.
        let mut again = bench.device.record(upload(&h, &mut y)).unwrap();
        again.launch(&bench.stream).unwrap();
        h.set(&[8.0, 9.0]).unwrap();
        assert_eq!(bench.stream.read(&y).unwrap(), [1.0, 2.0]);
        bench.expect_no_findings();
    }
}

/// A set and a launch from another thread: each launch copies the whole of one set.
#[test]
fn row_2_a_launch_sees_all_of_one_set_or_all_of_another() {
    let Bench { device, stream, .. } = &Bench::seeded(0);
    // Long enough that a copy takes a while: it is in its middle that nothing may begin.
    let len = 1 << 19;
    let mut host = device.host(&vec![0u32; len]).unwrap();
    let mut y = device.zeros::<u32>(len).unwrap();
    let mut graph = device.record(upload(&host, &mut y)).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (stop, host) = (&stop, &mut host);
        scope.spawn(move || {
            for value in 1u32.. {
                host.set(&vec![value; len]).unwrap();
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let (mut changes, mut torn, mut last, begun) = (0, 0, 0, std::time::Instant::now());
        while changes < 30 && begun.elapsed().as_secs() < 60 {
            graph.launch(stream).unwrap();
            let read = stream.read(&y).unwrap();
            torn += u32::from(read.iter().any(|element| *element != read[0]));
            changes += u32::from(read[0] != last);
            last = read[0];
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(torn, 0, "half of one set and half of another");
        assert!(changes > 2, "nothing was set meanwhile: nothing was tested");
    });
}

#[test]
fn row_3_temps_and_stand_ins_are_refused_by_kind_on_every_thread() {
    let Bench { device, stream, k } = &Bench::seeded(1);
    let x = device.buffer(&[1.0f32; 4]).unwrap();
    let mut y = device.zeros::<f32>(4).unwrap();
    let mut into = device.graph().record_into(&x[..], &mut y[..], |r, i, o| r.run(copy(i, o))).unwrap();
    let is_refused = |kind: ErrorKind| assert!(matches!(kind, ErrorKind::NoMemoryYet { .. }), "{kind:?}");
    device
        .record(|r| {
            let mut t = r.alloc::<f32>(4)?;
            r.run(fill(&mut t, baked(2.0)))?;
            let one = r.alloc_scalar::<f32>()?;
            let lent: &mut Slice<f32> = &mut t;
            let element: &dacapo::Element<f32> = &one;
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    is_refused(kind(stream.read(lent)));
                    is_refused(kind(stream.write(lent, &[0.0; 4])));
                    is_refused(kind(stream.read(element.as_slice())));
                    is_refused(kind(into.launch(stream, lent, &mut y)));
                    is_refused(kind(into.launch(stream, &x, lent)));
                    assert_eq!(kind(stream.run(copy(lent, &mut y))), ErrorKind::ForeignTemp);
                    assert_eq!(kind(stream.run(k.window(baked(0), lent, &mut y))), ErrorKind::ForeignTemp);
                });
                other.join().unwrap();
            });
            Ok(())
        })
        .unwrap();
    device
        .graph()
        .record_into(&x[..], &mut y[..], |_, i, o| {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    is_refused(kind(stream.read(i)));
                    is_refused(kind(stream.write(o, &[0.0; 4])));
                });
                other.join().unwrap();
            });
            Ok(())
        })
        .unwrap();
    assert_eq!(stream.read(&y).unwrap(), [0.0; 4]);
}

#[test]
fn row_4_eager_is_planned_first_and_nothing_runs_if_an_op_fails() {
    for Bench { device, stream, k } in benches() {
        let mut y = device.buffer(&[7u32; 4]).unwrap();
        let x = device.zeros::<f32>(4).unwrap();
        let mut z = device.zeros::<f32>(4).unwrap();
        let failed = stream.run(|r: &mut dacapo::Recorder<'_>| {
            r.run(k.put(baked(1), &mut y))?;
            r.run(fill(&mut y, baked(2)))?;
            r.run(k.window(baked(1), &x, &mut z))
        });
        assert!(matches!(kind(failed), ErrorKind::Requires { .. }));
        let own = stream.run(
            k.put(baked(3), &mut y)
                .then(|_: &mut dacapo::Recorder<'_>| -> dacapo::Result<()> { Err(dacapo::Error::msg("no")) }),
        );
        assert_eq!(kind(own), ErrorKind::Msg("no".into()));
        assert_eq!(stream.read(&y).unwrap(), [7; 4]);
    }
}

#[test]
fn row_5_writes_and_sets_copy_before_they_return() {
    for Bench { device, stream, .. } in benches() {
        // More than one piece of the staging memory, and small ones that come in quick succession.
        let mut large = device.zeros::<u32>(3 << 20).unwrap();
        let mut elements: Vec<u32> = (0..3 << 20).collect();
        stream.write(&mut large, &elements).unwrap();
        elements.fill(u32::MAX);
        drop(elements);
        let read = stream.read(&large).unwrap();
        assert!(read.iter().enumerate().all(|(index, &element)| element == index as u32));

        let mut scalar = device.scalar(0u64).unwrap();
        let mut copies: Vec<_> = (0..40).map(|_| device.zeros::<u64>(1).unwrap()).collect();
        for (value, target) in copies.iter_mut().enumerate() {
            scalar.set(&stream, value as u64).unwrap();
            stream.run(copy(scalar.as_slice(), target)).unwrap();
        }
        for (value, target) in copies.iter().enumerate() {
            assert_eq!(stream.read(target).unwrap(), [value as u64]);
        }
    }
}

#[test]
fn row_6_alignment_is_checked_again_when_memory_is_rebound() {
    let Bench { device, stream, k } = Bench::seeded(2);
    let x = device.buffer(&[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
    let mut y = device.zeros::<f32>(9).unwrap();
    let misaligned = device.record(k.copy_four(&x[1..5], &mut y[..4]));
    assert!(matches!(kind(misaligned), ErrorKind::Requires { condition: "x.aligned(16)", .. }));

    let body = |r: &mut dacapo::Recorder<'_>, i: &Slice<f32>, o: &mut Slice<f32>| r.run(k.copy_four(i, o));
    let mut graph = device.graph().record_into(&x[..4], &mut y[..4], body).unwrap();
    let misaligned = graph.launch(&stream, &x[1..5], &mut y[..4]);
    assert!(matches!(kind(misaligned), ErrorKind::Requires { condition: "x.aligned(16)", .. }));
    let misaligned = graph.launch(&stream, &x[..4], &mut y[2..6]);
    assert!(matches!(kind(misaligned), ErrorKind::Requires { condition: "y.aligned(16)", .. }));
    assert_eq!(stream.read(&y).unwrap(), [0.0; 9]);
    graph.launch(&stream, &x[4..8], &mut y[4..8]).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [0.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0, 0.0]);
}

/// A part of a stand-in begins where the bound memory begins and the part in it, for its address and its alignment.
#[test]
fn row_6_a_part_of_a_stand_in_is_a_part_of_what_is_bound() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let x: Vec<f32> = (0..20).map(|i| i as f32).collect();
    let (x, mut y) = (device.buffer(&x).unwrap(), device.zeros::<f32>(4).unwrap());
    let mut graph =
        device.graph().record_into(&x[..8], &mut y[..], |r, x, y| r.run(k.copy_four(&x[4..], y))).unwrap();
    for start in [0, 4, 12, 8] {
        graph.launch(&stream, &x[start..start + 8], &mut y).unwrap();
        let first = (start + 4) as f32;
        assert_eq!(stream.read(&y).unwrap(), [first, first + 1.0, first + 2.0, first + 3.0]);
    }
    for start in [1, 2, 7, 11] {
        let misaligned = graph.launch(&stream, &x[start..start + 8], &mut y);
        assert!(matches!(kind(misaligned), ErrorKind::Requires { condition: "x.aligned(16)", .. }), "{start}");
    }
}

#[test]
fn row_7_geometry_is_converted_with_checks_and_no_work_is_no_error() {
    for Bench { device, stream, k } in benches() {
        let mut y = device.zeros::<u32>(40).unwrap();
        // Over the limit when recorded, and when a slot drives it there.
        assert!(matches!(kind(device.record(k.put_blocks(baked(70_000), &mut y))), ErrorKind::GridTooLarge { .. }));
        let blocks = Slot::new(2);
        let mut graph = device.record(k.put_blocks(&blocks, &mut y)).unwrap();
        blocks.set(70_000);
        assert!(matches!(kind(graph.launch(&stream)), ErrorKind::GridTooLarge { .. }));
        assert_eq!(stream.read(&y).unwrap(), [0; 40]);
        // No blocks: the node does nothing, and does something again later.
        blocks.set(0);
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [0; 40]);
        blocks.set(3);
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&y[..33]).unwrap(), [[3; 32].as_slice(), &[0]].concat());
        // No elements at all: recorded, eager, copied, filled.
        let mut none = device.zeros::<u32>(0).unwrap();
        let mut other = device.zeros::<u32>(0).unwrap();
        stream.run(k.put(baked(1), &mut none)).unwrap();
        let mut graph = device
            .record(|r| {
                r.run(k.put(baked(1), &mut none))?;
                r.run(fill(&mut none, baked(1)))?;
                r.run(copy(&none, &mut other))
            })
            .unwrap();
        graph.launch_sync(&stream).unwrap();
        assert!(stream.read(&other).unwrap().is_empty());
    }
}

#[test]
fn row_8_module_state_is_an_access() {
    for Bench { device, stream, k } in benches() {
        let (mut a, mut b) = (device.scalar(0u32).unwrap(), device.scalar(0u32).unwrap());
        let mut graph = device.record(k.count(&mut a).zip(k.count(&mut b))).unwrap();
        assert_eq!(graph.dependencies(), [(0, 1)], "both count in the same global");
        let free = device.record(k.bump(&mut a).zip(k.bump(&mut b))).unwrap();
        assert_eq!(free.dependencies(), [], "without state there is nothing between them");
        // Across streams too: each launch sees the count of the one before.
        let other = device.stream().unwrap();
        for round in 0..5u32 {
            graph.launch(if round % 2 == 0 { &stream } else { &other }).unwrap();
        }
        assert_eq!((a.get(&stream).unwrap(), b.get(&stream).unwrap()), (9, 10));
    }
}

/// Also the table's last row: a graph inside another does not share its temps with it.
#[test]
fn row_9_a_graph_inside_a_recording_has_temps_of_its_own() {
    for Bench { device, stream, k } in benches() {
        let value = Slot::new(1u32);
        let inner = device
            .record(|r| {
                let mut t = r.alloc::<u32>(64)?;
                r.run(k.put(&value, &mut t))?;
                let mut out = r.output::<u32>(64)?;
                r.run(copy(&t, &mut out))?;
                Ok(out)
            })
            .unwrap();
        let mut copied = device.zeros::<u32>(64).unwrap();
        let shared = inner.outputs().share();
        let mut outer = device
            .record(|r| {
                r.run(inner.as_op())?;
                r.run(copy(&shared, &mut copied))
            })
            .unwrap();
        let temps = |report: inspect::Report| {
            report.memories.iter().filter(|memory| memory.kind == inspect::MemoryKind::Temp).count()
        };
        assert_eq!((temps(inner.inspect()), temps(outer.inspect())), (1, 1));
        assert_eq!(outer.memory().temps(), 256);
        // The outer graph holds all it needs: the inner one may go, with its outputs.
        stream.run(inner.as_op()).unwrap();
        assert_eq!(stream.read(&shared).unwrap(), [1; 64], "eagerly, it is the same");
        drop((shared, inner.into_outputs()));
        let reused: Vec<_> = (0..8).map(|_| device.buffer(&[9u32; 64]).unwrap()).collect();
        value.set(5);
        outer.launch(&stream).unwrap();
        assert_eq!(stream.read(&copied).unwrap(), [5; 64]);
        for buffer in &reused {
            assert_eq!(stream.read(buffer).unwrap(), [9; 64]);
        }
    }
    crate::kept_by_the_compiler(&[("outputs_mut", "E0599")]);
}

#[test]
fn row_10_a_patch_that_fails_half_way_keeps_the_graph_from_launching() {
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    let patch = Call::cuGraphExecKernelNodeSetParams_v2;
    // The second node is refused at the first launch, and again at the second.
    let (bench, fault) = hooked(Fault::new().fail(patch, 2, code).fail(patch, 3, code));
    let Bench { device, stream, k } = &bench;
    let value = Slot::new(1u32);
    let mut buffers = [device.zeros::<u32>(2).unwrap(), device.zeros(2).unwrap(), device.zeros(2).unwrap()];
    let [a, b, c] = &mut buffers;
    let mut graph = device.record(|r| [a, b, c].into_iter().try_for_each(|y| r.run(k.put(&value, y)))).unwrap();
    value.set(2);
    for (attempt, left) in [(1, 2), (2, 2)] {
        match kind(graph.launch(stream)) {
            ErrorKind::Unpatched { nodes, .. } => assert_eq!(nodes, left, "attempt {attempt}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(graph.num_replays(), 0);
        for buffer in &buffers {
            assert_eq!(stream.read(buffer).unwrap(), [0; 2]);
        }
    }
    graph.launch(stream).unwrap();
    for buffer in &buffers {
        assert_eq!(stream.read(buffer).unwrap(), [2; 2]);
    }
    assert!(fault.all_fired());
    bench.expect_usable();
}

#[test]
fn row_11_foreign_work_is_captured_alone_in_relaxed_mode_and_refuses_stand_ins() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let x = device.zeros::<u32>(4).unwrap();
        let mut y = device.zeros::<u32>(4).unwrap();
        let refused = device.graph().record_into(&x[..], &mut y[..], |r, _, o| {
            // SAFETY: it enqueues nothing.
            r.run(unsafe { foreign((), o, |_, (), _| Ok(())) })
        });
        assert!(matches!(kind(refused), ErrorKind::NoMemoryYet { .. }));

        let machine = bench.machine().clone();
        let (seen, beside) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)));
        let (note, allocated) = (seen.clone(), beside.clone());
        let set = set_all(machine.clone(), 6);
        // SAFETY: it sets what is declared as written, and nothing else.
        let work = unsafe {
            foreign((), &mut y[..], move |on, (), y| {
                let mut status = dacapo_driver::types::CU_STREAM_CAPTURE_STATUS_NONE;
                assert!(machine.cuStreamIsCapturing(on.0, &mut status).is_success());
                note.lock().unwrap().push((on, status));
                // What a global capture would refuse to every thread is allowed beside a relaxed one.
                let mut address = 0;
                assert!(machine.cuMemAlloc_v2(&mut address, 64).is_success());
                assert!(machine.cuMemFree_v2(address).is_success());
                allocated.fetch_add(1, Ordering::Relaxed);
                set(on, (), y)
            })
        };
        let mut graph = device.record(work).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [0; 4], "captured, not run");
        graph.launch(stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [6; 4]);
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 1);
        assert_ne!(seen[0].0, stream.raw(), "a private stream");
        assert_eq!(seen[0].1, dacapo_driver::types::CU_STREAM_CAPTURE_STATUS_ACTIVE);
        assert_eq!(beside.load(Ordering::Relaxed), 1);
        bench.expect_no_findings();
    }
}

#[test]
fn row_12_memory_that_is_not_there_is_an_error_and_fills_have_any_element() {
    let bench = Bench::new(software(0).capacity(64 << 20).open().unwrap());
    let Bench { device, stream, .. } = &bench;
    assert!(matches!(kind(device.zeros::<u8>(1 << 30)), ErrorKind::OutOfMemory { .. }));
    assert!(matches!(kind(device.record(|r| r.output::<u8>(1 << 30))), ErrorKind::OutOfMemory { .. }));
    assert!(matches!(kind(device.record(|r| r.output::<f64>(usize::MAX))), ErrorKind::OutOfMemory { .. }));
    assert!(matches!(kind(device.record(|r| r.alloc::<f64>(usize::MAX).map(drop))), ErrorKind::OutOfMemory { .. }));
    let large = device.record(|r| {
        let mut t = r.alloc::<u8>(1 << 30)?;
        r.run(fill(&mut t, baked(1)))
    });
    assert!(matches!(kind(large), ErrorKind::OutOfMemory { .. }));

    fn fills<T: dacapo::Pod + PartialEq>(bench: &Bench, first: T, second: T) {
        let Bench { device, stream, .. } = bench;
        let mut y = device.zeros::<T>(5).unwrap();
        stream.run(fill(&mut y[1..4], baked(first))).unwrap();
        let read = stream.read(&y).unwrap();
        assert!(read[1..4] == [first; 3] && read[0] != first && read[4] != first, "{read:?}");
        let value = Slot::new(first);
        let mut graph = device.record(fill(&mut y[..4], &value)).unwrap();
        value.set(second);
        graph.launch(stream).unwrap();
        let read = stream.read(&y).unwrap();
        assert!(read[..4] == [second; 4] && read[4] != second, "{read:?}");
    }
    fills(&bench, 1u8, 2);
    fills(&bench, 0x1234u16, 7);
    fills(&bench, 1.5f32, 2.5);
    fills(&bench, 1.5f64, 2.5);
    fills(&bench, [1u8, 2, 3], [4, 5, 6]);
    fills(&bench, [1.0f32, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
    fills(&bench, [1u64; 5], [2; 5]);
    assert!(stream.is_done().is_ok());
    bench.expect_no_findings();
}

/// That `best` warns once is a test among those with child processes.
#[test]
fn row_13_a_device_can_be_waited_for() {
    for Bench { device, stream, k } in benches() {
        let streams = [stream, device.stream().unwrap(), device.stream().unwrap()];
        let mut buffers: Vec<_> = (0..3).map(|_| device.zeros::<u32>(256).unwrap()).collect();
        for (stream, buffer) in streams.iter().zip(&mut buffers) {
            stream.run(k.put(baked(4), buffer)).unwrap();
        }
        device.synchronize().unwrap();
        assert!(streams.iter().all(|stream| stream.is_done().unwrap()));
        assert_eq!(device.counters().waiting, 0);
    }
}

#[test]
fn row_14_a_ticket_lends_nothing_and_may_go_anywhere() {
    fn anywhere<T: Send + 'static>(value: T) -> T {
        value
    }
    for Bench { device, stream, k } in benches() {
        let mut graph = device
            .record(|r| {
                let mut out = r.output::<u32>(4)?;
                r.run(k.bump(out.at_mut(0)))?;
                Ok(out)
            })
            .unwrap();
        // Three launches under way at once, their tickets waited for on another thread, in another order.
        let mut tickets: Vec<_> = (0..3).map(|_| anywhere(graph.submit(&stream).unwrap())).collect();
        tickets.reverse();
        std::thread::spawn(move || tickets.into_iter().for_each(|ticket| ticket.wait().unwrap())).join().unwrap();
        let ticket = graph.submit(&stream).unwrap();
        drop(graph);
        ticket.wait().unwrap();
        assert!(stream.is_done().unwrap());
    }
    crate::kept_by_the_compiler(&[("launched_to_thread", "E0597")]);
}
