//! Planned memory: one allocation a graph, arenas of the caller's, and what does not fit.

use dacapo::raw::{RawSlice, foreign};
use dacapo::{ErrorKind, Graph, Recorder, Result, Slice, baked, copy, fill};
use dacapo_driver::{CUresult, Call, Count, Driver};

use crate::kit::{Bench, benches, hooked, kind, set_all, software};

/// `out` ← `value`, through so many temps of as many elements, one after the other.
fn through(r: &mut Recorder<'_>, temps: usize, value: u32, out: &mut Slice<u32>) -> Result<()> {
    let mut last = r.alloc::<u32>(out.len())?;
    r.run(fill(&mut last, baked(value)))?;
    for _ in 1..temps {
        let mut next = r.alloc::<u32>(out.len())?;
        r.run(copy(&last, &mut next))?;
        last = next;
    }
    r.run(copy(&last, out))
}

/// All driver calls so far.
fn total(count: &Count) -> u64 {
    count.snapshot().iter().map(|call| call.calls).sum()
}

#[test]
fn a_graph_has_one_allocation_for_all_its_temps_and_an_eager_run_too() {
    let (bench, count) = hooked(Count::new());
    let Bench { device, stream, .. } = &bench;
    let mut out = device.zeros::<u32>(256).unwrap();
    let (before, calls) = (device.counters(), count.of(Call::cuMemAllocAsync).calls);
    let mut graph = device.record(|r: &mut Recorder<'_>| through(r, 10, 7, &mut out)).unwrap();
    assert_eq!(graph.memory().temps(), 2048, "of ten temps of 1024 bytes two are alive at a time");
    assert_eq!(count.of(Call::cuMemAllocAsync).calls - calls, 1);
    assert_eq!(device.counters().allocations - before.allocations, 1);
    graph.launch(stream).unwrap();
    drop(graph);
    assert_eq!(stream.read(&out).unwrap(), [7; 256]);
    let (calls, frees) = (count.of(Call::cuMemAllocAsync).calls, count.of(Call::cuMemFreeAsync).calls);
    stream.run(|r: &mut Recorder<'_>| through(r, 10, 8, &mut out)).unwrap();
    assert_eq!((count.of(Call::cuMemAllocAsync).calls - calls, count.of(Call::cuMemFreeAsync).calls - frees), (1, 1));
    assert_eq!(stream.read(&out).unwrap(), [8; 256]);
    device.synchronize().unwrap();
    assert_eq!(device.counters().allocations, before.allocations);
    bench.expect_no_findings();
}

#[test]
fn temps_of_branches_that_may_overlap_share_nothing() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let mut outs = [device.zeros::<u32>(1000).unwrap(), device.zeros::<u32>(1000).unwrap()];
        let body = |outs: &mut [dacapo::Buffer<u32>; 2], r: &mut Recorder<'_>| {
            let [a, b] = outs;
            through(r, 4, 1, a)?;
            through(r, 4, 2, b)
        };
        let mut graph = device.record(|r: &mut Recorder<'_>| body(&mut outs, r)).unwrap();
        let line = device.graph().straight_line().record(|r: &mut Recorder<'_>| body(&mut outs, r)).unwrap();
        assert!(graph.memory().temps() >= 16_000 && line.memory().temps() < 9_000, "{graph:?} {line:?}");
        graph.launch(stream).unwrap();
        assert_eq!(stream.read(&outs[0]).unwrap(), [1; 1000]);
        assert_eq!(stream.read(&outs[1]).unwrap(), [2; 1000]);
        bench.expect_no_findings();
    }
}

#[test]
fn temps_without_bytes_or_use_take_nothing() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let mut out = device.zeros::<u32>(4).unwrap();
    let before = device.counters().allocations;
    let mut graph = device
        .record(|r: &mut Recorder<'_>| {
            let mut empty = r.alloc::<u32>(0)?;
            let _unused = r.alloc::<u32>(1 << 20)?;
            r.run(fill(&mut empty, baked(1)))?;
            r.run(copy(&empty, &mut out[..0]))?;
            r.run(fill(&mut out, baked(2)))
        })
        .unwrap();
    assert_eq!((graph.memory().temps(), device.counters().allocations), (0, before));
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&out).unwrap(), [2; 4]);
}

