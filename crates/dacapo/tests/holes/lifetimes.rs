//! Memory that a graph touches and nobody holds; host memory that is frozen into it.

use dacapo::port::graphed;
use dacapo::{Buffer, ErrorKind, Recorder, Slot, baked, copy, download, fill, upload};

use crate::does_not_compile;
use crate::kit::{Bench, benches, kind};

/// Allocates as much as was freed, several times, so that the addresses would be given out again.
fn strangers(bench: &Bench, len: usize) -> Vec<Buffer<u32>> {
    (0..6).map(|_| bench.device.buffer(&vec![1u32; len]).unwrap()).collect()
}

#[track_caller]
fn expect_untouched(bench: &Bench, strangers: &[Buffer<u32>]) {
    for stranger in strangers {
        let read = bench.stream.read(stranger).unwrap();
        assert!(read.iter().all(|&element| element == 1), "a stranger's memory was written");
    }
    bench.expect_no_findings();
}

/// The buffer of a recorded fill is dropped, its address would be another buffer's, and the graph is launched.
#[test]
fn hole_c1() {
    for bench in benches() {
        let mut a = bench.device.zeros::<u32>(1024).unwrap();
        let mut graph = bench.device.record(fill(&mut a, baked(0))).unwrap();
        drop(a);
        bench.device.synchronize().unwrap();
        let strangers = strangers(&bench, 1024);
        graph.launch(&bench.stream).unwrap();
        expect_untouched(&bench, &strangers);
        // It comes back when the graph goes.
        let before = bench.device.counters().allocations;
        drop(graph);
        bench.device.synchronize().unwrap();
        assert_eq!(bench.device.counters().allocations, before - 1);
    }
}

/// Copies from and to host memory that is gone by the time of the replay.
#[test]
fn hole_c2() {
    does_not_compile("upload_plain_slice", "E0308");
    does_not_compile("upload_vec", "E0308");
    does_not_compile("download_into_vec", "E0308");
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let mut a = device.zeros::<u32>(16).unwrap();
        let seen = a.share();
        // The form that exists: host buffers, which the graph holds.
        let (source, mut target) = (device.host(&[7u32; 16]).unwrap(), device.host(&[0u32; 16]).unwrap());
        let mut graph = device
            .record(|r: &mut Recorder<'_>| {
                r.run(upload(&source, &mut a))?;
                r.run(download(&a, &mut target))
            })
            .unwrap();
        assert_eq!(target.to_vec().unwrap(), [0; 16], "not filled when it is recorded");
        drop((a, source, target));
        device.synchronize().unwrap();
        let others: Vec<_> = (0..4).map(|_| device.host(&[5u32; 16]).unwrap()).collect();
        graph.launch(stream).unwrap();
        assert_eq!(stream.read(&seen).unwrap(), [7; 16]);
        assert!(others.iter().all(|other| other.to_vec().unwrap() == [5; 16]));
        bench.expect_no_findings();
    }
}

/// A kernel launched with an address out of the air, or with arguments of another number or size.
#[test]
fn hole_n2() {
    does_not_compile("raw_kernel_without_unsafe", "E0133");
    does_not_compile("raw_argument_of_address", "E0308");
    does_not_compile("too_few_arguments", "E0061");
    does_not_compile("wrong_element_type", "E0308");
    // Behind `unsafe`, what the driver knows of the kernel is still checked.
    let Bench { device, .. } = Bench::seeded(0);
    let mut y = device.zeros::<u32>(4).unwrap();
    let put = dacapo::raw::RawKernel::load(&device, include_str!("../promises/kernels.ptx"), "put").unwrap();
    let grid = dacapo::grid::linear(4, 32);
    // SAFETY: it is refused before it could be launched.
    let few = unsafe { put.launch(grid, vec![dacapo::raw::RawArg::write(&mut y)]) };
    assert!(matches!(kind(device.record(few)), ErrorKind::Signature { .. }));
    let (value, n) = (dacapo::raw::RawArg::value(baked(1u32)), dacapo::raw::RawArg::value(baked(4u64)));
    // SAFETY: as above.
    let wide = unsafe { put.launch(grid, vec![value, n, dacapo::raw::RawArg::write(&mut y)]) };
    assert!(matches!(kind(device.record(wide)), ErrorKind::Signature { .. }));
}

