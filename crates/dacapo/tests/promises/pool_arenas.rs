//! The arena that the graphs of a pool share: it grows in place, loses nothing when it cannot, and goes with the pool.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use dacapo::graph::Pool;
use dacapo::shapes::GraphCache;
use dacapo::{Buffer, Device, ErrorKind, Graph, Recorder, Result, baked, copy, fill};
use dacapo_driver::types::{CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, CUstream};
use dacapo_driver::{Argument, CUresult, Call, Driver, Hook};
use dacapo_sim::Machine;

use crate::kit::{Bench, benches, hooked, software};

const MIB: usize = 1 << 20;

/// `out` ← `value`, through two temps of so many MiB that are alive together: of each the last elements are used.
fn step(r: &mut Recorder<'_>, mib: usize, value: u32, out: &mut Buffer<u32>) -> Result<()> {
    let len = mib * MIB / 8;
    let (mut a, mut b) = (r.alloc::<u32>(len)?, r.alloc::<u32>(len)?);
    let at = len - out.len();
    r.run(fill(&mut a[at..], baked(value)))?;
    r.run(copy(&a[at..], &mut b[at..]))?;
    r.run(copy(&b[at..], out))
}

fn graph(device: &Device, pool: &Pool, mib: usize, value: u32, out: &mut Buffer<u32>) -> Result<Graph<()>> {
    device.graph().pool(pool).record(|r: &mut Recorder<'_>| step(r, mib, value, out))
}

#[test]
fn graphs_of_a_pool_share_one_arena_of_the_largest_whatever_the_order() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let other = device.stream().unwrap();
        for sizes in [[2, 4, 12], [12, 4, 2], [4, 12, 2]] {
            let pool = device.pool();
            let mut outs: Vec<_> = (0..3).map(|_| device.zeros::<u32>(500).unwrap()).collect();
            let mut graphs: Vec<Graph<()>> = Vec::new();
            for ((number, out), mib) in (0..).zip(&mut outs).zip(sizes) {
                graphs.push(graph(device, &pool, mib, 10 + number, out).unwrap());
            }
            assert_eq!(pool.arena_bytes(), 12 * MIB, "{sizes:?}");
            assert_eq!(graphs.iter().map(|graph| graph.memory().temps() / MIB).collect::<Vec<_>>(), sizes);
            for _ in 0..3 {
                for graph in &mut graphs {
                    graph.launch(stream).unwrap();
                    graph.launch(&other).unwrap();
                }
            }
            for (number, out) in (0..).zip(&outs) {
                assert_eq!(stream.read(out).unwrap(), [10 + number; 500]);
            }
        }
        bench.expect_no_findings();
    }
}

#[test]
fn a_temp_may_lie_across_the_pieces_that_an_arena_has_grown_by() {
    let bench = Bench::seeded(3);
    let Bench { device, stream, k } = &bench;
    let pool = device.pool();
    let mut out = device.zeros::<u32>(500).unwrap();
    drop(graph(device, &pool, 2, 1, &mut out).unwrap());
    let len = 5 * MIB / 4;
    let mut whole = device.zeros::<u32>(len).unwrap();
    let mut graph = device
        .graph()
        .pool(&pool)
        .record(|r: &mut Recorder<'_>| {
            let (mut a, mut b) = (r.alloc::<u32>(len)?, r.alloc::<u32>(len)?);
            // A set, a kernel and a copy across the end of the first piece.
            r.run(fill(&mut a, baked(7)))?;
            r.run(k.put(baked(9), &mut a[MIB / 2 - 100..MIB / 2 + 100]))?;
            r.run(copy(&a, &mut b))?;
            r.run(copy(&b, &mut whole))
        })
        .unwrap();
    assert_eq!(pool.arena_bytes(), 10 * MIB);
    graph.launch(stream).unwrap();
    let read = stream.read(&whole).unwrap();
    let nine = MIB / 2 - 100..MIB / 2 + 100;
    assert!(read.iter().enumerate().all(|(at, value)| *value == if nine.contains(&at) { 9 } else { 7 }));
    bench.expect_no_findings();
}

/// Whatever is left of a pool in the machine: pieces of memory, ranges of addresses.
fn left(bench: &Bench) -> (usize, usize) {
    let census = bench.machine().census();
    (census.physical, census.ranges)
}