#[test]
fn an_arena_serves_graphs_and_runs_and_says_how_much_they_needed() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let other = device.stream().unwrap();
        let arena = device.arena(8192).unwrap();
        let mut outs = [device.zeros::<u32>(256).unwrap(), device.zeros::<u32>(1000).unwrap()];
        let [a, b] = &mut outs;
        let before = device.counters().allocations;
        let mut small = device.graph().arena(&arena).record(|r: &mut Recorder<'_>| through(r, 3, 1, a)).unwrap();
        assert_eq!((arena.used(), arena.graphs()), (2048, 1));
        let mut large = device.graph().arena(&arena).record(|r: &mut Recorder<'_>| through(r, 3, 2, b)).unwrap();
        assert_eq!((arena.used(), arena.graphs(), arena.bytes()), (8096, 2, 8192));
        assert_eq!(device.counters().allocations, before, "nothing was allocated for them");
        for _ in 0..4 {
            small.launch(stream).unwrap();
            large.launch(&other).unwrap();
            assert_eq!(other.read(&outs[0]).unwrap(), [1; 256]);
            assert_eq!(stream.read(&outs[1]).unwrap(), [2; 1000]);
            let [a, _] = &mut outs;
            other.run_in(&arena, |r: &mut Recorder<'_>| through(r, 5, 3, a)).unwrap();
        }
        drop((small, large));
        assert_eq!(arena.graphs(), 0);
        assert_eq!(stream.read(&outs[0]).unwrap(), [3; 256]);
        bench.expect_no_findings();
    }
}

#[test]
fn what_does_not_fit_an_arena_is_refused_with_op_and_numbers_before_the_driver_is_asked() {
    let (bench, count) = hooked(Count::new());
    let Bench { device, stream, .. } = &bench;
    let arena = device.arena(2000).unwrap();
    let mut out = device.zeros::<u32>(256).unwrap();
    let (calls, asked) = (total(&count), count.of(Call::cuCtxGetCurrent).calls);
    let (mut line, mut refusals) = (0, Vec::new());
    let mut body = |r: &mut Recorder<'_>| {
        let (mut a, mut b) = (r.alloc::<u32>(256)?, r.alloc::<u32>(256)?);
        r.run(fill(&mut a, baked(1)))?;
        line = line!() + 1;
        r.run(dacapo::Op::label(copy(&a, &mut b), "second"))?;
        r.run(copy(&b, &mut out))
    };
    refusals.push(device.graph().arena(&arena).label("step").record(&mut body).map(drop).unwrap_err());
    refusals.push(stream.run_in(&arena, &mut body).unwrap_err());
    for (error, label) in refusals.iter().zip(["step/second", "second"]) {
        let exhausted = ErrorKind::ArenaExhausted { wanted: 1024, left: 976, bytes: 2000, needed: 2048 };
        assert_eq!((error.kind(), error.op(), error.label()), (&exhausted, "copy", label));
        assert_eq!(error.location().unwrap().line(), line);
        assert!(error.to_string().contains("a temp of 1024 bytes does not fit the arena: 976 of its 2000 bytes"));
        assert!(error.help().unwrap().contains("device.arena(2048)"));
    }
    // Which context is current is asked on entering, and nothing else.
    let asked = count.of(Call::cuCtxGetCurrent).calls - asked;
    assert_eq!(total(&count) - calls, asked);
    assert_eq!((arena.used(), arena.graphs()), (0, 0));
}

#[test]
fn an_arena_outlives_its_handles_as_long_as_a_graph_or_work_is_in_it() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let before = device.counters().allocations;
        let mut out = device.zeros::<u32>(1000).unwrap();
        let arena = device.arena(1 << 16).unwrap();
        let mut graph: Graph<()> =
            device.graph().arena(&arena).record(|r: &mut Recorder<'_>| through(r, 9, 5, &mut out)).unwrap();
        drop(arena);
        device.synchronize().unwrap();
        graph.launch(stream).unwrap();
        drop(graph);
        assert_eq!(stream.read(&out).unwrap(), [5; 1000]);
        let arena = device.arena(1 << 16).unwrap();
        stream.run_in(&arena, |r: &mut Recorder<'_>| through(r, 9, 6, &mut out)).unwrap();
        drop(arena);
        drop(device.zeros::<u8>(1).unwrap());
        assert_eq!(stream.read(&out).unwrap(), [6; 1000]);
        drop(out);
        device.synchronize().unwrap();
        assert_eq!(device.counters().allocations, before);
        bench.expect_no_findings();
    }
}

