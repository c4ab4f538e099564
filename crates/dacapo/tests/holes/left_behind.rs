//! What must leave nothing behind: warm-ups, ops that fail or panic, kernels without blocks, values that hold their device.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use dacapo::{Error, ErrorKind, Graph, Op, Recorder, Slot, baked, copy, fill, grid};
use dacapo_sim::Machine;

use crate::kit::{Bench, benches};

dacapo::kernels! {
    unsafe struct More(include_str!("../promises/kernels.ptx")) {
        /// y ← x[offset ..] in its first `n` elements
        fn window_first(offset: u32, n: u32, x: &[f32], y: &mut [f32]) {
            entry: "window";
            requires: within(offset, n as usize, x.len()), n as usize <= y.len();
            grid: linear(n as usize, 64);
        }
        /// y ← x[offset ..], or nothing where x does not begin at a multiple of 16 bytes
        fn window_aligned(offset: u32, n: u32 = y.len(), x: &[f32], y: &mut [f32]) {
            entry: "window";
            requires: within(offset, y.len(), x.len());
            grid: linear(if x.aligned(16) { y.len() } else { 0 }, 64);
        }
        /// y ← value, of a length that is divided by `by` first
        fn put_part(value: u32, by: u32, y: &mut [u32]) {
            entry: "put";
            requires: y.len() / by as usize >= by as usize;
            grid: linear(by as usize, 32);
        }
    }
}

/// A warm-up puts back what it wrote, and nothing that stands beside it.
#[test]
fn hole_e1() {
    for Bench { device, stream, k } in benches() {
        let mut x = device.buffer(&[1u32; 8]).unwrap();
        {
            let (mine, theirs) = x.split_at_mut(4);
            let (mut calls, theirs) = (0, Mutex::new(theirs));
            let body = |r: &mut Recorder<'_>| {
                calls += 1;
                if calls == 2 {
                    // The first run is done, and not all of them. Somebody else has the other half.
                    let write = || device.stream()?.write(&mut theirs.lock().unwrap(), &[7; 4]);
                    std::thread::scope(|scope| scope.spawn(write).join().unwrap())?;
                }
                r.run(k.put(baked(5), mine))
            };
            device.graph().warmup(2).record(body).unwrap();
        }
        assert_eq!(stream.read(&x).unwrap(), [1, 1, 1, 1, 7, 7, 7, 7]);
    }
}

/// Nor what another graph wrote into the same bytes meanwhile.
#[test]
fn hole_e2() {
    for Bench { device, stream, k } in benches() {
        let mut v = device.scalar(0u32).unwrap();
        let others = Mutex::new(device.record(k.bump(&mut v)).unwrap());
        let launch = || drop(others.lock().unwrap().launch(&device.stream().unwrap()).unwrap());
        let body = |r: &mut Recorder<'_>| {
            // Inside this closure, and so between two runs, another thread launches.
            std::thread::scope(|scope| scope.spawn(launch).join().unwrap());
            r.run(k.bump(&mut v))
        };
        let mut graph = device.graph().warmup(2).record(body).unwrap();
        assert_eq!(v.get(&stream).unwrap(), 3, "three launches by the other thread, and no trace of two runs");
        // The same with no order between them at all.
        std::thread::scope(|scope| {
            scope.spawn(|| (0..50).for_each(|_| launch()));
            for _ in 0..10 {
                graph = device.graph().warmup(2).record(|r| r.run(k.bump(&mut v))).unwrap();
                graph.launch(&stream).unwrap();
            }
        });
        assert_eq!(v.get(&stream).unwrap(), 3 + 50 + 10);
    }
}

/// Nor the outputs of a graph that is a part of what is warmed up.
#[test]
fn hole_e3() {
    for Bench { device, stream, k } in benches() {
        let value = Slot::new(1u32);
        let mut inner: Graph<_> = device
            .record(|r| {
                let mut out = r.output::<u32>(4)?;
                r.run(k.put(&value, &mut out))?;
                Ok(out)
            })
            .unwrap();
        inner.launch(&stream).unwrap();
        value.set(9);
        device.graph().warmup(1).record(|r| r.run(inner.as_op())).unwrap();
        let outputs = inner.into_outputs();
        assert_eq!(stream.read(&outputs).unwrap(), [1; 4]);
    }
}

