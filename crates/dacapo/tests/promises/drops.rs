//! Dropping, losing the context, and ending the process.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dacapo::raw::foreign;
use dacapo::{Device, ErrorKind, Graph, Recorder, Slot, baked, copy, fill};
use dacapo_driver::{Argument, CUresult, Call, Count, Driver, Hook};

use crate::kit::{Bench, benches, hooked, kind};

fn calls(count: &Count) -> u64 {
    count.snapshot().iter().map(|call| call.calls).sum()
}

/// Runs a body on another thread, and panics if it is not done in a minute.
#[track_caller]
fn in_time(body: impl FnOnce() + Send + 'static) {
    let (other, begun) = (std::thread::spawn(body), Instant::now());
    while !other.is_finished() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
    other.join().unwrap();
}

#[test]
fn drops_make_no_driver_call_and_run_on_any_thread() {
    let (Bench { device, stream, k }, count) = hooked(Count::new());
    let value = Slot::new(1u32);
    let (x, shared) = (device.buffer(&[1u32; 64]).unwrap(), device.zeros::<u32>(64).unwrap().share());
    let (mut y, mut scalar) = (device.zeros::<u32>(64).unwrap(), device.scalar(1u32).unwrap());
    let mut host = device.host(&[0u32; 64]).unwrap();
    let pool = device.pool();
    let mut graph: Graph<_> = device
        .graph()
        .pool(&pool)
        .record(|r| {
            let mut t = r.alloc::<u32>(64)?;
            r.run(k.put(&value, &mut t))?;
            r.run(copy(&x, &mut y))?;
            r.run(k.bump(&mut scalar))?;
            r.run(dacapo::download(&y, &mut host))?;
            r.output::<u32>(4)
        })
        .unwrap();
    let mut into = device.graph().record_into(&x[..], &mut y[..], |r, i, o| r.run(copy(i, o))).unwrap();
    let other = device.stream().unwrap();
    // All of it in flight on two streams.
    into.launch(&other, &x, &mut y).unwrap();
    let ticket = graph.submit(&stream).unwrap();
    drop(graph.launch(&stream).unwrap());
    let before = calls(&count);
    std::thread::spawn(move || {
        drop((graph, into, x, y, scalar, host, shared, ticket));
        drop((other, stream, pool, value, k));
    })
    .join()
    .unwrap();
    assert_eq!(calls(&count), before);
    assert!(device.counters().waiting > 0, "they wait in the queue");
    device.synchronize().unwrap();
    let left = device.counters();
    assert_eq!((left.allocations, left.graphs, left.streams, left.modules, left.waiting), (0, 0, 0, 0, 0));
    assert_eq!(device.findings(), [] as [String; 0]);
}

#[test]
fn a_graph_keeps_what_it_touches_and_what_it_was_given_until_its_last_replay_is_over() {
    struct Told(Arc<AtomicU64>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let dropped = Arc::new(AtomicU64::new(0));
        let mut y = device.zeros::<u32>(64).unwrap();
        let seen = y.share();
        let (kept, held) = (Told(dropped.clone()), Told(dropped.clone()));
        let mut graph = device
            .record(|r: &mut Recorder<'_>| {
                r.keep(kept);
                // SAFETY: it enqueues nothing.
                r.run(unsafe {
                    foreign((), (), move |_, (), ()| {
                        let _ = &held;
                        Ok(())
                    })
                })?;
                r.run(k.put(baked(3), &mut y))
            })
            .unwrap();
        drop(y);
        graph.launch(stream).unwrap();
        drop(graph);
        assert_eq!(dropped.load(Ordering::Relaxed), 0, "in flight");
        assert_eq!(stream.read(&seen).unwrap(), [3; 64]);
        device.synchronize().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
        bench.expect_no_findings();
    }
}

