//! Caches of graphs where memory runs out.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use dacapo::{Buffer, Recorder, Result, Slice, baked, copy, fill};
use dacapo_driver::{Argument, CUresult, Call, Hook};

use crate::kit::{Bench, hooked, software};

const MIB: usize = 1 << 20;

/// Has no memory for another executable graph from some time on, until one was destroyed.
#[derive(Default)]
struct FullOfExecutables {
    full: AtomicBool,
    destroyed: AtomicU32,
}

impl Hook for FullOfExecutables {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        match call {
            Call::cuGraphInstantiateWithFlags if self.full.load(Ordering::Relaxed) => {
                return CUresult::CUDA_ERROR_OUT_OF_MEMORY;
            }
            Call::cuGraphExecDestroy => {
                self.full.store(false, Ordering::Relaxed);
                self.destroyed.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
        run()
    }
}

#[test]
fn a_cache_without_memory_for_an_executable_drops_one_graph_and_no_more() {
    let (bench, hook) = hooked(FullOfExecutables::default());
    let Bench { device, stream, k } = &bench;
    let mut y = device.zeros::<u32>(8).unwrap();
    let mut cache = GraphCache::new(device);
    for key in 0..4u32 {
        // Neither temps nor outputs: nothing on the way asks the driver for memory.
        cache.run(stream, &key, |r| r.run(k.put(baked(key), &mut y))).unwrap();
    }
    hook.full.store(true, Ordering::Relaxed);
    cache.run(stream, &4, |r| r.run(k.put(baked(4), &mut y))).unwrap();
    assert_eq!((cache.len(), cache.counters().evicted), (4, 1));
    assert_eq!(hook.destroyed.load(Ordering::Relaxed), 1);
    assert_eq!(stream.read(&y).unwrap(), [4; 8]);
    bench.expect_no_findings();
}

#[test]
fn a_request_without_a_graph_drops_graphs_where_memory_runs_out() {
    let bench = Bench::new(software(0).capacity(48 * MIB as u64).open().unwrap());
    let Bench { device, stream, .. } = &bench;
    // Rows of 2 MiB; as outputs and, once more, as a temp.
    let body = |r: &mut Recorder<'_>, n: usize, x: &Slice<u32>| -> Result<Buffer<u32>> {
        let mut t = r.alloc::<u32>(n * MIB / 2)?;
        let mut y = r.output::<u32>(n * MIB / 2)?;
        r.run(fill(&mut t[..1], baked(n as u32)))?;
        r.run(copy(x, &mut t[1..2]))?;
        r.run(copy(&t[..2], &mut y[..2]))?;
        Ok(y)
    };
    let buckets = Buckets::new([1, 2, 4]).unwrap();
    let mut same =
        Bucketed::new(device, buckets, rows(1, Pad::Zero), |r, n, x: &Slice<u32>| body(r, n, &x[..1])).unwrap();
    let x = device.buffer(&[7u32; 10]).unwrap();
    for n in [1, 2, 4] {
        let y = same.call(stream, n, &x[..n]).unwrap();
        assert_eq!(stream.read(&y[..2]).unwrap(), [n as u32, 7]);
    }
    assert_eq!(same.cache().len(), 3);
    // 20 MiB of output and as many of temps: only without some of the graphs.
    let y = same.call(stream, 10, &x).unwrap();
    assert_eq!(stream.read(&y[..2]).unwrap(), [10, 7]);
    let counters = same.counters();
    assert!(counters.eager == 1 && counters.evicted > 0, "{counters}");
    bench.expect_no_findings();
}

#[test]
fn an_eager_run_waits_for_memory_that_is_on_its_way_back() {
    let bench = Bench::new(software(0).capacity(32 * MIB as u64).open().unwrap());
    let Bench { device, stream, k } = &bench;
    let (mut out, mut other_out) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
    // More than half of the device.
    let body = |r: &mut Recorder<'_>, times: usize, out: &mut Buffer<u32>| -> Result<()> {
        let mut t = r.alloc::<u32>(18 * MIB / 4)?;
        for time in 0..times {
            r.run(k.put(baked(time as u32), &mut t[..1 << 12]))?;
        }
        r.run(copy(&t[..4], out))
    };
    let (pool, other) = (device.pool(), device.stream().unwrap());
    let mut graph = device.graph().pool(&pool).record(|r: &mut Recorder<'_>| body(r, 50, &mut out)).unwrap();
    graph.launch(&other).unwrap();
    drop((graph, pool));
    stream.run(|r: &mut Recorder<'_>| body(r, 3, &mut other_out)).unwrap();
    assert_eq!(stream.read(&other_out).unwrap(), [2; 4]);
    assert_eq!(stream.read(&out).unwrap(), [49; 4]);
    bench.expect_no_findings();
}
