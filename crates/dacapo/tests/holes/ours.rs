//! Programs that broke this library once.

use std::fmt::Write;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use dacapo::graph::GraphMemory;
use dacapo::shapes::GraphCache;
use dacapo::{Device, ErrorKind, Recorder, Slot, Stream, baked, inspect};
use dacapo_driver::{CUresult, Driver};

use crate::kit::{Bench, benches, kind, panics, software};

dacapo::kernels! {
    /// One entry point with two declarations, which want different amounts of dynamic shared memory.
    unsafe struct TwoWays(include_str!("../promises/kernels.ptx")) {
        fn wide(value: u32, n: u32 = y.len(), y: &mut [u32]) {
            entry: "put";
            grid: linear(y.len(), 32).shared(100_000);
        }
        fn narrow(value: u32, n: u32 = y.len(), y: &mut [u32]) {
            entry: "put";
            grid: linear(y.len(), 32).shared(60_000);
        }
    }
}

dacapo::kernels! {
    /// A text with parentheses in the comments of its list of parameters.
    unsafe struct Commented("
        .version 8.4
        .target sm_80
        .address_size 64
        .visible .entry set(
            .param .u64 y, // where to (device memory)
            .param .u32 value // what (any .param will do)
        ) {
            .reg .b64 %rd<3>;
            .reg .b32 %r<2>;
            ld.param.u64 %rd1, [y];
            cvta.to.global.u64 %rd2, %rd1;
            ld.param.u32 %r1, [value];
            st.global.u32 [%rd2], %r1;
            ret;
        }
    ") {
        fn set(y: &mut u32, value: u32) { grid: exact([1, 1, 1], [1, 1, 1]); }
    }
}

/// Parameters are counted as the text means them.
#[test]
fn hole_d7() {
    for b in benches() {
        let k = Commented::load(&b.device).unwrap();
        let mut y = b.device.zeros::<u32>(2).unwrap();
        b.stream.run(k.set(y.at_mut(1), baked(7))).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [0, 7]);
        b.expect_no_findings();
    }
}

/// What one declaration wants is not taken from another of the same entry point.
#[test]
fn hole_d8() {
    for b in benches() {
        let k = TwoWays::load(&b.device).unwrap();
        let (mut y, mut z) = (b.device.zeros::<u32>(40).unwrap(), b.device.zeros::<u32>(40).unwrap());
        let value = Slot::new(1);
        let mut graph = b.device.record(k.wide(&value, &mut y)).unwrap();
        graph.launch(&b.stream).unwrap();
        b.stream.run(k.narrow(baked(2), &mut z)).unwrap();
        b.stream.run(k.wide(baked(3), &mut z)).unwrap();
        value.set(4);
        graph.launch(&b.stream).unwrap();
        let mut later = b.device.record(k.wide(baked(5), &mut z)).unwrap();
        assert_eq!(b.stream.read(&z).unwrap(), [3; 40]);
        later.launch(&b.stream).unwrap();
        assert_eq!((b.stream.read(&y).unwrap(), b.stream.read(&z).unwrap()), (vec![4; 40], vec![5; 40]));
        b.expect_no_findings();
    }
}

/// A key of which every clone is another.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shifty(u32);

impl Clone for Shifty {
    fn clone(&self) -> Shifty {
        Shifty(self.0 + 1)
    }
}

/// A cache whose key does not keep its word answers with an error, and goes on.
#[test]
fn hole_d11() {
    for b in benches() {
        let mut y = b.device.zeros::<u32>(4).unwrap();
        let mut cache = GraphCache::new(&b.device).max_graphs(1);
        for key in [1, 5, 1] {
            let ran = cache.run(&b.stream, &Shifty(key), |r| r.run(b.k.put(baked(key), &mut y)));
            assert!(matches!(ran.unwrap_err().kind(), ErrorKind::BadKey));
        }
        assert!(cache.get(&Shifty(1)).is_none());
        assert_eq!((cache.len(), cache.counters().failed), (0, 3));
        b.expect_usable();
    }
}