#[test]
fn the_memory_of_a_pool_goes_with_the_pool_behind_its_last_replay() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let before = device.counters();
        let pool = device.pool();
        assert_eq!((pool.arena_bytes(), left(&bench)), (0, (0, 0)), "nothing before a graph needs it");
        let mut out = device.zeros::<u32>(500).unwrap();
        let mut small = graph(device, &pool, 2, 1, &mut out).unwrap();
        let mut large = graph(device, &pool, 6, 2, &mut out).unwrap();
        assert_eq!(left(&bench), (2, 1));
        small.launch(stream).unwrap();
        large.launch(stream).unwrap();
        drop((small, pool));
        drop(device.zeros::<u8>(1).unwrap());
        assert_eq!(left(&bench), (2, 1), "a graph holds it");
        large.launch(stream).unwrap();
        drop(large);
        assert_eq!(left(&bench), (2, 1), "a drop makes no driver call");
        assert_eq!(stream.read(&out).unwrap(), [2; 500]);
        drop(out);
        device.synchronize().unwrap();
        assert_eq!(left(&bench), (0, 0));
        assert_eq!(device.counters().allocations, before.allocations);
        assert_eq!(device.counters().waiting, before.waiting);
        bench.expect_no_findings();
    }
}

/// Looks whether a stream is idle whenever memory is unmapped.
#[derive(Default)]
struct AtUnmap {
    watched: OnceLock<(Machine, u64)>,
    unmapped: AtomicU32,
    busy: AtomicU32,
}

impl Hook for AtUnmap {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        if let (Call::cuMemUnmap, Some((machine, stream))) = (call, self.watched.get()) {
            self.unmapped.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the stream is alive as long as the test's bench.
            let idle = unsafe { machine.cuStreamQuery(CUstream::from_bits(*stream)) };
            self.busy.fetch_add(u32::from(idle != CUresult::CUDA_SUCCESS), Ordering::Relaxed);
        }
        run()
    }
}

#[test]
fn memory_is_unmapped_only_when_its_last_replay_is_over() {
    let (bench, hook) = hooked(AtUnmap::default());
    let Bench { device, stream, k } = &bench;
    assert!(hook.watched.set((bench.machine().clone(), stream.raw().0.bits())).is_ok());
    let mut out = device.zeros::<u32>(1 << 12).unwrap();
    for round in 0..8 {
        let pool = device.pool();
        let mut graph = device
            .graph()
            .pool(&pool)
            .record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(1 << 12)?;
                for _ in 0..50 {
                    r.run(k.put(baked(round), &mut t))?;
                }
                r.run(copy(&t, &mut out))
            })
            .unwrap();
        graph.launch(stream).unwrap();
        drop((graph, pool));
        // Looks through what was dropped.
        drop(device.zeros::<u8>(1).unwrap());
    }
    assert_eq!(stream.read(&out).unwrap(), [7; 1 << 12]);
    device.synchronize().unwrap();
    assert_eq!((hook.unmapped.load(Ordering::Relaxed), hook.busy.load(Ordering::Relaxed)), (8, 0));
}

#[test]
fn a_pool_that_cannot_grow_says_the_numbers_and_goes_on() {
    let bench = Bench::new(software(0).capacity(32 * MIB as u64).open().unwrap());
    let Bench { device, stream, .. } = &bench;
    let pool = device.pool();
    let mut out = device.zeros::<u32>(500).unwrap();
    let mut small = graph(device, &pool, 4, 1, &mut out).unwrap();
    let error = graph(device, &pool, 40, 2, &mut out).unwrap_err();
    let ErrorKind::OutOfMemory { bytes, free, .. } = error.kind() else { panic!("{error:?}") };
    assert_eq!(*bytes, 36 * MIB, "what it would have had to grow by");
    assert!(*free > 0 && *free < 28 * MIB, "{free}");
    assert!(error.to_string().contains(&format!("{bytes} bytes were asked for, {free} of ")), "{error}");
    assert_eq!((pool.arena_bytes(), pool.graphs(), left(&bench)), (4 * MIB, 1, (1, 1)));
    small.launch(stream).unwrap();
    assert_eq!(stream.read(&out).unwrap(), [1; 500]);
    let mut medium = graph(device, &pool, 8, 3, &mut out).unwrap();
    medium.launch(stream).unwrap();
    assert_eq!(stream.read(&out).unwrap(), [3; 500]);
    assert_eq!(pool.arena_bytes(), 8 * MIB);
}