/// Memory that only a launch or an eager run in flight touches.
#[test]
fn what_is_dropped_in_flight_is_released_behind_its_last_use() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let other = device.stream().unwrap();
        let mut kept = device.zeros::<u32>(512).unwrap();
        let mut copy_into =
            device.graph().record_into(&kept.share()[..], &mut kept[..], |r, i, o| r.run(copy(i, o))).unwrap();
        for round in 1..10u32 {
            let mut passing = device.buffer(&[round; 512]).unwrap();
            copy_into.launch(&other, &passing, &mut kept).unwrap();
            drop(passing);
            passing = device.buffer(&[u32::MAX; 512]).unwrap();
            assert_eq!(stream.read(&kept).unwrap(), [round; 512]);
            let host = device.host(&[round + 100; 512]).unwrap();
            other.run(dacapo::upload(&host, &mut kept)).unwrap();
            drop((host, passing));
            let reused = device.host(&[u32::MAX; 512]).unwrap();
            assert_eq!(stream.read(&kept).unwrap(), [round + 100; 512]);
            drop(reused);
        }
        bench.expect_no_findings();
    }
}

/// A program that only launches gets rid of what it drops.
#[test]
fn a_launch_releases_what_was_dropped_before_it() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let mut y = device.zeros::<u32>(4).unwrap();
        let mut graph = device.record(k.put(baked(1), &mut y)).unwrap();
        let before = bench.machine().census().allocations;
        let gone = device.zeros::<u32>(1000).unwrap();
        drop(gone);
        assert_eq!(device.counters().waiting, 1);
        graph.launch(stream).unwrap();
        assert_eq!(device.counters().waiting, 0);
        device.synchronize().unwrap();
        assert_eq!(bench.machine().census().allocations, before);
    }
}

/// Notes whether a module was unloaded before an event behind the last launch was seen to have passed, and makes the
/// device look slow: its first events are not ready yet.
#[derive(Default)]
struct Unloads {
    unknown: AtomicBool,
    queries: AtomicU64,
    too_early: AtomicBool,
}

impl Hook for Unloads {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        if call == Call::cuEventQuery && self.queries.fetch_add(1, Ordering::Relaxed) < 2 {
            return CUresult::CUDA_ERROR_NOT_READY;
        }
        let code = run();
        match call {
            Call::cuLaunchKernel | Call::cuLaunchKernelEx => self.unknown.store(true, Ordering::Relaxed),
            Call::cuEventQuery | Call::cuEventSynchronize if code.is_success() => {
                self.unknown.store(false, Ordering::Relaxed);
            }
            Call::cuModuleUnload if self.unknown.load(Ordering::Relaxed) => {
                self.too_early.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
        code
    }
}

/// A stream that is dropped with its work in flight: its kernels are not unloaded under it, and it is waited for.
#[test]
fn a_module_outlives_its_kernels_on_streams_that_are_gone() {
    let (bench, unloads) = hooked(Unloads::default());
    let Bench { device, stream, k } = &bench;
    let mut y = device.zeros::<u32>(1 << 12).unwrap();
    let own = crate::kit::Kernels::load(device).unwrap();
    let other = device.stream().unwrap();
    other.run(own.put(baked(3), &mut y)).unwrap();
    drop((other, own));
    // Each of these empties the queue.
    for _ in 0..3 {
        device.zeros::<u32>(4).unwrap();
    }
    device.synchronize().unwrap();
    assert_eq!((device.counters().modules, device.counters().waiting), (1, 0));
    assert!(!unloads.too_early.load(Ordering::Relaxed));
    stream.run(k.bump(y.at_mut(0))).unwrap();
    assert_eq!(stream.read(&y[..2]).unwrap(), [4, 3]);
    bench.expect_no_findings();
}

/// Nothing that waits in the queue keeps the device alive by itself.
#[test]
fn a_device_goes_with_the_last_that_holds_it() {
    let (bench, count) = hooked(Count::new());
    {
        let Bench { device, stream, k } = &bench;
        let value = Slot::new(1u32);
        let mut y = device.zeros::<u32>(4).unwrap();
        let mut total = device.scalar(0u32).unwrap();
        let pool = device.pool();
        let mut graph = device
            .graph()
            .pool(&pool)
            .record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(4)?;
                r.run(k.put(&value, &mut t))?;
                r.run(k.count(&mut total))?;
                r.run(copy(&t, &mut y))
            })
            .unwrap();
        graph.launch(stream).unwrap();
        let ticket = graph.submit(stream).unwrap();
        drop(graph);
        ticket.wait().unwrap();
    }
    drop(bench);
    assert_eq!(Arc::strong_count(&count), 1, "the driver is still held");
}