/// What is given out as plain data may be changed, and is then rendered as it is.
#[test]
fn hole_d12() {
    let b = Bench::seeded(0);
    let mut y = b.device.zeros::<u32>(4).unwrap();
    let mut graph = b.device.graph().label("a/".repeat(300_000)).record(b.k.put(baked(1), &mut y)).unwrap();
    let mut profile = graph.profile(&b.stream).unwrap();
    profile.critical_path = vec![7, 0, usize::MAX];
    profile.ops[0].after = vec![9];
    profile.ops[0].lane = usize::MAX;
    (profile.ops[0].time_ns, profile.ops[0].gap_ns) = (u64::MAX, u64::MAX);
    assert_eq!((profile.critical_ns(), profile.sum_ns(), profile.lanes()), (u64::MAX, u64::MAX, usize::MAX));
    assert!(profile.to_string().contains("put"));
    #[cfg(feature = "json")]
    assert!(profile.trace().contains("put"));
    let mut report = graph.inspect();
    report.edges = vec![(5, 9, dacapo::graph::Edge::Full), (1, 0, dacapo::graph::Edge::Waits)];
    report.critical_path.nodes = vec![8];
    report.memories.clear();
    assert!(report.to_string().contains("put") && report.to_dot().contains("put"));
    #[cfg(feature = "json")]
    assert!(report.to_json().contains("put"));
    assert!(!inspect::diff(&report, &graph.inspect()).is_empty());
    let mut memory = graph.memory();
    (memory.arena, memory.outputs) = (usize::MAX, usize::MAX);
    assert_eq!((memory.total(), GraphMemory::executable_of(usize::MAX, 1, 1, 1)), (usize::MAX, usize::MAX));
    let mut held = b.device.held();
    (held.buffers, held.host) = (usize::MAX, usize::MAX);
    assert_eq!(held.total(), usize::MAX);
    let mut counters = GraphCache::<u32, ()>::new(&b.device).counters();
    (counters.hits, counters.missed, counters.evicted) = (u64::MAX, 1, 1);
    assert_eq!((counters.requests(), counters.alive()), (u64::MAX, 0));
}

/// Runs `body` on a thread of its own; a test that hangs fails.
fn within_a_minute<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, outcome) = channel();
    std::thread::spawn(move || done.send(body()));
    outcome.recv_timeout(Duration::from_secs(60)).expect("it hangs, or has panicked")
}

/// A callback that is told of findings may ask the device and its streams.
#[test]
fn hole_d13() {
    for seed in [0, 7] {
        let asked = within_a_minute(move || {
            let (known, (told, heard)) = (Arc::new(OnceLock::<(Device, Stream)>::new()), channel());
            let (inside, told) = (Arc::downgrade(&known), Mutex::new(told));
            let on_finding = move |_: &dacapo_sim::Finding| {
                let known = inside.upgrade().unwrap();
                let (device, stream) = known.get().unwrap();
                let answers = (stream.is_done().is_err(), stream.synchronize().is_err(), device.findings().len());
                told.lock().unwrap().send(answers).unwrap();
            };
            let software = software(seed).options(|o| o.on_finding = Some(Arc::new(on_finding)));
            let b = Bench::new(software.open().unwrap());
            assert!(known.set((b.device.clone(), b.stream.clone())).is_ok());
            let mut y = b.device.zeros::<u32>(4).unwrap();
            let mut graph = b.device.record(b.k.store_at(baked(1000), &mut y)).unwrap();
            // The fault is found while another launch is enqueued, which is one call of the driver's.
            let mut launches = (0..1000).map(|_| graph.launch(&b.stream).map(drop));
            assert!(launches.any(|launch| launch.is_err()), "a store out of bounds is a fault");
            heard.recv().unwrap()
        });
        assert_eq!(asked, (true, true, 1));
    }
}

