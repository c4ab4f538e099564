//! Work that is not ordered, or on the wrong stream, or launched while something else is going on.

use std::sync::Barrier;

use dacapo::raw::foreign;
use dacapo::{ErrorKind, Graph, Op, Recorder, baked, copy, fill};

use crate::does_not_compile;
use crate::kit::{Bench, benches, kind, set_all};

/// A replay on one stream, read on another.
#[test]
fn hole_c3() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let mut a = device.zeros::<u32>(4096).unwrap();
        let seen = a.share();
        let value = dacapo::Slot::new(0u32);
        let mut graph = device.record(k.put(&value, &mut a)).unwrap();
        let other = device.stream().unwrap();
        for round in 1..20u32 {
            value.set(round);
            graph.launch(stream).unwrap();
            let read = other.read(&seen).unwrap();
            assert!(read.iter().all(|&element| element == round), "round {round}");
        }
        bench.expect_no_findings();
    }
}

/// Another thread works with the same device, stream and memory while a recording is made.
#[test]
fn hole_c5() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let mut mine = device.zeros::<u32>(16).unwrap();
        let mut graph = device
            .record(|r: &mut Recorder<'_>| {
                std::thread::scope(|scope| {
                    let beside = scope.spawn(|| {
                        // Its buffer is gone before the recording is launched.
                        let mut b = device.zeros::<u32>(16).unwrap();
                        stream.run(k.put(baked(3), &mut b)).unwrap();
                        assert_eq!(stream.read(&b).unwrap(), [3; 16], "it ran, now");
                    });
                    beside.join().unwrap();
                });
                r.run(fill(&mut mine, baked(1)))
            })
            .unwrap();
        assert_eq!(graph.len(), 1);
        graph.launch(stream).unwrap();
        assert_eq!(stream.read(&mine).unwrap(), [1; 16]);
        bench.expect_no_findings();
    }
}

/// Another thread updates a graph's input while a foreign capture is open, then the memory is dropped.
#[test]
fn hole_n1() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let source = device.buffer(&[5u32; 16]).unwrap();
        let mut target = device.zeros::<u32>(16).unwrap();
        let mut y = device.zeros::<u32>(16).unwrap();
        let bar = std::sync::Arc::new(Barrier::new(2));
        let (wait, set) = (bar.clone(), set_all(bench.machine().clone(), 7));
        let mut second = std::thread::scope(|scope| {
            let capturing = scope.spawn(|| {
                // SAFETY: it sets what is declared as written, and nothing else.
                let work = unsafe {
                    foreign((), &mut y[..], move |on, (), y| {
                        wait.wait();
                        wait.wait();
                        set(on, (), y)
                    })
                };
                device.record(work).unwrap()
            });
            bar.wait();
            // The capture is open now, on a stream that this thread cannot name.
            stream.run(copy(&source, &mut target)).unwrap();
            assert_eq!(stream.read(&target).unwrap(), [5; 16], "it ran, and is in no graph");
            bar.wait();
            capturing.join().unwrap()
        });
        assert_eq!(second.len(), 1);
        drop(target);
        device.synchronize().unwrap();
        let stranger = device.buffer(&[1u32; 16]).unwrap();
        second.launch(stream).unwrap();
        assert_eq!((stream.read(&y).unwrap(), stream.read(&stranger).unwrap()), (vec![7; 16], vec![1; 16]));
        bench.expect_no_findings();
    }
}

/// A graph is launched while another thread captures.
#[test]
fn hole_m6() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let mut counted = device.scalar(0u32).unwrap();
        let mut first: Graph<()> = device.record(k.bump(&mut counted)).unwrap();
        let mut y = device.zeros::<u32>(4).unwrap();
        let bar = std::sync::Arc::new(Barrier::new(2));
        let (wait, set) = (bar.clone(), set_all(bench.machine().clone(), 2));
        let mut second = std::thread::scope(|scope| {
            let capturing = scope.spawn(|| {
                // SAFETY: it sets what is declared as written, and nothing else.
                let work = unsafe {
                    foreign((), &mut y[..], move |on, (), y| {
                        wait.wait();
                        wait.wait();
                        set(on, (), y)
                    })
                };
                device.record(work)
            });
            bar.wait();
            // All that breaks captures elsewhere: launch, allocate, free, query, wait, instantiate.
            first.launch_sync(stream).unwrap();
            drop(device.zeros::<u32>(64).unwrap());
            stream.synchronize().unwrap();
            assert!(stream.is_done().unwrap());
            device.synchronize().unwrap();
            let mut z = device.zeros::<u32>(4).unwrap();
            device.record(fill(&mut z, baked(1))).unwrap().launch_sync(stream).unwrap();
            bar.wait();
            capturing.join().unwrap()
        })
        .unwrap();
        second.launch(stream).unwrap();
        assert_eq!((stream.read(&y).unwrap(), counted.get(stream).unwrap()), (vec![2; 4], 1));
    }
}

/// One buffer on two streams without a word about it.
#[test]
fn hole_f3() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let other = device.stream().unwrap();
        let mut v = device.scalar(0u32).unwrap();
        let mut first = device.record(k.bump(&mut v)).unwrap();
        for _ in 0..10 {
            first.launch(stream).unwrap();
            other.run(k.bump(&mut v)).unwrap();
        }
        assert_eq!(v.get(&other).unwrap(), 20);
        bench.expect_no_findings();
    }
}

/// Work goes to another stream than the one that is recorded, and the graph is empty.
#[test]
fn hole_f6() {
    for Bench { device, stream, k } in benches() {
        let (a, mut o) = (device.buffer(&[4u32; 4]).unwrap(), device.zeros::<u32>(4).unwrap());
        let mut count = device.scalar(0u32).unwrap();
        // An op names no stream: inside a recording it is recorded, and a stream's own call is refused.
        let wrong = device.record(|_| stream.run(copy(&a, &mut o)));
        assert!(matches!(kind(wrong), ErrorKind::EagerInRecording { .. }));
        let mut graph = device.record(copy(&a, &mut o).then(k.bump(&mut count))).unwrap();
        assert_eq!((graph.len(), stream.read(&o).unwrap()), (2, vec![0; 4]));
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&o).unwrap(), [4; 4]);
    }
}

/// One executable graph launched from two threads, and changed through a shared borrow.
#[test]
fn hole_x2() {
    does_not_compile("launch_shared_graph", "E0596");
    for Bench { device, stream, k } in benches() {
        let mut v = device.scalar(0u32).unwrap();
        let graph = std::sync::Mutex::new(device.record(k.bump(&mut v)).unwrap());
        let other = device.stream().unwrap();
        std::thread::scope(|scope| {
            for on in [&stream, &other] {
                let graph = &graph;
                scope.spawn(move || (0..50).for_each(|_| drop(graph.lock().unwrap().launch(on).unwrap())));
            }
        });
        assert_eq!(v.get(&stream).unwrap(), 100);
    }
}

/// A graph that does nothing reports success: here every graph says what is in it, and one of nothing changes nothing.
#[test]
fn hole_x3() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let mut nothing = device.record(|_| Ok(())).unwrap();
    assert!(nothing.is_empty() && nothing.inspect().nodes.is_empty());
    nothing.launch_sync(&stream).unwrap();
    let mut y = device.zeros::<u32>(1).unwrap();
    assert_eq!(device.record(fill(&mut y, baked(1))).unwrap().len(), 1);
}