/// A pool in whose arena another graph has left its numbers.
fn used_pool(bench: &Bench) -> dacapo::graph::Pool {
    let pool = bench.device.pool();
    let mut out = bench.device.zeros::<u32>(64).unwrap();
    let mut first = bench
        .device
        .graph()
        .pool(&pool)
        .record(|r| {
            let mut t = r.alloc::<u32>(64)?;
            r.run(bench.k.put(baked(0xdead), &mut t))?;
            r.run(copy(&t, &mut out))
        })
        .unwrap();
    first.launch_sync(&bench.stream).unwrap();
    pool
}

#[track_caller]
fn expect_unwritten(error: &Error, missing: std::ops::Range<usize>, idle: Option<&str>) {
    match error.kind() {
        ErrorKind::UninitTemp { missing: found, idle: named, .. } => {
            assert_eq!(*found, missing, "{error}");
            assert_eq!(named.is_some(), idle.is_some(), "{error}");
            assert!(idle.is_none_or(|op| named.as_ref().unwrap().contains(op)), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

/// A kernel without blocks writes nothing, so nobody may read what it was given.
#[test]
fn hole_e4() {
    for bench in benches() {
        let pool = used_pool(&bench);
        let Bench { device, k, .. } = &bench;
        let mut out = device.zeros::<u32>(64).unwrap();
        let empty = grid::linear(0, 32);
        let refused = device.graph().pool(&pool).record(|r| {
            let mut t = r.alloc::<u32>(64)?;
            r.run(k.put_any(baked(1), &mut t).with_grid(empty))?;
            r.run(copy(&t, &mut out))
        });
        expect_unwritten(&refused.unwrap_err(), 0..256, Some("put_any"));
        // The same eagerly.
        let refused = bench.stream.run(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(64)?;
            r.run(k.put_any(baked(1), &mut t).with_grid(empty))?;
            r.run(copy(&t, &mut out))
        });
        expect_unwritten(&refused.unwrap_err(), 0..256, Some("put_any"));
    }
}

/// A slot may take a kernel's blocks away between two launches: that launch is refused, the next with blocks is not, and
/// neither is one in which the reader has none either.
#[test]
fn hole_e5() {
    for bench in benches() {
        let pool = used_pool(&bench);
        let Bench { device, stream, k } = &bench;
        let more = More::load(device).unwrap();
        let (value, written, read) = (Slot::new(3f32.to_bits()), Slot::new(64u32), Slot::new(64u32));
        let mut out = device.zeros::<f32>(64).unwrap();
        let mut bits = device.zeros::<u32>(64).unwrap();
        // One slot, one node: the node alone is changed in place.
        let mut one = device
            .graph()
            .pool(&pool)
            .record(|r| {
                let mut t = r.alloc::<u32>(64)?;
                r.run(k.put_first(&value, &written, &mut t))?;
                r.run(copy(&t, &mut bits))
            })
            .unwrap();
        // Two slots, two nodes, and a reader whose blocks a slot decides.
        let (first, second) = (Slot::new(64u32), &read);
        let mut two = device
            .graph()
            .pool(&pool)
            .record(|r| {
                let mut t = r.alloc::<f32>(64)?;
                r.run(more.window_first(baked(0), baked(64), &device.buffer(&[2f32; 64])?, &mut t))?;
                let mut u = r.alloc::<f32>(64)?;
                r.run(more.window_first(baked(0), &first, &t, &mut u))?;
                r.run(more.window_first(baked(0), second, &u, &mut out))
            })
            .unwrap();
        for _ in 0..2 {
            one.launch(stream).unwrap();
            assert_eq!(stream.read(&bits).unwrap(), [3f32.to_bits(); 64]);
            written.set(0);
            for _ in 0..2 {
                expect_unwritten(&one.launch(stream).unwrap_err(), 0..256, Some("put_first"));
            }
            value.set(4f32.to_bits());
            expect_unwritten(&one.launch(stream).unwrap_err(), 0..256, Some("put_first"));
            written.set(64);
            value.set(3f32.to_bits());

            two.launch(stream).unwrap();
            assert_eq!(stream.read(&out).unwrap(), [2.0; 64]);
            first.set(0);
            second.set(32);
            expect_unwritten(&two.launch(stream).unwrap_err(), 0..256, Some("window_first"));
            // Nobody writes and nobody reads: a launch like any other.
            second.set(0);
            two.launch(stream).unwrap();
            assert_eq!(stream.read(&out).unwrap(), [2.0; 64]);
            second.set(64);
            expect_unwritten(&two.launch(stream).unwrap_err(), 0..256, Some("window_first"));
            first.set(64);
        }
        // Recorded without blocks on both sides, and given some later.
        first.set(0);
        read.set(0);
        let mut later = device
            .record(|r| {
                let mut t = r.alloc::<f32>(64)?;
                r.run(more.window_first(baked(0), &first, &device.buffer(&[5f32; 64])?, &mut t))?;
                r.run(more.window_first(baked(0), &read, &t, &mut out))
            })
            .unwrap();
        later.launch(stream).unwrap();
        read.set(64);
        expect_unwritten(&later.launch(stream).unwrap_err(), 0..256, Some("window_first"));
        first.set(64);
        later.launch(stream).unwrap();
        assert_eq!(stream.read(&out).unwrap(), [5.0; 64]);
        bench.expect_no_findings();
    }
}

/// Written is a matter of bytes: one element of a temp does not make the rest of it readable.
#[test]
fn hole_e6() {
    for bench in benches() {
        let pool = used_pool(&bench);
        let Bench { device, stream, .. } = &bench;
        let mut out = device.zeros::<u32>(64).unwrap();
        let refused = device.graph().pool(&pool).record(|r| {
            let mut t = r.alloc::<u32>(64)?;
            r.run(fill(&mut t[..1], baked(1)))?;
            r.run(copy(&t, &mut out))
        });
        expect_unwritten(&refused.unwrap_err(), 4..256, None);
        let mut whole = device
            .graph()
            .pool(&pool)
            .record(|r| {
                let mut t = r.alloc::<u32>(64)?;
                r.run(fill(&mut t[32..], baked(2)))?;
                r.run(fill(&mut t[..32], baked(1)))?;
                r.run(copy(&t, &mut out))
            })
            .unwrap();
        whole.launch(stream).unwrap();
        let expected: Vec<u32> = [[1; 32], [2; 32]].concat();
        assert_eq!(stream.read(&out).unwrap(), expected);
    }
}

/// Waits until nobody holds the device of a machine.
#[track_caller]
fn expect_given_back(machine: &Machine) {
    let begun = Instant::now();
    while machine.census().retains > 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "the device is held by nobody but itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(machine.findings(), []);
}

/// What a graph or a pool keeps may hold the device. Nothing but handles and work in flight keeps a device.
#[test]
fn hole_e7() {
    type Keeping = fn(&Bench);
    let by_graph_a_buffer: Keeping = |Bench { device, stream, k }| {
        let (kept, mut v) = (device.zeros::<u32>(4).unwrap(), device.scalar(0u32).unwrap());
        let op = |r: &mut Recorder<'_>| {
            r.keep(kept);
            r.run(k.bump(&mut v))
        };
        device.record(op).unwrap().launch(stream).unwrap();
    };
    let by_graph_the_device: Keeping = |Bench { device, stream, k }| {
        let mut v = device.scalar(0u32).unwrap();
        let op = |r: &mut Recorder<'_>| {
            r.keep(device.clone());
            r.run(k.bump(&mut v))
        };
        device.record(op).unwrap().launch(stream).unwrap();
    };
    let by_eager_run: Keeping = |Bench { device, stream, k }| {
        let mut v = device.scalar(0u32).unwrap();
        let op = |r: &mut Recorder<'_>| {
            r.keep(device.clone());
            r.run(k.bump(&mut v))
        };
        stream.run(op).unwrap();
    };
    let by_pool: Keeping = |Bench { device, stream, k }| {
        let (pool, mut v) = (device.pool(), device.scalar(0u32).unwrap());
        pool.keep(device.zeros::<u32>(4).unwrap()).unwrap();
        let mut graph = device.graph().pool(&pool).record(k.bump(&mut v)).unwrap();
        graph.launch(stream).unwrap();
    };
    let by_pool_alone: Keeping = |Bench { device, .. }| {
        let pool = device.pool();
        pool.keep(device.zeros::<u32>(4).unwrap()).unwrap();
    };
    let by_graph_a_graph: Keeping = |Bench { device, stream, k }| {
        let mut v = device.scalar(0u32).unwrap();
        let mut inner = device.record(k.bump(&mut v)).unwrap();
        inner.launch(stream).unwrap();
        let op = |r: &mut Recorder<'_>| {
            r.keep(Mutex::new(inner));
            r.run(k.bump(&mut v))
        };
        device.record(op).unwrap().launch(stream).unwrap();
    };
    let all = [by_graph_a_buffer, by_graph_the_device, by_eager_run, by_pool, by_pool_alone, by_graph_a_graph];
    for keeping in all {
        for bench in benches() {
            let machine = bench.machine().clone();
            keeping(&bench);
            // The last handle of the user's goes with work in flight, and nobody ever asks the device again.
            drop(bench);
            expect_given_back(&machine);
        }
    }
}

