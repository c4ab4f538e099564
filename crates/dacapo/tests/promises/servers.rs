//! What a server relies on: work that is awaited without a borrow, recordings that change while it serves, names in reports.
//!
//! The promise: a ticket and a reading wait for their own work and give its result, wherever they are sent, whatever is
//! enqueued behind them; graphs of a cache are changed all together or not at all.

use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll, Waker};

use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use dacapo::{Buffer, ErrorKind, Recorder, Result, Slice, baked, copy, download, fill, upload};
use dacapo_driver::{Argument, CUresult, Call, Hook};

use crate::kit::{Bench, benches, hooked, kind};

/// Awaits without a runtime.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(out) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return out;
        }
        std::thread::yield_now();
    }
}

#[test]
fn an_eager_run_is_awaited_and_gives_what_the_op_gave() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        for n in 1..9 {
            let ticket = stream.submit(|r: &mut Recorder<'_>| {
                let mut y = r.output::<u32>(n)?;
                r.run(k.put(baked(7), &mut y))?;
                Ok(y)
            });
            let y = std::thread::scope(|scope| scope.spawn(|| block_on(ticket.unwrap())).join().unwrap()).unwrap();
            assert_eq!(stream.read(&y).unwrap(), vec![7; n]);
        }
        // Nothing to do is done at once.
        let nothing = stream.submit(|_: &mut Recorder<'_>| Ok(3)).unwrap();
        assert!(nothing.is_done());
        assert_eq!(block_on(nothing).unwrap(), 3);
        let inside = device.record(|_: &mut Recorder<'_>| stream.submit(|_: &mut Recorder<'_>| Ok(())).map(drop));
        assert!(matches!(kind(inside), ErrorKind::EagerInRecording { .. }));
        bench.expect_no_findings();
    }
}

#[test]
fn what_is_over_needs_no_waking() {
    let bench = Bench::seeded(0);
    let mut y = bench.device.zeros::<u32>(4).unwrap();
    let mut graph = bench.device.record(bench.k.put(baked(1), &mut y)).unwrap();
    let (ticket, reading) = (graph.submit(&bench.stream).unwrap(), bench.stream.read_later(&y).unwrap());
    bench.device.synchronize().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(ticket).poll(&mut context).is_ready());
    assert!(pin!(reading).poll(&mut context).is_ready());
}

#[test]
fn a_reading_has_what_was_there_when_it_was_asked_for() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let other = device.stream().unwrap();
        let mut x = device.buffer(&[1u32, 2, 3, 4]).unwrap();
        let mut bump = device.record(k.bump(x.at_mut(1))).unwrap();
        let mut readings = Vec::new();
        for _ in 0..5 {
            bump.launch(stream).unwrap();
            // On another stream: it comes behind the launch before it, and before the next one.
            readings.push(other.read_later(&x[1..3]).unwrap());
        }
        readings.swap(0, 4);
        let forgotten = readings.pop().unwrap();
        let seen: Vec<_> = readings.into_iter().map(|reading| block_on(reading).unwrap()).collect();
        assert_eq!(seen, [[7, 3], [4, 3], [5, 3], [6, 3]]);
        drop(forgotten);
        // Its memory outlives the buffer.
        let late = stream.read_later(&x).unwrap();
        drop((x, bump));
        device.synchronize().unwrap();
        assert!(late.is_done());
        assert_eq!(late.wait().unwrap(), [1, 7, 3, 4]);
        let nothing: Vec<u32> = stream.read_later(&device.zeros::<u32>(3).unwrap()[..0]).unwrap().wait().unwrap();
        assert_eq!(nothing, [0u32; 0]);
        bench.expect_no_findings();
    }
}

/// More than one piece of staging memory.
#[test]
fn a_long_reading_comes_in_pieces_and_in_order() {
    let bench = Bench::seeded(3);
    let numbers: Vec<u32> = (0..5 << 20).collect();
    let x = bench.device.buffer(&numbers).unwrap();
    let staged = bench.device.counters().staging_bytes;
    assert_eq!(block_on(bench.stream.read_later(&x).unwrap()).unwrap(), numbers);
    let mut again = vec![0; numbers.len()];
    bench.stream.read_into(&x, &mut again).unwrap();
    assert_eq!(again, numbers);
    drop(bench.stream.read_later(&x).unwrap());
    bench.device.synchronize().unwrap();
    assert!(bench.device.counters().staging_bytes >= staged);
    bench.expect_no_findings();
}