/// A drop runs also where a lock of ours is held: inside another library's closure.
#[test]
fn everything_may_be_dropped_inside_foreign_work() {
    in_time(|| {
        let bench = Bench::seeded(0);
        let Bench { device, stream, .. } = &bench;
        for eager in [false, true] {
            let mut y = device.zeros::<u32>(4).unwrap();
            let inner = Bench::new(device.clone());
            let mut z = device.zeros::<u32>(4).unwrap();
            let graph = device.record(fill(&mut z, baked(1))).unwrap();
            let bag = std::sync::Mutex::new(Some((graph, z, device.host(&[1u32]).unwrap(), inner)));
            let work = move |_, (), _| {
                drop(bag.lock().unwrap().take());
                Ok(())
            };
            // SAFETY: it enqueues nothing.
            let op = unsafe { foreign((), &mut y[..], work) };
            match eager {
                false => drop(device.record(op).unwrap()),
                true => stream.run(op).unwrap(),
            }
        }
        bench.expect_usable();
    });
}

/// Calls of the library from inside foreign work are refused: a lock is held, or a capture is open.
#[test]
fn calls_from_inside_foreign_work_are_refused() {
    in_time(|| {
        let bench = Bench::seeded(0);
        let Bench { device, stream, .. } = &bench;
        let mut y = device.zeros::<u32>(4).unwrap();
        let (d, s, seen) = (device.clone(), stream.clone(), y.share());
        let pool = device.pool();
        let work = move |_, (), _| {
            assert!(matches!(kind(pool.clear()), ErrorKind::EagerInRecording { .. }));
            assert!(matches!(kind(s.read(&seen)), ErrorKind::EagerInRecording { .. }));
            assert!(matches!(kind(s.synchronize()), ErrorKind::EagerInRecording { .. }));
            assert!(matches!(kind(d.zeros::<u32>(1)), ErrorKind::EagerInRecording { .. }));
            assert!(matches!(kind(d.record(|_| Ok(()))), ErrorKind::EagerInRecording { .. }));
            assert!(matches!(kind(d.synchronize()), ErrorKind::EagerInRecording { .. }));
            Ok(())
        };
        // SAFETY: it enqueues nothing.
        device.record(unsafe { foreign((), &mut y[..], work.clone()) }).unwrap();
        // SAFETY: as above.
        stream.run(unsafe { foreign((), &mut y[..], work) }).unwrap();
        bench.expect_usable();
    });
}

