//! What memory is used for, and what a budget allows.

use std::sync::Arc;

use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use dacapo::{ErrorKind, Recorder, Slice, baked, copy, fill, upload};
use dacapo_driver::{Call, Count};

use crate::kit::{Bench, hooked, kind, software};

/// What was called since, in the table's order, without the question for the current context.
fn calls(count: &Count) -> Vec<(Call, u64)> {
    count
        .snapshot()
        .iter()
        .map(|one| (one.call, one.calls))
        .filter(|(call, _)| *call != Call::cuCtxGetCurrent)
        .collect()
}

fn counted() -> (Bench, Arc<Count>) {
    hooked(Count::new())
}

#[test]
fn what_is_held_is_in_the_report_by_what_it_is_for_and_goes_with_it() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let before = device.held();
    let (x, host) = (device.zeros::<f32>(1000).unwrap(), device.host(&[1u32; 64]).unwrap());
    let arena = device.arena(1 << 16).unwrap();
    let mut y = device.zeros::<u32>(64).unwrap();
    let graph = device
        .record(|r: &mut Recorder<'_>| {
            let (mut t, mut out) = (r.alloc::<u32>(64)?, r.output::<u32>(64)?);
            r.run(upload(&host, &mut t))?;
            r.run(copy(&t, &mut y))?;
            r.run(copy(&t, &mut out))?;
            Ok(out)
        })
        .unwrap();
    let held = device.held();
    assert_eq!(held.buffers - before.buffers, 4000 + 256);
    assert_eq!((held.outputs, held.host, held.arenas), (256, 256, (1 << 16) + 256));
    let memory = graph.memory();
    assert_eq!((memory.arena, memory.arena_shared, memory.outputs, memory.staging), (256, 0, 256, 256));
    assert_eq!(memory.executable, held.executables, "one graph");
    assert_eq!(memory.total(), 256 * 3 + memory.executable);
    let report = device.memory_report().unwrap();
    assert_eq!((report.held, report.graphs, report.budget), (held, 1, None));
    assert!(report.used() >= 4000 && report.to_string().contains("executables of 1 graphs"), "{report}");
    drop((graph, x, y, host, arena));
    stream.synchronize().unwrap();
    device.synchronize().unwrap();
    let after = device.held();
    // The driver keeps what executables took, and so do the books.
    assert_eq!(after.total() - after.executables - after.staging, before.total() - before.staging, "{after}");
    assert_eq!(after.executables, held.executables);
}

#[test]
fn what_is_over_the_budget_is_refused_with_the_numbers_and_without_a_driver_call() {
    let (bench, count) = counted();
    let Bench { device, stream, .. } = &bench;
    let kept = device.zeros::<u8>(5000).unwrap();
    device.synchronize().unwrap();
    let used = device.held().total();
    device.set_memory_budget(Some(used + 1000));
    assert_eq!(device.memory_budget(), Some(used + 1000));
    let before = calls(&count);
    let error = device.zeros::<u8>(1001).unwrap_err();
    let ErrorKind::OverBudget { wanted: 1001, used: u, budget, held } = *error.kind() else { panic!("{error:?}") };
    assert_eq!((u, budget, held), (used, used + 1000, device.held()));
    let text = error.to_string();
    for number in ["1001", "5000 in buffers", &(used + 1000).to_string()] {
        assert!(text.contains(number), "{text}");
    }
    assert!(matches!(kind(device.host(&[0u8; 1001])), ErrorKind::OverBudget { .. }));
    assert!(matches!(kind(device.arena(1001)), ErrorKind::OverBudget { .. }));
    assert_eq!(calls(&count), before, "the driver was not asked");
    // A graph: its executable alone is over it.
    let mut y = device.zeros::<u32>(4).unwrap();
    let before = calls(&count);
    assert!(matches!(kind(device.record(fill(&mut y, baked(1)))), ErrorKind::OverBudget { .. }));
    // Its arena, private and in a pool.
    device.set_memory_budget(Some(used + (1 << 20)));
    for pool in [None, Some(device.pool())] {
        let mut recording = device.graph();
        if let Some(pool) = &pool {
            recording = recording.pool(pool);
        }
        let refused = recording.record(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u8>(4 << 20)?;
            r.run(fill(&mut t, baked(1)))
        });
        assert!(matches!(kind(refused), ErrorKind::OverBudget { wanted, .. } if wanted >= 4 << 20));
    }
    // And an eager run's temps.
    let refused = stream.run(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u8>(4 << 20)?;
        r.run(fill(&mut t, baked(1)))
    });
    assert!(matches!(kind(refused), ErrorKind::OverBudget { .. }));
    assert_eq!(calls(&count), before, "the driver was not asked");
    device.set_memory_budget(None);
    drop(kept);
    bench.expect_usable();
}