#[test]
fn an_arena_of_another_device_is_refused() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let elsewhere = software(0).open().unwrap().arena(64).unwrap();
    let mut y = device.zeros::<u32>(4).unwrap();
    let strange = |kind: ErrorKind| {
        assert!(matches!(&kind, ErrorKind::WrongDevice { what, .. } if what == "the arena"), "{kind:?}")
    };
    strange(kind(device.graph().arena(&elsewhere).record(fill(&mut y, baked(1)))));
    strange(kind(stream.run_in(&elsewhere, fill(&mut y, baked(1)))));
}

#[test]
fn a_warm_up_runs_in_the_arena_that_the_graph_will_be_in() {
    let (bench, count) = hooked(Count::new());
    let Bench { device, stream, .. } = &bench;
    let (arena, mut out) = (device.arena(4096).unwrap(), device.zeros::<u32>(64).unwrap());
    let calls = count.of(Call::cuMemAllocAsync).calls;
    let mut graph = device
        .graph()
        .arena(&arena)
        .warmup_unrestored(3)
        .record(|r: &mut Recorder<'_>| through(r, 3, 1, &mut out))
        .unwrap();
    assert_eq!(count.of(Call::cuMemAllocAsync).calls, calls);
    graph.launch(stream).unwrap();
    assert_eq!(stream.read(&out).unwrap(), [1; 64]);
}

#[test]
fn temps_apart_show_what_leaves_one_of_them() {
    // A kernel whose declaration forgot a condition stores behind a temp, where another one lies or not.
    let store = |apart: bool| {
        let bench = Bench::seeded(0);
        let Bench { device, stream, k } = &bench;
        let mut out = device.zeros::<u32>(64).unwrap();
        let recording = if apart { device.graph().apart() } else { device.graph() };
        let mut graph = recording
            .record(|r: &mut Recorder<'_>| {
                let (mut a, mut b) = (r.alloc::<u32>(64)?, r.alloc::<u32>(64)?);
                r.run(fill(&mut a, baked(1)))?;
                r.run(fill(&mut b, baked(2)))?;
                r.run(k.store_at(baked(64), &mut a))?;
                r.run(copy(&b, &mut out))?;
                r.run(copy(&a, &mut out))
            })
            .unwrap();
        let bytes = graph.memory().temps();
        let launched = graph.launch(stream).map(drop).and_then(|()| stream.synchronize());
        let found: Vec<_> =
            device.findings().iter().map(|found| found.split(':').next().unwrap().to_string()).collect();
        (bytes, launched.is_ok(), found.join(", "))
    };
    assert_eq!(store(true), (512, false, "error[out-of-bounds]".into()));
    // Inside one allocation it is no fault; but the op was not given it, and nothing orders it against those that were.
    assert_eq!(store(false), (512, true, "error[undeclared-access], error[unordered]".into()));
}

#[test]
fn a_workspace_is_a_temp_that_needs_no_write_and_is_counted() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let (machine, mut out) = (bench.machine().clone(), device.zeros::<u32>(64).unwrap());
        let body = |r: &mut Recorder<'_>| {
            for value in [3, 4] {
                let mut scratch = r.workspace(256)?;
                assert_eq!(scratch.len(), 256);
                let (machine, set) = (machine.clone(), set_all(machine.clone(), value));
                // SAFETY: it sets what is declared as written.
                r.run(unsafe {
                    foreign((), (&mut scratch[..], &mut out[..]), move |stream, (), (s, y): (RawSlice<u8>, _)| {
                        let code = machine.cuMemsetD8Async(s.ptr, 1, s.len, stream.0);
                        assert_eq!(code, CUresult::CUDA_SUCCESS);
                        set(stream, (), y)
                    })
                })?;
            }
            Ok(())
        };
        let mut graph = device.record(body).unwrap();
        assert_eq!((graph.memory().temps(), graph.memory().workspaces), (256, 256), "two of them share the same bytes");
        let outer = device.record(graph.as_op()).unwrap();
        assert_eq!(outer.memory().workspaces, 256);
        graph.launch(stream).unwrap();
        assert_eq!(stream.read(&out).unwrap(), [4; 64]);
        bench.expect_no_findings();
    }
}
