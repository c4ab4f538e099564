//! Another recording in place of a graph's, beside other threads and after captures.

use dacapo::capture::{self, CaptureStream, Mode};
use dacapo::{Buffer, Graph, Recorder, Result, baked, copy, fill};
use dacapo_driver::{CUresult, Driver};

use crate::kit::{Bench, benches};

/// `out` ← `value`, through two temps of so many elements.
fn through(r: &mut Recorder<'_>, len: usize, value: u32, out: &mut Buffer<u32>) -> Result<()> {
    let (mut a, mut b) = (r.alloc::<u32>(len)?, r.alloc::<u32>(len)?);
    let at = len - out.len();
    r.run(fill(&mut a[at..], baked(value)))?;
    r.run(copy(&a[at..], &mut b[at..]))?;
    r.run(copy(&b[at..], out))
}

#[test]
fn a_capture_of_raw_calls_alone_is_not_taken_for_a_recording_of_nothing() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let (line, mut y) = (CaptureStream::new(device).unwrap(), device.zeros::<u32>(8).unwrap());
        let address = {
            // SAFETY: nothing is captured by it.
            let mut asked = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
            asked.writes(&mut y).unwrap().ptr
        };
        // SAFETY: `y` lives as long as the graph, and nobody touches it while the graph is launched.
        let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
        let machine = bench.machine();
        // SAFETY: `y` is this long.
        let set = guard.step("set", |raw| match unsafe { machine.cuMemsetD32Async(address, 9, 8, raw.0) } {
            CUresult::CUDA_SUCCESS => Ok(()),
            code => Err(dacapo::Error::msg(format!("{code:?}"))),
        });
        set.unwrap();
        let mut graph = guard.finish().unwrap();
        let done = graph.rerecord(|_: &mut Recorder<'_>| Ok(())).unwrap();
        assert!(!done.is_updated() && done.to_string().contains("capture"), "{done}");
        graph.launch_sync(stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [0; 8], "the captured work is still replayed");
        bench.expect_no_findings();
    }
}

#[test]
fn a_graph_of_a_pool_may_become_larger_while_threads_replay_the_others() {
    for bench in benches() {
        let (device, pool) = (&bench.device, bench.device.pool());
        std::thread::scope(|scope| {
            for thread in 0..3u32 {
                let pool = &pool;
                scope.spawn(move || {
                    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
                    let mut out = device.zeros::<u32>(200).unwrap();
                    let len = |round: u32| 300 + 400_000 * ((thread + round) % 3) as usize;
                    let first = |r: &mut Recorder<'_>| through(r, len(0), thread, &mut out);
                    let mut graph: Graph<()> = device.recording().pool(pool).record(first).unwrap();
                    for round in 1..5u32 {
                        let value = 10 * thread + round;
                        graph.launch(&two).unwrap();
                        let next = |r: &mut Recorder<'_>| through(r, len(round), value, &mut out);
                        let done = graph.rerecord(next).unwrap();
                        assert!(done.is_updated(), "{done}");
                        graph.launch(&one).unwrap();
                        graph.launch(&two).unwrap();
                        assert_eq!(one.read(&out).unwrap(), [value; 200]);
                    }
                });
            }
        });
        assert_eq!(pool.graphs(), 0);
        bench.expect_no_findings();
    }
}