#[test]
fn memory_of_a_pool_that_was_dropped_in_flight_is_waited_for_before_there_is_none() {
    let bench = Bench::new(software(0).capacity(32 * MIB as u64).open().unwrap());
    let Bench { device, stream, .. } = &bench;
    let mut out = device.zeros::<u32>(500).unwrap();
    for value in 0..4 {
        // Each takes more than half of the device.
        let pool = device.pool();
        let mut graph = graph(device, &pool, 18, value, &mut out).unwrap();
        graph.launch(stream).unwrap();
        drop((graph, pool));
    }
    drop(device.zeros::<u8>(18 * MIB).unwrap());
    assert_eq!(stream.read(&out).unwrap(), [3; 500]);
    bench.expect_no_findings();
}

/// Refuses the next so many calls of some kinds.
struct Refuse {
    calls: &'static [Call],
    left: AtomicU32,
}

impl Hook for Refuse {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let take = |left: u32| left.checked_sub(1);
        let refused =
            self.calls.contains(&call) && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if refused { CUresult::CUDA_ERROR_NOT_PERMITTED } else { run() }
    }
}

#[test]
fn a_growth_that_is_refused_half_way_changes_nothing_and_loses_nothing() {
    let lists: [(&[Call], u32); 6] = [
        (&[Call::cuMemAddressReserve], 1),
        (&[Call::cuMemCreate], 1),
        (&[Call::cuMemMap], 1),
        (&[Call::cuMemMap, Call::cuMemRelease], 2),
        (&[Call::cuMemSetAccess], 1),
        // It cannot even be unmapped: the next growth takes it as it is.
        (&[Call::cuMemSetAccess, Call::cuMemUnmap], 2),
    ];
    for (calls, times) in lists {
        let (bench, hook) = hooked(Refuse { calls, left: AtomicU32::new(0) });
        let Bench { device, stream, .. } = &bench;
        let (pool, fresh) = (device.pool(), device.pool());
        let mut out = device.zeros::<u32>(500).unwrap();
        let mut small = graph(device, &pool, 2, 1, &mut out).unwrap();
        hook.left.store(times, Ordering::Relaxed);
        // The first growth of a pool, and the second of another.
        for pool in [&fresh, &pool] {
            let before = pool.arena_bytes();
            if calls.contains(&Call::cuMemAddressReserve) && before > 0 {
                continue;
            }
            hook.left.store(times, Ordering::Relaxed);
            let error = graph(device, pool, 6, 2, &mut out).unwrap_err();
            assert!(error.to_string().contains(calls[0].symbol()), "{calls:?}: {error}");
            assert_eq!(pool.arena_bytes(), before, "{calls:?}");
            small.launch(stream).unwrap();
            assert_eq!(stream.read(&out).unwrap(), [1; 500]);
            let mut large = graph(device, pool, 6, 3, &mut out).unwrap();
            assert_eq!(pool.arena_bytes(), 6 * MIB, "{calls:?}");
            large.launch(stream).unwrap();
            assert_eq!(stream.read(&out).unwrap(), [3; 500]);
        }
        drop((small, pool, fresh));
        device.synchronize().unwrap();
        assert_eq!(left(&bench), (0, 0), "{calls:?}");
        bench.expect_no_findings();
    }
}

/// A device that cannot map memory apart from its addresses.
struct NoVirtualMemory;

impl Hook for NoVirtualMemory {
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let code = run();
        let asked = u64::from(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
        if call == Call::cuDeviceGetAttribute && arguments[1].bits == asked {
            let answer = std::ptr::with_exposed_provenance_mut::<i32>(arguments[0].bits as usize);
            // SAFETY: the call has just written its answer there.
            unsafe { *answer = 0 };
        }
        code
    }
}