#[test]
fn a_lost_context_names_its_launch_answers_every_call_and_hangs_nowhere() {
    in_time(|| {
        for bench in benches() {
            let Bench { device, stream, k } = bench;
            let mut y = device.zeros::<u32>(4).unwrap();
            let mut z = device.zeros::<u32>(4).unwrap();
            let mut host = device.host(&[0u32; 4]).unwrap();
            let mut fine = device.record(k.put(baked(1), &mut z)).unwrap();
            let index = Slot::new(0u32);
            let mut graph = device.graph().label("bad one").record(k.store_at(&index, &mut y)).unwrap();
            graph.launch_sync(&stream).unwrap();
            index.set(1 << 28);
            let lost = graph.launch(&stream).and_then(|launched| launched.wait().map(|_| ())).unwrap_err();
            match lost.kind() {
                ErrorKind::Lost { in_flight, findings, .. } => {
                    assert!(in_flight.iter().any(|name| name.contains("bad one")), "{in_flight:?}");
                    assert!(findings.iter().any(|finding| finding.contains("store_at")), "{findings:?}");
                }
                other => panic!("{other:?}"),
            }
            let is_lost = |kind: ErrorKind| assert!(matches!(kind, ErrorKind::Lost { .. }), "{kind:?}");
            is_lost(kind(stream.read(&z)));
            is_lost(kind(stream.write(&mut z, &[0; 4])));
            is_lost(kind(stream.synchronize()));
            is_lost(kind(stream.run(fill(&mut z, baked(1)))));
            is_lost(kind(device.synchronize()));
            is_lost(kind(device.zeros::<u32>(4)));
            is_lost(kind(device.stream()));
            is_lost(kind(device.record(fill(&mut z, baked(1)))));
            is_lost(kind(fine.launch(&stream)));
            is_lost(kind(fine.submit(&stream)));
            is_lost(kind(host.set(&[1; 4])));
            is_lost(kind(crate::kit::Kernels::load(&device)));
            // On another thread too, and all of it can be dropped there.
            std::thread::spawn(move || {
                is_lost(kind(stream.read(&y)));
                drop((graph, fine, y, z, host, k, stream, device));
            })
            .join()
            .unwrap();
            // A device of its own has its own context.
            Bench::seeded(0).expect_usable();
        }
    });
}