#[test]
#[should_panic(expected = "a reading gives its elements once")]
fn a_reading_that_gave_its_elements_gives_no_others() {
    let bench = Bench::seeded(0);
    let mut reading = pin!(bench.stream.read_later(&bench.device.zeros::<u32>(1).unwrap()).unwrap());
    let mut context = Context::from_waker(Waker::noop());
    while reading.as_mut().poll(&mut context).is_pending() {}
    let _ = reading.as_mut().poll(&mut context);
}

#[test]
fn lengths_that_differ_are_errors() {
    let bench = Bench::seeded(0);
    let x = bench.device.zeros::<u32>(3).unwrap();
    let wrong = |error| matches!(error, ErrorKind::Length { left: 3, right: 2, .. });
    assert!(wrong(kind(bench.stream.read_into(&x, &mut [0; 2]))));
    let mut host = bench.device.host(&[0u32; 4]).unwrap();
    assert!(wrong(kind(host.slice(1..).read_into(&mut [0; 2]))));
    assert!(wrong(kind(host.slice_mut(..3).set(&[0; 2]))));
    assert!(wrong(kind(bench.stream.run(download(&x, host.slice_mut(1..3))))));
}

#[test]
fn parts_of_a_host_buffer_are_copied_and_nothing_else() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let mut host = device.host(&[1u32, 2, 3, 4, 5]).unwrap();
        let mut x = device.zeros::<u32>(2).unwrap();
        let mut up = device.record(upload(host.slice(1..3), &mut x)).unwrap();
        let mut down = device.record(download(&x, host.slice_mut(3..=4))).unwrap();
        up.launch(stream).unwrap();
        down.launch(stream).unwrap();
        assert_eq!(host.to_vec().unwrap(), [1, 2, 3, 2, 3]);
        host.slice_mut(2..3).set(&[9]).unwrap();
        up.launch(stream).unwrap();
        down.launch(stream).unwrap();
        assert_eq!(host.slice(2..).to_vec().unwrap(), [9, 2, 9]);
        assert_eq!(host.slice(5..).to_vec().unwrap(), [0u32; 0]);
        bench.expect_no_findings();
    }
}

#[test]
#[should_panic(expected = "range 3..6 is not inside 5 elements")]
fn a_range_outside_of_a_host_buffer_panics_as_of_a_slice() {
    let host = Bench::seeded(0).device.host(&[0u32; 5]).unwrap();
    let _ = host.slice(3..6);
}

/// Records `len` elements of a value.
fn valued(r: &mut Recorder<'_>, len: usize, value: u32) -> Result<Buffer<u32>> {
    let mut y = r.output::<u32>(len)?;
    r.run(fill(&mut y, baked(value)))?;
    Ok(y)
}

fn three(bench: &Bench) -> GraphCache<usize, Buffer<u32>> {
    let mut cache = GraphCache::new(&bench.device);
    for len in [3, 1, 2] {
        cache.run(&bench.stream, &len, |r| valued(r, len, 1)).unwrap();
    }
    cache
}

#[test]
fn all_graphs_of_a_cache_are_recorded_anew_or_none() {
    for bench in benches() {
        let mut cache = three(&bench);
        let before = cache.counters();
        let failing = cache.rerecord_all(|r, &len| match len {
            3 => Err(dacapo::Error::msg("no weights")),
            _ => valued(r, len, 2),
        });
        assert!(matches!(kind(failing), ErrorKind::Msg(_)));
        for len in [1, 2, 3] {
            let y = cache.run(&bench.stream, &len, |_| unreachable!("it is there")).unwrap();
            assert_eq!(bench.stream.read(y).unwrap(), vec![1; len]);
        }
        let done = cache.rerecord_all(|r, &len| valued(r, len, 2)).unwrap();
        assert_eq!(
            done.iter().map(|(key, how)| (*key, how.is_updated())).collect::<Vec<_>>(),
            [(1, true), (2, true), (3, true)]
        );
        assert_eq!(cache.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(cache.peek(&2).map(|graph| graph.len()), Some(1));
        assert!(cache.peek(&4).is_none());
        assert_eq!(cache.counters().requests(), before.requests() + 3, "only the runs are requests");
        for len in [1, 2, 3] {
            let (y, ticket) = cache.submit(&bench.stream, &len, |_| unreachable!("it is there")).unwrap();
            let answer = bench.stream.read_later(y).unwrap();
            block_on(ticket).unwrap();
            assert_eq!(block_on(answer).unwrap(), vec![2; len]);
        }
        bench.expect_no_findings();
    }
}

/// Refuses what changes or makes graphs from the n-th of these calls on.
#[derive(Default)]
struct RefuseFrom(AtomicI64);

impl Hook for RefuseFrom {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let is_it = matches!(
            call,
            Call::cuGraphExecMemsetNodeSetParams
                | Call::cuGraphExecKernelNodeSetParams_v2
                | Call::cuGraphInstantiateWithFlags
        );
        match is_it && self.0.load(Ordering::SeqCst) > 0 && self.0.fetch_sub(1, Ordering::SeqCst) == 1 {
            true => {
                // And every one behind it.
                self.0.store(1, Ordering::SeqCst);
                CUresult::CUDA_ERROR_OUT_OF_MEMORY
            }
            false => run(),
        }
    }
}