#[test]
fn what_was_dropped_makes_room_in_the_budget_also_when_it_is_in_flight() {
    let bench = Bench::seeded(3);
    let Bench { device, stream, k } = &bench;
    device.set_memory_budget(Some(device.held().total() + (9 << 20)));
    for round in 0..6u32 {
        // In a pool: its memory is mapped, and comes back only when the work is over.
        let pool = device.pool();
        let mut graph = device
            .graph()
            .pool(&pool)
            .record(|r: &mut Recorder<'_>| {
                let (mut t, mut y) = (r.alloc::<u32>(1 << 20)?, r.output::<u32>(1 << 18)?);
                r.run(k.put(baked(round), &mut t[..1 << 10]))?;
                r.run(copy(&t[..16], &mut y[..16]))?;
                Ok(y)
            })
            .unwrap();
        graph.launch(stream).unwrap();
        let y = graph.outputs().share();
        drop((graph, pool));
        assert_eq!(stream.read(&y[..16]).unwrap(), [round; 16]);
    }
    bench.expect_no_findings();
}

/// Whoever asks first after a drop has the room: nothing else must be called before.
#[test]
fn what_was_dropped_just_now_makes_room_in_the_budget_and_on_the_device() {
    let budget = software(0).open().unwrap();
    budget.set_memory_budget(Some(1 << 20));
    let full = software(0).capacity(8 << 20).open().unwrap();
    for (device, bytes) in [(budget, 600_000), (full, 5 << 20)] {
        let stream = device.stream().unwrap();
        for _ in 0..3 {
            let mut y = device.zeros::<u8>(bytes).unwrap();
            // In flight, and nothing is in the queue behind it but its memory.
            (0..50).for_each(|_| stream.run(fill(&mut y[..64], baked(1))).unwrap());
        }
        let refused = kind(device.zeros::<u8>(2 * bytes));
        assert!(matches!(refused, ErrorKind::OverBudget { .. } | ErrorKind::OutOfMemory { .. }), "{refused:?}");
    }
}

#[test]
fn a_cache_drops_graphs_until_the_budget_is_kept_and_is_refused_when_none_is_left() {
    let bench = Bench::seeded(1);
    let Bench { device, stream, .. } = &bench;
    let mut cache = GraphCache::new(device);
    let body = |len: usize| {
        move |r: &mut Recorder<'_>| {
            let mut y = r.output::<u8>(len)?;
            r.run(fill(&mut y, baked(7)))?;
            Ok(y)
        }
    };
    for key in 0..4usize {
        let y = cache.run(stream, &key, body(1 << 20)).unwrap();
        // So that there is a block that reads go through.
        assert_eq!(stream.read(&y[..3]).unwrap(), [7; 3]);
    }
    device.synchronize().unwrap();
    let budget = device.held().total() + 1000;
    device.set_memory_budget(Some(budget));
    for key in 4..9usize {
        let y = cache.run(stream, &key, body(1 << 20)).unwrap();
        assert_eq!(stream.read(&y[..3]).unwrap(), [7; 3]);
        assert!(device.held().total() <= budget && cache.len() <= 4, "{}", device.held());
    }
    let counters = cache.counters();
    assert_eq!((counters.missed, counters.evicted, counters.alive()), (9, 5, 4));
    // The one that was used longest ago went.
    assert!(cache.contains(&8) && !cache.contains(&4));
    assert!(matches!(kind(cache.run(stream, &9, body(64 << 20))), ErrorKind::OverBudget { .. }));
    assert_eq!((cache.len(), cache.counters().failed), (0, 1));
    assert_eq!(cache.counters().requests(), 10);
    cache.run(stream, &9, body(1 << 20)).unwrap();
    bench.expect_no_findings();
}