/// A recording that allocates is launched again and again, and its result is read before the first launch.
#[test]
fn hole_n3() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let mut graph = device
            .record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(1024)?;
                r.run(fill(&mut t, baked(2)))?;
                let mut out = r.output::<u32>(1024)?;
                r.run(copy(&t, &mut out))?;
                r.run(k.bump(out.at_mut(0)))?;
                Ok(out)
            })
            .unwrap();
        assert_eq!(stream.read(graph.outputs()).unwrap(), [0; 1024], "zeros, not garbage");
        for _ in 0..5 {
            graph.launch(stream).unwrap();
        }
        assert_eq!(stream.read(&graph.outputs()[..2]).unwrap(), [3, 2]);
        let before = device.counters().allocations;
        graph.launch_sync(stream).unwrap();
        assert_eq!(device.counters().allocations, before, "a replay allocates nothing");
        bench.expect_no_findings();
    }
}

/// An input that was not listed anywhere is dropped.
#[test]
fn hole_m1() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let w = device.buffer(&[8u32; 64]).unwrap();
        let mut c = device.zeros::<u32>(64).unwrap();
        let mut graph = device.record(copy(&w, &mut c)).unwrap();
        drop(w);
        device.synchronize().unwrap();
        let strangers = strangers(&bench, 64);
        graph.launch(stream).unwrap();
        assert_eq!(stream.read(&c).unwrap(), [8; 64]);
        expect_untouched(&bench, &strangers);
    }
}

/// An intermediate result leaves the closure and is dropped; its address would be given out again.
#[test]
fn hole_m2() {
    does_not_compile("temp_returned", "none");
    does_not_compile("temp_stored_outside", "E0521");
    // What may leave is an output, and that is the graph's as well.
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let mut escaped = None;
        let mut graph = device
            .record(|r: &mut Recorder<'_>| {
                let mut out = r.output::<u32>(64)?;
                r.run(fill(&mut out, baked(9)))?;
                escaped = Some(out);
                Ok(())
            })
            .unwrap();
        drop(escaped);
        device.synchronize().unwrap();
        let strangers = strangers(&bench, 64);
        graph.launch(stream).unwrap();
        expect_untouched(&bench, &strangers);
    }
}

/// A result is read back inside the closure.
#[test]
fn hole_m3() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let mut c = device.buffer(&[3u32; 4]).unwrap();
    let mut graph = device
        .record(|r: &mut Recorder<'_>| {
            r.run(fill(&mut c, baked(4)))?;
            assert!(matches!(kind(stream.read(&c)), ErrorKind::EagerInRecording { .. }));
            Ok(())
        })
        .unwrap();
    assert_eq!(stream.read(&c).unwrap(), [3; 4]);
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&c).unwrap(), [4; 4]);
}

/// Device memory is made of a host slice inside the closure: it is made once, at once, and nothing is frozen but memory.
#[test]
fn hole_m4() {
    for Bench { device, stream, .. } in benches() {
        let mut elements = vec![6u32; 64];
        let mut y = device.zeros::<u32>(64).unwrap();
        let mut graph = device.record(|r| r.run(copy(&device.buffer(&elements)?, &mut y))).unwrap();
        elements.fill(1);
        drop(elements);
        graph.launch(&stream).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [6; 64]);
    }
}

/// Addresses as plain numbers in safe calls.
#[test]
fn hole_m5() {
    does_not_compile("raw_argument_of_address", "E0308");
    does_not_compile("slice_made_by_hand", "E0277");
    does_not_compile("foreign_without_unsafe", "E0133");
}

/// What a pool keeps is taken out while a graph that joined it is alive.
#[test]
fn hole_f1() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let pool = device.pool();
        let mut a = device.zeros::<u32>(64).unwrap();
        let mut graph = device.graph().pool(&pool).record(fill(&mut a, baked(2))).unwrap();
        pool.keep(a).unwrap();
        assert!(matches!(kind(pool.clear()), ErrorKind::PoolInUse { graphs: 1 }));
        let strangers = strangers(&bench, 64);
        graph.launch(stream).unwrap();
        expect_untouched(&bench, &strangers);
        drop(graph);
        pool.clear().unwrap();
    }
}