/// An op that is called as the function it is, fails or panics, and is caught: nothing of it is left to the next one.
#[test]
fn hole_e8() {
    for Bench { device, stream, k } in benches() {
        let more = More::load(&device).unwrap();
        let mut x = device.zeros::<u32>(64).unwrap();
        let zero = Slot::new(0u32);
        let panic = || dacapo::op::from_fn(|_: &mut Recorder<'_>| -> dacapo::Result<()> { panic!("on purpose") });
        let mut graph = device
            .record(|r| {
                let caught = catch_unwind(AssertUnwindSafe(|| panic().label("ghost")(r)));
                assert!(caught.is_err());
                let caught = catch_unwind(AssertUnwindSafe(|| panic().with_grid(grid::linear(0, 1))(r)));
                assert!(caught.is_err());
                // A condition is the user's code too: here it divides by zero.
                let caught = catch_unwind(AssertUnwindSafe(|| more.put_part(baked(1), &zero, &mut x)(r)));
                assert!(caught.is_err());
                // The first half of what fails, whichever way the halves were joined.
                let fail =
                    || dacapo::op::from_fn(|_: &mut Recorder<'_>| -> dacapo::Result<()> { Err(Error::msg("no")) });
                assert!(fill(&mut x, baked(1)).then(fail())(r).is_err());
                assert!(fill(&mut x, baked(1)).zip(fail())(r).is_err());
                assert!(fill(&mut x, baked(1)).and_then(|()| fail())(r).is_err());
                let ghost = fill(&mut x, baked(1)).then(panic()).label("ghost").with_grid(grid::linear(0, 1));
                assert!(catch_unwind(AssertUnwindSafe(|| ghost(r))).is_err());
                // A geometry that a refused kernel was to have is the next one's.
                r.run(
                    dacapo::op::from_fn(|r: &mut Recorder<'_>| {
                        assert!(
                            more.window_first(baked(9), baked(9), &device.zeros(1)?, &mut device.zeros(1)?)(r).is_err()
                        );
                        k.put_any(baked(4), &mut x)(r)
                    })
                    .with_grid(grid::linear(32, 32)),
                )
            })
            .unwrap();
        let report = graph.inspect();
        assert_eq!(graph.len(), 1, "{report}");
        assert!(!report.to_string().contains("ghost"), "{report}");
        graph.launch(&stream).unwrap();
        let expected: Vec<u32> = [[4; 32], [0; 32]].concat();
        assert_eq!(stream.read(&x).unwrap(), expected);
    }
}

/// Where bound memory begins may empty a grid too.
#[test]
fn hole_e9() {
    for bench in benches() {
        let pool = used_pool(&bench);
        let Bench { device, stream, .. } = &bench;
        let more = More::load(device).unwrap();
        let (x, mut y) = (device.buffer(&[6f32; 65]).unwrap(), device.zeros::<f32>(64).unwrap());
        let mut graph = device
            .graph()
            .pool(&pool)
            .record_into(&x[..64], &mut y[..], |r, x, y| {
                let mut t = r.alloc::<f32>(64)?;
                r.run(more.window_aligned(baked(0), x, &mut t))?;
                r.run(copy(&t, y))
            })
            .unwrap();
        for _ in 0..2 {
            graph.launch(stream, &x[..64], &mut y[..]).unwrap();
            assert_eq!(stream.read(&y).unwrap(), [6.0; 64]);
            let refused = graph.launch(stream, &x[1..], &mut y[..]).map(drop);
            expect_unwritten(&refused.unwrap_err(), 0..256, Some("window_aligned"));
        }
    }
}

/// Panics when it is dropped, with something that panics when it is dropped.
struct Bad {
    _device: dacapo::Device,
}

struct Worse;

impl Drop for Bad {
    fn drop(&mut self) {
        std::panic::panic_any(Worse);
    }
}

impl Drop for Worse {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

/// What a kept value does in its drop keeps nobody from looking after other devices.
#[test]
fn hole_e10() {
    let keep_bad = |Bench { device, stream, k }: &Bench| {
        let (mut v, bad) = (device.scalar(0u32).unwrap(), Bad { _device: device.clone() });
        let op = |r: &mut Recorder<'_>| {
            r.keep(bad);
            r.run(k.bump(&mut v))
        };
        stream.run(op).unwrap();
    };
    let keep_device = |Bench { device, stream, k }: &Bench| {
        let mut v = device.scalar(0u32).unwrap();
        let op = |r: &mut Recorder<'_>| {
            r.keep(device.clone());
            r.run(k.bump(&mut v))
        };
        stream.run(op).unwrap();
    };
    for bench in benches() {
        let machine = bench.machine().clone();
        keep_bad(&bench);
        drop(bench);
        expect_given_back(&machine);
    }
    for bench in benches() {
        let machine = bench.machine().clone();
        keep_device(&bench);
        drop(bench);
        expect_given_back(&machine);
    }
}