/// A writer that asks what it is told about.
struct Asking<'a>(&'a dyn Fn());

impl std::fmt::Write for Asking<'_> {
    fn write_str(&mut self, _: &str) -> std::fmt::Result {
        (self.0)();
        Ok(())
    }
}

/// `Debug` holds no lock while it writes.
#[test]
fn hole_d14() {
    within_a_minute(|| {
        let b = Bench::seeded(0);
        let (pool, arena, slot) = (b.device.pool(), b.device.arena(256).unwrap(), Slot::new([1u64; 4]));
        let mut y = b.device.zeros::<u32>(4).unwrap();
        let graph = b.device.graph().pool(&pool).record(b.k.put(baked(1), &mut y)).unwrap();
        let ask = || {
            pool.keep(()).unwrap();
            slot.set([arena.graphs() as u64; 4]);
            b.stream.is_done().unwrap();
            b.device.memory_report().unwrap();
        };
        write!(Asking(&ask), "{pool:?} {arena:?} {slot:?} {graph:?} {:?} {:?}", b.stream, b.device).unwrap();
        assert!(pool.len() > 5);
    });
}

/// What acts now inside a recording is refused with the line that asked for it.
#[test]
fn hole_d15() {
    let b = Bench::seeded(0);
    let (mut x, mut y) = (b.device.zeros::<u32>(4).unwrap(), b.device.zeros::<u32>(4).unwrap());
    let mut kept = b.device.record(b.k.put(baked(1), &mut x)).unwrap();
    let mut line = 0;
    let nested = b.device.record(|_: &mut Recorder<'_>| {
        line = line!() + 1;
        b.device.graph().preloaded().record(b.k.put(baked(1), &mut y))
    });
    let error = nested.map(drop).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::EagerInRecording { call: "GraphBuilder::preloaded" }), "{error}");
    assert_eq!(error.location().map(|at| (at.file(), at.line())), Some((file!(), line)));
    let nested = b.device.record(|_: &mut Recorder<'_>| {
        line = line!() + 1;
        kept.rerecord_with(b.device.graph().preloaded(), b.k.put(baked(2), &mut x))
    });
    let error = nested.map(drop).unwrap_err();
    assert_eq!(error.location().map(|at| (at.file(), at.line())), Some((file!(), line)));
    kept.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&x).unwrap(), [1; 4]);
    b.expect_usable();
}