#[test]
fn where_the_driver_refuses_none_of_the_old_recordings_is_left() {
    for at in 1..4 {
        let (bench, refusing) = hooked(RefuseFrom::default());
        let mut cache = three(&bench);
        let evicted = cache.counters().evicted;
        refusing.0.store(at, Ordering::SeqCst);
        assert!(cache.rerecord_all(|r, &len| valued(r, len, 2)).is_err());
        refusing.0.store(0, Ordering::SeqCst);
        assert_eq!(cache.len() as i64, at - 1, "those that were changed");
        assert_eq!(cache.counters().evicted, evicted + (4 - at) as u64);
        for len in [1, 2, 3] {
            let y = cache.run(&bench.stream, &len, |r| valued(r, len, 2)).unwrap();
            assert_eq!(bench.stream.read(y).unwrap(), vec![2; len]);
        }
        bench.expect_no_findings();
    }
}

/// An output that panics when it goes, once it is told to.
struct Loud(Buffer<u32>, std::sync::Arc<std::sync::atomic::AtomicBool>);

impl Drop for Loud {
    fn drop(&mut self) {
        if self.1.load(Ordering::SeqCst) && !std::thread::panicking() {
            panic!("an output of the old recording");
        }
    }
}

#[test]
fn an_old_output_that_panics_leaves_no_old_recording_behind() {
    let bench = Bench::seeded(0);
    let loud = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut cache = GraphCache::new(&bench.device);
    for len in [1, 2, 3] {
        cache.run(&bench.stream, &len, |r| Ok(Loud(valued(r, len, 1)?, loud.clone()))).unwrap();
    }
    let quiet = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    loud.store(true, Ordering::SeqCst);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cache.rerecord_all(|r, &len| Ok(Loud(valued(r, len, 2)?, quiet.clone()))).map(drop)
    }));
    assert!(caught.is_err(), "the panic is the caller's");
    for len in [1, 2, 3] {
        let y = cache.run(&bench.stream, &len, |_| unreachable!("it is there")).unwrap();
        assert_eq!(bench.stream.read(&y.0).unwrap(), vec![2; len]);
    }
    bench.expect_no_findings();
}

/// A graph of the cache that was reset, or replaced by one of another device, is made anew.
#[test]
fn graphs_that_are_no_longer_the_cache_s_own_are_made_anew() {
    let (here, there) = (Bench::seeded(0), Bench::seeded(1));
    let mut cache = three(&here);
    cache.get(&1).unwrap().reset();
    *cache.get(&2).unwrap() = there.device.record(|r: &mut Recorder<'_>| valued(r, 2, 9)).unwrap();
    let done = cache.rerecord_all(|r, &len| valued(r, len, 2)).unwrap();
    assert_eq!(done.iter().map(|(_, how)| how.is_updated()).collect::<Vec<_>>(), [false, false, true]);
    for len in [1, 2, 3] {
        let y = cache.run(&here.stream, &len, |_| unreachable!("it is there")).unwrap();
        assert_eq!(here.stream.read(y).unwrap(), vec![2; len]);
    }
    here.expect_no_findings();
    there.expect_no_findings();
}

#[test]
fn rows_are_submitted_and_their_weights_changed() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let weight = std::cell::Cell::new(1u32);
        let buckets = Buckets::new([2, 4]).unwrap();
        let mut model = Bucketed::new(device, buckets, rows(1, Pad::Zero), |r, n, x: &Slice<u32>| {
            let mut y = r.output::<u32>(2 * n)?;
            r.run(fill(&mut y, baked(weight.get())))?;
            r.run(copy(x, &mut y[..n]))?;
            Ok(y)
        })
        .unwrap();
        for now in [1, 2] {
            weight.set(now);
            assert_eq!(model.rerecord_all().unwrap().len(), if now == 1 { 0 } else { 2 });
            for n in [1, 3, 4, 7] {
                let x = device.buffer(&vec![5; n]).unwrap();
                let (y, ticket) = model.submit(stream, n, &x).unwrap();
                let answer = stream.read_later(y).unwrap();
                block_on(ticket).unwrap();
                let mut expected = vec![5; n];
                // The bucket's first half are its inputs, padding among them.
                let padded = [2, 4].into_iter().find(|bucket| *bucket >= n).unwrap_or(n) - n;
                expected.extend(std::iter::repeat_n(0, padded.min(n)));
                expected.resize(2 * n, now);
                assert_eq!(block_on(answer).unwrap(), expected, "{n} rows");
            }
        }
        bench.expect_no_findings();
    }
}