/// An element whose clone reads the buffer that it is in.
#[derive(Copy, Debug, PartialEq, dacapo::bytemuck::Pod, dacapo::bytemuck::Zeroable)]
#[bytemuck(crate = "dacapo::bytemuck")]
#[repr(C)]
struct Curious(u32);

impl dacapo::Pod for Curious {}

static READ_BY_ITSELF: std::sync::OnceLock<dacapo::HostBuffer<Curious>> = std::sync::OnceLock::new();

thread_local!(static INSIDE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });

#[expect(clippy::non_canonical_clone_impl, reason = "safe code may do so")]
impl Clone for Curious {
    fn clone(&self) -> Curious {
        if !INSIDE.replace(true) {
            let _ = READ_BY_ITSELF.get().map(dacapo::HostBuffer::to_vec);
            INSIDE.set(false);
        }
        *self
    }
}

/// No lock is held while code of the user's makes elements.
#[test]
fn hole_e11() {
    let bench = Bench::seeded(0);
    READ_BY_ITSELF.set(bench.device.host(&[Curious(7); 4]).unwrap()).unwrap();
    let reader = std::thread::spawn(|| READ_BY_ITSELF.get().unwrap().to_vec().unwrap());
    let begun = Instant::now();
    while !reader.is_finished() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it waits for itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(reader.join().unwrap(), [Curious(7); 4]);
}

