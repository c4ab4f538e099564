//! Pools: who is in one, what it holds, and for how long; and graphs that are parts of other graphs.

use std::sync::Arc;

use dacapo::raw::{RawSlice, foreign};
use dacapo::{ErrorKind, Graph, Recorder, baked, fill};
use dacapo_driver::{CUresult, Driver};

use crate::kit::{Bench, benches, kind};

#[test]
fn a_graph_that_replays_another_holds_what_that_one_keeps() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let (value, mut y) = (Arc::new(()), device.zeros::<u32>(16).unwrap());
        let kept = value.clone();
        let inner = device
            .record(|r: &mut Recorder<'_>| {
                r.keep(kept);
                r.run(fill(&mut y, baked(1)))
            })
            .unwrap();
        let mut outer = device.record(inner.as_op()).unwrap();
        drop(inner);
        device.synchronize().unwrap();
        assert_eq!(Arc::strong_count(&value), 2, "the larger graph still needs it");
        outer.launch(stream).unwrap();
        drop(outer);
        device.synchronize().unwrap();
        assert_eq!(Arc::strong_count(&value), 1);
        bench.expect_no_findings();
    }
}

#[test]
fn a_graph_that_replays_another_is_in_that_ones_pool() {
    let Bench { device, .. } = Bench::seeded(0);
    let (pool, value, mut y) = (device.pool(), Arc::new(()), device.zeros::<u32>(16).unwrap());
    pool.keep(value.clone()).unwrap();
    let inner = device.graph().pool(&pool).record(fill(&mut y, baked(1))).unwrap();
    // A sealed pool takes no new graph; this one's work is in it already.
    pool.seal();
    let outer = device.record(inner.as_op()).unwrap();
    let outermost = device.record(outer.as_op()).unwrap();
    pool.unseal();
    assert_eq!((pool.graphs(), outer.pool()), (3, None));
    drop((inner, outer));
    assert!(matches!(kind(pool.clear()), ErrorKind::PoolInUse { graphs: 1 }));
    drop(pool);
    device.synchronize().unwrap();
    assert_eq!(Arc::strong_count(&value), 2);
    drop(outermost);
    device.synchronize().unwrap();
    assert_eq!(Arc::strong_count(&value), 1);
}

/// Two graphs of a pool that share memory which only the pool knows of.
#[test]
fn a_graph_that_replays_another_is_ordered_against_that_ones_pool() {
    for seed in 0..24 {
        let bench = Bench::seeded(seed);
        let Bench { device, stream, k } = &bench;
        let (pool, other, machine) = (device.pool(), device.stream().unwrap(), bench.machine().clone());
        let mut hidden = 0;
        // SAFETY: `hidden` is valid for the write.
        assert_eq!(unsafe { machine.cuMemAlloc_v2(&mut hidden, 64) }, CUresult::CUDA_SUCCESS);
        // SAFETY: it was allocated with this length.
        assert_eq!(unsafe { machine.cuMemsetD32_v2(hidden, 0, 16) }, CUresult::CUDA_SUCCESS);
        let (mut slow, mut y) = (device.zeros::<u32>(1 << 12).unwrap(), device.zeros::<u32>(16).unwrap());
        let seen = y.share();
        let by = machine.clone();
        let mut writer = device
            .graph()
            .pool(&pool)
            .record(|r: &mut Recorder<'_>| {
                r.run(k.put(baked(1), &mut slow))?;
                // SAFETY: besides what is declared it touches memory that only graphs of the pool touch.
                r.run(unsafe {
                    foreign(&slow[..], (), move |stream, _: RawSlice<u32>, ()| {
                        assert_eq!(by.cuMemsetD32Async(hidden, 5, 16, stream.0), CUresult::CUDA_SUCCESS);
                        Ok(())
                    })
                })
            })
            .unwrap();
        let by = machine.clone();
        // SAFETY: as above.
        let read_hidden = unsafe {
            foreign((), &mut y[..], move |stream, (), y: RawSlice<u32>| {
                assert_eq!(by.cuMemcpyAsync(y.ptr, hidden, 64, stream.0), CUresult::CUDA_SUCCESS);
                Ok(())
            })
        };
        let reader: Graph<()> = device.graph().pool(&pool).record(read_hidden).unwrap();
        if seed % 2 == 0 {
            let mut outer = device.record(reader.as_op()).unwrap();
            writer.launch(stream).unwrap();
            outer.launch(&other).unwrap();
        } else {
            writer.launch(stream).unwrap();
            other.run(reader.as_op()).unwrap();
        }
        assert_eq!(other.read(&seen).unwrap(), [5; 16], "seed {seed}");
        device.synchronize().unwrap();
        // SAFETY: nothing uses it any more.
        assert_eq!(unsafe { machine.cuMemFree_v2(hidden) }, CUresult::CUDA_SUCCESS);
    }
}

#[test]
fn a_pool_that_is_sealed_while_a_graph_is_recorded_does_not_take_it() {
    let bench = Bench::seeded(0);
    let Bench { device, .. } = &bench;
    let (pool, mut y) = (device.pool(), device.zeros::<u32>(4).unwrap());
    let graphs = device.counters().graphs;
    let late = device.graph().pool(&pool).record(|r: &mut Recorder<'_>| {
        pool.seal();
        r.run(fill(&mut y, baked(1)))
    });
    assert!(matches!(kind(late), ErrorKind::PoolSealed));
    assert_eq!((pool.graphs(), device.counters().graphs), (0, graphs));
    bench.expect_usable();
}