#[test]
fn a_graph_over_other_memory_is_submitted_recorded_anew_and_asked() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let (a, mut y) = (device.buffer(&[1u32, 2, 3]).unwrap(), device.zeros::<u32>(3).unwrap());
        let builder = device.graph().label("step");
        let mut graph = builder.record_into(&a[..], &mut y[..], |r, x, y| r.run(copy(x, y))).unwrap();
        graph.preload(stream).unwrap();
        block_on(graph.submit(stream, &a, &mut y).unwrap()).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [1, 2, 3]);
        let failing = graph.rerecord(&a, &mut y, |_, _, _| Err(dacapo::Error::msg("not now")));
        assert!(failing.is_err());
        graph.launch(stream, &y.share(), &mut device.zeros::<u32>(3).unwrap()).unwrap();
        // Of other lengths than at first.
        graph
            .rerecord(&a[..1], &mut y[1..], |r, x, y| {
                r.run(k.put(baked(8), &mut y[..]))?;
                r.run(copy(x, &mut y[..1]))
            })
            .unwrap();
        assert_eq!((graph.len(), graph.label(), graph.num_replays()), (2, "step", 0));
        assert!(graph.memory().executable > 0 && graph.device() == device);
        let ticket = graph.submit(stream, &a[2..], &mut y[..2]).unwrap();
        drop(graph);
        ticket.wait().unwrap();
        assert_eq!(stream.read(&y).unwrap(), [3, 8, 3]);
        bench.expect_no_findings();
    }
}

#[test]
fn a_name_is_in_reports_errors_and_findings() {
    let bench = Bench::seeded(0);
    let Bench { device, stream, k } = &bench;
    let mut y = device.zeros::<u32>(4).unwrap().named("w1");
    let (host, loss) = (device.host(&[0u32]).unwrap().named("next"), device.scalar(0u32).unwrap().named("loss"));
    assert!(format!("{y:?} {host:?} {loss:?}").contains("Buffer<u32>[4] `w1` HostBuffer<u32>[1] `next`"));
    let graph = device.record(k.put(baked(1), &mut y)).unwrap();
    assert_eq!(graph.inspect().memories[0].name, "w1");
    let shared = y.share();
    let error = stream.run(copy(&shared[..2], &mut y[1..3])).unwrap_err();
    assert!(error.to_string().contains("(bytes 0..8 of `w1`)"), "{error}");
    // Stores one element behind the end.
    let _ = stream.run(k.store_at(baked(4), &mut y));
    let _ = stream.synchronize();
    let found = device.findings().join("\n");
    assert!(found.contains("`w1`"), "{found}");
}

#[test]
fn what_waits_to_be_given_back_is_not_counted_as_held() {
    let bench = Bench::seeded(0);
    let Bench { device, k, .. } = &bench;
    device.synchronize().unwrap();
    let before = device.counters();
    let mut y = device.zeros::<u32>(4).unwrap();
    let graph = device.record(k.put(baked(1), &mut y)).unwrap();
    let held = device.counters();
    assert_eq!((held.graphs, held.allocations), (before.graphs + 1, before.allocations + 1));
    drop((graph, y));
    let dropped = device.counters();
    assert_eq!((dropped.graphs, dropped.allocations), (before.graphs, before.allocations));
    assert!(dropped.waiting >= 2);
    assert!(dropped.to_string().contains("dropped and waiting to be given back: 2"), "{dropped}");
    device.synchronize().unwrap();
    assert_eq!(device.counters().waiting, 0);
    assert_eq!(device.counters().graphs, before.graphs);
}