#[test]
fn out_of_memory_says_what_is_held() {
    let device = software(0).capacity(64 << 20).open().unwrap();
    let kept = device.zeros::<u8>(10 << 20).unwrap();
    let error = device.zeros::<u8>(80 << 20).unwrap_err();
    let ErrorKind::OutOfMemory { bytes, free, total, held } = *error.kind() else { panic!("{error:?}") };
    assert_eq!((bytes, held.buffers), (80 << 20, 10 << 20));
    assert!(free < total && total <= 64 << 20, "{error}");
    assert!(error.to_string().contains("10485760 in buffers"), "{error}");
    drop(kept);
}

#[test]
fn where_memory_runs_out_a_cache_drops_graphs_until_there_is_enough() {
    let device = software(0).capacity(64 << 20).open().unwrap();
    let stream = device.stream().unwrap();
    let mut cache = GraphCache::new(&device);
    for key in 0..12u32 {
        let y = cache
            .run(&stream, &key, |r| {
                let mut y = r.output::<u32>(8 << 18)?;
                r.run(fill(&mut y, baked(key)))?;
                Ok(y)
            })
            .unwrap();
        assert_eq!(stream.read(&y[..2]).unwrap(), [key; 2]);
    }
    let counters = cache.counters();
    assert!(counters.evicted > 0 && counters.failed == 0 && cache.contains(&11), "{counters}");
    assert_eq!(counters.alive(), cache.len() as u64);
}

/// Eight buckets: one arena, as large as the largest needs.
#[test]
fn the_graphs_of_a_cache_share_one_arena_and_its_cap_in_bytes_counts_it_once() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let record = |r: &mut Recorder<'_>, n: usize, x: &Slice<u32>| {
        let (mut t, mut y) = (r.alloc::<u32>(n << 12)?, r.output(n)?);
        r.run(copy(x, &mut t[..n]))?;
        r.run(copy(&t[..n], &mut y))?;
        Ok(y)
    };
    let buckets = Buckets::powers_of_two(128).unwrap();
    let mut f = Bucketed::new(&device, buckets, rows(1, Pad::Zero), record).unwrap();
    assert_eq!(f.prepare().unwrap(), 8);
    assert_eq!(f.cache().pool().arena_bytes(), 128 << 14, "128 rows of 16 KiB");
    let graphs: Vec<usize> = f.buckets().iter().collect();
    let own: usize = graphs.iter().map(|bucket| f.cache().get(bucket).unwrap().memory().own()).sum();
    assert_eq!(f.cache().bytes(), own + (128 << 14));
    // A cap below: the largest do not fit, and run without a graph.
    let mut f = f.max_bytes(3 << 20);
    assert!(f.cache().bytes() <= 3 << 20);
    for n in [128, 100, 3, 128] {
        let x = device.buffer(&vec![n as u32; n]).unwrap();
        assert_eq!(stream.read(f.call(&stream, n, &x).unwrap()).unwrap(), vec![n as u32; n]);
        assert!(f.cache().bytes() <= 3 << 20, "{}", f.cache().bytes());
    }
    drop(f);
    device.synchronize().unwrap();
    assert_eq!(device.held().pools, 0);
}

/// The device's books are the device's alone.
#[test]
fn two_devices_have_two_budgets() {
    let (one, two) = (software(0).open().unwrap(), software(0).open().unwrap());
    one.set_memory_budget(Some(0));
    assert!(one.zeros::<u8>(1).is_err() && two.zeros::<u8>(1).is_ok());
    assert!(one.zeros::<u8>(0).is_ok(), "what takes nothing is allowed");
}