#[test]
fn without_virtual_memory_a_larger_arena_takes_its_place_and_older_graphs_keep_theirs() {
    let (bench, _) = hooked(NoVirtualMemory);
    let Bench { device, stream, .. } = &bench;
    assert!(!device.properties().virtual_memory);
    let (pool, other) = (device.pool(), device.stream().unwrap());
    let before = device.counters().allocations;
    let mut outs: Vec<_> = (0..3).map(|_| device.zeros::<u32>(500).unwrap()).collect();
    let mut graphs: Vec<Graph<()>> = Vec::new();
    for ((number, out), (mib, bytes)) in (0..).zip(&mut outs).zip([(2, 2), (6, 8), (4, 8)]) {
        graphs.push(graph(device, &pool, mib, number, out).unwrap());
        assert_eq!(pool.arena_bytes(), bytes * MIB);
    }
    for _ in 0..3 {
        for (graph, stream) in graphs.iter_mut().zip([stream, &other, stream]) {
            graph.launch(stream).unwrap();
        }
    }
    for (number, out) in (0..).zip(&outs) {
        assert_eq!(stream.read(out).unwrap(), [number; 500]);
    }
    drop(graphs.remove(0));
    assert_eq!(pool.arena_bytes(), 6 * MIB, "nobody holds the first any more");
    assert_eq!(left(&bench), (0, 0));
    drop((graphs, outs, pool));
    device.synchronize().unwrap();
    assert_eq!(device.counters().allocations, before);
    bench.expect_no_findings();
}

/// Where a larger arena takes the place of one that graphs still hold, both count.
#[test]
fn a_cache_keeps_its_cap_in_bytes_with_and_without_virtual_memory() {
    let (without, _) = hooked(NoVirtualMemory);
    for (bench, evicted) in [(Bench::seeded(0), 0), (without, 4)] {
        let Bench { device, stream, .. } = &bench;
        let cap = 6 * MIB;
        let (mut cache, mut out) = (GraphCache::new(device).max_bytes(cap), device.zeros::<u32>(500).unwrap());
        for (round, mib) in [2, 4, 2, 1, 4, 5, 1, 4].into_iter().enumerate() {
            cache.run(stream, &mib, |r| step(r, mib, round as u32, &mut out)).unwrap();
            assert!(cache.bytes() <= cap, "{} with {mib}", cache.bytes());
        }
        // No graph goes for one that fits the arena.
        let counters = cache.counters();
        assert_eq!((cache.len(), counters.evicted), (3, evicted), "{counters}");
        bench.expect_no_findings();
    }
}

#[test]
fn threads_may_record_into_one_pool_and_replay_at_the_same_time() {
    let (without, _) = hooked(NoVirtualMemory);
    for bench in [Bench::seeded(5), without] {
        let (device, pool) = (&bench.device, bench.device.pool());
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let pool = &pool;
                scope.spawn(move || {
                    let (stream, mut out) = (device.stream().unwrap(), device.zeros::<u32>(500).unwrap());
                    for round in 0..6 {
                        let (mib, value) = (2 * (1 + (thread as usize + round) % 5), 100 * thread + round as u32);
                        let mut graph = graph(device, pool, mib, value, &mut out).unwrap();
                        for _ in 0..3 {
                            graph.launch(&stream).unwrap();
                        }
                        assert_eq!(stream.read(&out).unwrap(), [value; 500]);
                    }
                });
            }
        });
        assert_eq!((pool.graphs(), pool.arena_bytes()), (0, 10 * MIB));
        bench.expect_no_findings();
    }
}

#[test]
fn an_arena_of_the_callers_goes_before_the_pools() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let (pool, arena) = (device.pool(), device.arena(2 * MIB).unwrap());
    let mut out = device.zeros::<u32>(500).unwrap();
    let recording = device.graph().pool(&pool).arena(&arena);
    let mut graph = recording.record(|r: &mut Recorder<'_>| step(r, 2, 4, &mut out)).unwrap();
    assert_eq!((pool.graphs(), pool.arena_bytes(), arena.graphs(), arena.used()), (1, 0, 1, 2 * MIB));
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&out).unwrap(), [4; 500]);
}

#[test]
fn more_pools_come_and_go_than_there_are_addresses_for() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let mut out = device.zeros::<u32>(4).unwrap();
    // Each has addresses for all of the device's memory; the software device has 77 TiB of them.
    for number in 0..700 {
        let pool = device.pool();
        let mut graph = graph(&device, &pool, 2, number, &mut out).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&out).unwrap(), [number; 4]);
    }
}