/// Counts how often it was dropped, and panics each time.
struct Loud(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Drop for Loud {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        panic!("on purpose");
    }
}

/// Two values that panic when they are dropped are both dropped, wherever a recording ends; and the process goes on.
#[test]
fn hole_e12() {
    for Bench { device, stream, k } in benches() {
        let dropped = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let keep_two = |r: &mut Recorder<'_>| {
            r.keep(Loud(dropped.clone()));
            r.keep(Loud(dropped.clone()));
            dacapo::Result::Ok(())
        };
        let eager_without_ops = || drop(stream.run(|r: &mut Recorder<'_>| keep_two(r)));
        let inspected = || drop(device.graph().inspect(|r: &mut Recorder<'_>| keep_two(r)));
        let arena = device.arena(256).unwrap();
        let too_large = || {
            let mut v = device.zeros::<u32>(1).unwrap();
            drop(device.graph().arena(&arena).record(|r: &mut Recorder<'_>| {
                keep_two(r)?;
                let mut t = r.alloc::<u32>(1000)?;
                r.run(k.put(baked(1), &mut t))?;
                r.run(copy(&t[..1], &mut v))
            }))
        };
        let in_a_pool = || {
            let pool = device.pool();
            pool.keep(Loud(dropped.clone())).unwrap();
            let mut v = device.zeros::<u32>(1).unwrap();
            let graph = device.graph().pool(&pool).record(|r: &mut Recorder<'_>| {
                r.keep(Loud(dropped.clone()));
                r.run(fill(&mut v, baked(1)))
            });
            drop((pool, graph));
        };
        let ways: [&dyn Fn(); 4] = [&eager_without_ops, &inspected, &too_large, &in_a_pool];
        for (number, way) in ways.iter().enumerate() {
            let caught = catch_unwind(AssertUnwindSafe(way));
            let panic = caught.expect_err("the first panic goes on");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"), "{number}");
            let count = dropped.swap(0, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(count, 2, "{number}");
        }
    }
}