/// The names of launches that were in flight, as a lost context tells them.
#[track_caller]
fn in_flight(lost: dacapo::Error) -> Vec<String> {
    match lost.kind() {
        ErrorKind::Lost { in_flight, .. } => in_flight.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lost_context_names_the_launches_that_are_not_known_to_be_over() {
    for waits in [true, false] {
        for Bench { device, stream, k } in benches() {
            let (mut y, mut z) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
            let mut fine = device.graph().label("fine one").record(k.put(baked(1), &mut z)).unwrap();
            let mut bad = device.graph().label("bad one").record(k.store_at(baked(1 << 28), &mut y)).unwrap();
            fine.launch(&stream).unwrap();
            if waits {
                stream.synchronize().unwrap();
            }
            let lost = bad.launch(&stream).and_then(|launched| launched.wait().map(drop)).unwrap_err();
            let named = in_flight(lost);
            let expected: &[&str] = if waits { &["bad one"] } else { &["fine one", "bad one"] };
            assert_eq!(named.len(), expected.len(), "{named:?}");
            assert!(named.iter().zip(expected).all(|(name, label)| name.contains(label)), "{named:?}");
        }
    }
}

/// What runs in a lost context, and what of it can be released, nobody knows: the driver is left to it.
#[test]
fn the_end_of_a_lost_device_destroys_graphs_and_asks_for_nothing_else_of_the_context() {
    let (bench, count) = hooked(Count::new());
    let Bench { device, stream, k } = bench;
    let (mut y, host) = (device.zeros::<u32>(4).unwrap(), device.host(&[1u32; 4]).unwrap());
    let mut bad = device.record(k.store_at(baked(1 << 28), &mut y)).unwrap();
    in_flight(bad.launch(&stream).and_then(|launched| launched.wait().map(drop)).unwrap_err());
    let frees = [Call::cuMemFreeAsync, Call::cuMemFreeHost, Call::cuModuleUnload, Call::cuEventQuery];
    let before = frees.map(|call| count.of(call).calls);
    drop((bad, y, host, k, stream, device));
    assert_eq!(Arc::strong_count(&count), 1, "the driver is still held");
    assert_eq!(frees.map(|call| count.of(call).calls), before);
    for call in [Call::cuGraphExecDestroy, Call::cuDevicePrimaryCtxRelease_v2] {
        assert_eq!(count.of(call).calls, 1, "{call:?}");
    }
}

/// Nobody asked after the launch that broke the context: the end of the device finds it so.
#[test]
fn values_are_let_go_of_also_where_only_the_end_of_the_device_learns_that_its_context_is_lost() {
    for Bench { device, stream, k } in benches() {
        let (kept, mut y) = (Arc::new(()), device.zeros::<u32>(4).unwrap());
        let (machine, raw) = (device.machine().unwrap().clone(), stream.raw().0);
        let op = |r: &mut Recorder<'_>| {
            r.keep(kept.clone());
            r.run(k.store_at(baked(1 << 28), &mut y))
        };
        device.record(op).unwrap().launch(&stream).unwrap();
        // Not through the library, which knows nothing of it.
        // SAFETY: the stream is alive.
        assert!(!unsafe { machine.cuStreamSynchronize(raw) }.is_success());
        assert_eq!(Arc::strong_count(&kept), 2, "it waits for its work");
        drop((k, y, stream, device));
        assert_eq!(machine.census().retains, 0, "the device is gone");
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}

/// Nothing that ends a process waits for its GPU: the child ends with its work in flight.
#[test]
fn a_process_may_end_with_work_in_flight() {
    let begun = Instant::now();
    let ended = child("work_in_flight");
    assert_eq!(ended.status.code(), Some(7), "{ended:?}");
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn best_keeps_why_it_fell_to_software_unless_it_was_asked_for_and_prints_nothing() {
    if Device::cuda(0).is_ok() {
        // A GPU is there: `best` takes it, and there is nothing to say.
        return;
    }
    for role in ["best_fell_to_software", "best_asked_for_software"] {
        let ended = child(role);
        assert!(ended.status.success(), "{role}: {}", String::from_utf8_lossy(&ended.stdout));
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{role}");
    }
}

/// A run with another seed or driver than was asked for would look like the one that was meant.
#[test]
fn a_variable_that_makes_no_sense_is_an_error_and_not_its_default() {
    for role in ["seed_is_no_number", "driver_is_no_text"] {
        let ended = child(role);
        assert!(ended.status.success(), "{role}: {}", String::from_utf8_lossy(&ended.stdout));
    }
}

/// This test again in a process of its own, where it does what `role` says.
fn child(role: &str) -> std::process::Output {
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(this);
    command.args(["--exact", "drops::a_child", "--nocapture"]).env("DACAPO_TEST_CHILD", role);
    match role {
        "best_asked_for_software" => command.env("DACAPO_DRIVER", "software"),
        #[cfg(unix)]
        "driver_is_no_text" => {
            command.env("DACAPO_DRIVER", <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff"))
        }
        _ => command.env_remove("DACAPO_DRIVER"),
    };
    if role == "seed_is_no_number" {
        command.env("DACAPO_SEED", "lucky");
    }
    command.output().unwrap()
}

/// What the children do; nothing in the tests' own process.
#[test]
fn a_child() {
    match std::env::var("DACAPO_TEST_CHILD").as_deref() {
        Ok("work_in_flight") => {
            let Bench { device, stream, k } = Bench::seeded(0);
            let mut y = device.zeros::<u32>(1 << 16).unwrap();
            let mut graph = device.record(k.put(baked(1), &mut y)).unwrap();
            let ticket = graph.submit(&stream).unwrap();
            std::thread::spawn(move || ticket.wait());
            graph.launch(&stream).unwrap();
            std::process::exit(7);
        }
        Ok(role @ ("best_fell_to_software" | "best_asked_for_software")) => {
            let device = Device::best().unwrap();
            assert!(device.is_software());
            assert_eq!(device.why_software().is_some(), role == "best_fell_to_software");
            assert!(Device::software().unwrap().why_software().is_none());
        }
        Ok("seed_is_no_number") => {
            let refused = Device::software().unwrap_err();
            assert!(refused.to_string().contains("DACAPO_SEED is `lucky`: a seed is a number"), "{refused}");
            assert!(refused.help().unwrap().starts_with("unset DACAPO_SEED"));
            assert!(dacapo::Software::new().seed(7).open().is_ok(), "the program's own seed comes first");
        }
        #[cfg(unix)]
        Ok("driver_is_no_text") => {
            let refused = Device::best().unwrap_err();
            assert!(refused.to_string().contains("it may be `cuda` or `software`"), "{refused}");
        }
        _ => {}
    }
}