/// A graph is brought onto its own device only, also when it is there already.
#[test]
fn hole_d16() {
    let (b, other) = (Bench::seeded(0), Bench::seeded(1));
    let mut y = b.device.zeros::<u32>(4).unwrap();
    let mut graph = b.device.record(b.k.put(baked(1), &mut y)).unwrap();
    for _ in 0..2 {
        assert!(matches!(kind(graph.preload(&other.stream)), ErrorKind::WrongDevice { .. }));
        graph.preload(&b.stream).unwrap();
    }
    let inside = b.device.record(|_: &mut Recorder<'_>| graph.preload(&b.stream));
    assert!(matches!(kind(inside), ErrorKind::EagerInRecording { .. }));
}

/// A pool that keeps its own graph can be cleared, by who promises that nobody else needs what it keeps.
#[test]
fn hole_d17() {
    for b in benches() {
        let (pool, value) = (b.device.pool(), Arc::new(()));
        let mut y = b.device.zeros::<u32>(4).unwrap();
        let graphs = b.device.counters().graphs;
        let mut graph = b.device.graph().pool(&pool).record(b.k.put(baked(3), &mut y)).unwrap();
        graph.launch(&b.stream).unwrap();
        pool.keep(value.clone()).unwrap();
        pool.keep(graph).unwrap();
        assert!(matches!(kind(pool.clear()), ErrorKind::PoolInUse { graphs: 1 }));
        // SAFETY: the only graph in the pool is among its values.
        unsafe { pool.clear_unchecked() }.unwrap();
        b.device.synchronize().unwrap();
        assert_eq!((pool.graphs(), pool.len(), Arc::strong_count(&value)), (0, 0, 1));
        assert_eq!((b.device.counters().graphs, b.stream.read(&y).unwrap()), (graphs, vec![3; 4]));
        pool.clear().unwrap();
        b.expect_no_findings();
    }
}

/// A value whose drop panics.
struct Bad;

impl Drop for Bad {
    fn drop(&mut self) {
        panic!("the user's own");
    }
}

/// A drop of the user's that panics keeps nothing else from being released.
#[test]
fn hole_d18() {
    for b in benches() {
        let value = Arc::new(());
        let mut y = b.device.zeros::<u32>(4).unwrap();
        let keep = |r: &mut Recorder<'_>| {
            r.keep(Bad);
            r.keep(value.clone());
            r.keep(Bad);
            r.keep(value.clone());
        };
        // Of a graph that is idle, of one in flight, of an eager run, of a pool, of an op that failed.
        for in_flight in [false, true] {
            let graph = b.device.record(|r: &mut Recorder<'_>| {
                keep(r);
                r.run(b.k.put(baked(1), &mut y))
            });
            let mut graph = graph.unwrap();
            graph.launch(&b.stream).unwrap();
            if !in_flight {
                b.stream.synchronize().unwrap();
            }
            let said = panics(|| {
                drop(graph);
                b.device.synchronize().unwrap();
            });
            assert_eq!((said.as_str(), Arc::strong_count(&value)), ("the user's own", 1));
        }
        let ran = b.stream.run(|r: &mut Recorder<'_>| {
            keep(r);
            r.run(b.k.put(baked(2), &mut y))
        });
        ran.unwrap();
        panics(|| b.device.synchronize().unwrap());
        assert_eq!(Arc::strong_count(&value), 1);
        let pool = b.device.pool();
        pool.keep((Bad, value.clone())).unwrap();
        pool.keep((value.clone(), Bad)).unwrap();
        panics(|| pool.clear().unwrap());
        assert_eq!((pool.len(), Arc::strong_count(&value)), (0, 1));
        let graph = b.device.record(|r: &mut Recorder<'_>| {
            let failed = panics(|| {
                let _ = r.run(|r: &mut Recorder<'_>| -> dacapo::Result<()> {
                    keep(r);
                    r.run(b.k.put(baked(9), &mut y))?;
                    Err(dacapo::Error::msg("no"))
                });
            });
            assert_eq!((failed.as_str(), Arc::strong_count(&value)), ("the user's own", 1));
            r.run(b.k.put(baked(3), &mut y))
        });
        let mut graph = graph.unwrap();
        assert_eq!(graph.len(), 1);
        graph.launch_sync(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [3; 4]);
        b.expect_usable();
        b.expect_no_findings();
    }
}

/// The same where the last handle on the device goes: everything is given back.
#[test]
fn hole_d19() {
    for b in benches() {
        let (machine, value) = (b.machine().clone(), Arc::new(()));
        let mut y = b.device.zeros::<u32>(4).unwrap();
        let graph = b.device.record(|r: &mut Recorder<'_>| {
            r.keep((Bad, value.clone()));
            r.run(b.k.put(baked(1), &mut y))
        });
        let mut graph = graph.unwrap();
        graph.launch(&b.stream).unwrap();
        drop((graph, y));
        // Over, and nobody has emptied the queue since.
        // SAFETY: the stream is alive.
        assert_eq!(unsafe { machine.cuStreamSynchronize(b.stream.raw().0) }, CUresult::CUDA_SUCCESS);
        assert_eq!(panics(move || drop(b)), "the user's own");
        assert_eq!(Arc::strong_count(&value), 1);
        assert_eq!(machine.census(), dacapo_sim::Census::default());
    }
}