/// The buffers that a recording made are returned beside the graph, and dropped.
#[test]
fn hole_f2() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let mut graph = device
            .record(|r: &mut Recorder<'_>| {
                let mut state = r.output::<u32>(64)?;
                r.run(k.put(baked(2), &mut state))?;
                Ok(Some(state))
            })
            .unwrap();
        let shared = graph.outputs().as_ref().unwrap().share();
        let strangers = strangers(&bench, 64);
        graph.launch(stream).unwrap();
        assert_eq!(stream.read(&shared).unwrap(), [2; 64]);
        // Taken out whole, the graph is gone with it; its last replay still has its memory.
        graph.launch(stream).unwrap();
        drop(graph.into_outputs());
        drop(shared);
        device.synchronize().unwrap();
        expect_untouched(&bench, &strangers);
    }
}

/// A number in device memory is set inside the recording, from a value on the stack.
#[test]
fn hole_f5() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let mut scalar = device.scalar(1u32).unwrap();
    let refused = device.record(|_| scalar.set(&stream, 2));
    assert!(matches!(kind(refused), ErrorKind::EagerInRecording { .. }));
    // The form that exists: a slot, or a set before the launch.
    let (value, mut y) = (Slot::new(0u32), device.zeros::<u32>(2).unwrap());
    let (first, second) = y.split_at_mut(1);
    let mut graph = device
        .record(|r: &mut Recorder<'_>| {
            r.run(fill(first, &value))?;
            r.run(copy(scalar.as_slice(), second))
        })
        .unwrap();
    for step in 5..8 {
        value.set(step);
        scalar.set(&stream, step * 10).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [step, step * 10]);
    }
}

/// Inputs of a captured closure are dropped after it.
#[test]
fn hole_l1() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let x = device.buffer(&[1.0f32, 2.0, 3.0]).unwrap();
        let mut y = device.zeros::<f32>(2).unwrap();
        let seen = y.share();
        let mut graph = device.graph().warmup(1).record(|r| r.run(k.window(baked(1), &x, &mut y))).unwrap();
        drop((x, y));
        device.synchronize().unwrap();
        let strangers = strangers(&bench, 3);
        graph.launch(stream).unwrap();
        assert_eq!(stream.read(&seen).unwrap(), [2.0, 3.0]);
        expect_untouched(&bench, &strangers);
    }
}

/// Two graphs of one pool are replayed in another order than they were recorded in.
#[test]
fn hole_l3() {
    for Bench { device, stream, k } in benches() {
        let pool = device.pool();
        let make = |value: u32| {
            let recorded = device.graph().pool(&pool).record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(256)?;
                r.run(k.put(baked(value), &mut t))?;
                let mut out = r.output::<u32>(256)?;
                r.run(copy(&t, &mut out))?;
                Ok(out)
            });
            recorded.unwrap()
        };
        let (mut first, mut second) = (make(1), make(2));
        let other = device.stream().unwrap();
        for (graph, stream) in [(&mut second, &stream), (&mut first, &other)] {
            graph.launch(stream).unwrap();
        }
        first.launch(&stream).unwrap();
        second.launch(&other).unwrap();
        assert_eq!(stream.read(first.outputs()).unwrap(), [1; 256]);
        assert_eq!(stream.read(second.outputs()).unwrap(), [2; 256]);
    }
}

/// A callable keeps one graph for each shape; its inputs are dropped, and a size vector is the caller's own.
#[test]
fn hole_x1() {
    for Bench { device, stream, .. } in benches() {
        let mut twice = graphed(&device, |r: &mut Recorder<'_>, x: &Buffer<u32>| {
            let mut out = r.output(x.len())?;
            r.run(copy(x, &mut out))?;
            Ok(out)
        });
        for len in [3, 5, 3, 5] {
            let x = device.buffer(&vec![len as u32; len]).unwrap();
            let out = twice.call(&stream, &x).unwrap();
            assert_eq!(stream.read(out).unwrap(), vec![len as u32; len]);
        }
        assert_eq!(twice.recordings(), 2);
    }
    does_not_compile("module_output_across_call", "E0499");
}
