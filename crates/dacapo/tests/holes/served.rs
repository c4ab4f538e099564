//! What a program that serves can run into: tickets whose device goes, recipes that answer otherwise, errors of new calls.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use dacapo::{Buffer, ErrorKind, Recorder, Result, Slice, baked, copy};

use crate::kit::{Bench, benches};

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Awaits as a runtime does: asleep until it is woken.
fn park_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(out) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return out;
        }
        std::thread::park();
    }
}

/// Who was woken holds the last handle: the device goes when that is dropped, on that thread, and leaves nothing.
#[test]
fn hole_e15() {
    for seed in 0..200 {
        let Bench { device, stream, k } = Bench::seeded(seed);
        let (machine, kept) = (device.machine().unwrap().clone(), Arc::new(()));
        let mut y = device.zeros::<u32>(64).unwrap();
        let body = |r: &mut Recorder<'_>| {
            r.keep(kept.clone());
            (0..5).try_for_each(|value| r.run(k.put(baked(value), &mut y)))
        };
        let mut graph = device.record(body).unwrap();
        park_on(graph.submit(&stream).unwrap()).unwrap();
        drop((graph, y, stream, k, device));
        let left = machine.census();
        let objects = left.streams + left.events + left.allocations + left.host_allocations + left.graphs;
        assert_eq!((Arc::strong_count(&kept), objects), (1, 0), "seed {seed}: {left:?}");
    }
}

thread_local! {
    /// After so many questions the recipes below panic; and how many blocks they answer with.
    static QUESTIONS: Cell<usize> = const { Cell::new(usize::MAX) };
    static BLOCKS: Cell<u32> = const { Cell::new(1) };
}

fn blocks() -> u32 {
    let left = QUESTIONS.get().checked_sub(1).expect("a recipe that panics");
    QUESTIONS.set(left);
    BLOCKS.get()
}

dacapo::kernels! {
    unsafe struct Moody(include_str!("../promises/kernels.ptx")) {
        /// y ← value in as many elements as there are threads in `blocks()`
        fn put_moody(value: u32, n: u32 = y.len(), y: &mut [u32]) {
            entry: "put";
            grid: exact([blocks(), 1, 1], [32, 1, 1]);
        }
    }
}

/// A profile asks recipes again. What it launches is checked as any launch is.
#[test]
fn hole_e16() {
    for Bench { device, stream, .. } in benches() {
        BLOCKS.set(1);
        let moody = Moody::load(&device).unwrap();
        let mut y = device.zeros::<u32>(4).unwrap();
        let body = |r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(4)?;
            r.run(moody.put_moody(baked(5), &mut t))?;
            r.run(copy(&t, &mut y))
        };
        let mut graph = device.record(body).unwrap();
        BLOCKS.set(0);
        let refused = graph.profile(&stream).map(drop).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::UninitTemp { idle: Some(_), .. }), "{refused}");
        BLOCKS.set(1);
        assert_eq!(graph.profile(&stream).unwrap().ops.len(), 2);
        assert_eq!(stream.read(&y).unwrap(), [5; 4]);
    }
}

/// A recipe that panics while graphs are built anew leaves none of the old ones beside the new ones.
#[test]
fn hole_e17() {
    for questions in 0..14 {
        let Bench { device, stream, .. } = Bench::seeded(0);
        QUESTIONS.set(usize::MAX);
        let moody = Moody::load(&device).unwrap();
        let body = |r: &mut Recorder<'_>, value: u32, times: usize| -> Result<Buffer<u32>> {
            let mut y = r.output::<u32>(4)?;
            (0..times).try_for_each(|_| r.run(moody.put_moody(baked(value), &mut y)))?;
            Ok(y)
        };
        let mut cache = GraphCache::<u32, Buffer<u32>>::new(&device);
        for key in 0..3 {
            cache.run(&stream, &key, |r| body(r, 1, 1)).unwrap();
        }
        QUESTIONS.set(questions);
        let ended = catch_unwind(AssertUnwindSafe(|| cache.rerecord_all(|r, _| body(r, 2, 2)).map(drop)));
        QUESTIONS.set(usize::MAX);
        // Two questions a graph to record it, two more to build it anew.
        assert_eq!(ended.is_err(), questions < 12, "{questions}");
        let keys: Vec<u32> = cache.keys().copied().collect();
        let seen: Vec<u32> = keys.iter().map(|key| valued(&mut cache, &stream, key)).collect();
        let expected: &[u32] = if questions < 6 { &[1, 1, 1] } else { &[2, 2, 2][..(questions - 6) / 2] };
        assert_eq!(seen, expected, "{questions}");
        assert_eq!(device.findings(), [] as [String; 0]);
    }
}

fn valued(cache: &mut GraphCache<u32, Buffer<u32>>, stream: &dacapo::Stream, key: &u32) -> u32 {
    let graph = cache.get(key).unwrap();
    stream.read(graph.launch_sync(stream).unwrap()).unwrap()[0]
}

/// Drops of outputs that panic, one in each graph: all go, and the process with its first panic goes on.
#[test]
fn hole_e18() {
    type Cache = GraphCache<u32, Loud>;
    struct Loud(Arc<AtomicUsize>);
    impl Drop for Loud {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            panic!("on purpose");
        }
    }
    let (bench, dropped) = (Bench::seeded(0), Arc::new(AtomicUsize::new(0)));
    let mut cache = Cache::new(&bench.device);
    let anew = |cache: &mut Cache| drop(cache.rerecord_all(|_, _| Ok(Loud(dropped.clone()))));
    let clear = |cache: &mut Cache| cache.clear();
    let ways: [&dyn Fn(&mut Cache); 2] = [&anew, &clear];
    for key in 0..3 {
        cache.get_or_record(&key, |_| Ok(Loud(dropped.clone()))).unwrap();
    }
    for way in ways {
        let panic = catch_unwind(AssertUnwindSafe(|| way(&mut cache))).expect_err("the first panic goes on");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(dropped.swap(0, Ordering::Relaxed), 3);
    }
    assert!(cache.is_empty());
    bench.expect_usable();
}

/// An error names the call that the program has made, and its line, never one of the library's.
#[test]
fn hole_e19() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let (x, mut y) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
    let mut host = device.host(&[1u32; 4]).unwrap();
    let mut graph = device.record(k.put(baked(1), &mut y)).unwrap();
    let mut into = device.graph().record_into(&x[..], &mut y[..], |r, x, y| r.run(copy(x, y))).unwrap();
    let mut cache = GraphCache::<u32, ()>::new(&device);
    let same = |r: &mut Recorder<'_>, n: usize, x: &Slice<u32>| {
        let mut y = r.output(n)?;
        r.run(copy(x, &mut y))?;
        Ok(y)
    };
    let mut same = Bucketed::new(&device, Buckets::new([4]).unwrap(), rows(1, Pad::Zero), same).unwrap();
    let nothing = |_: &mut Recorder<'_>| Ok(());
    let mut ended: Vec<(&str, Result<()>)> = Vec::new();
    let inside = |_: &mut Recorder<'_>| {
        ended.push(("Stream::run", stream.run(nothing)));
        ended.push(("Stream::submit", stream.submit(nothing).map(drop)));
        ended.push(("Stream::profile", stream.profile(nothing).map(drop)));
        ended.push(("Stream::read_later", stream.read_later(&x).map(drop)));
        ended.push(("Stream::read_into", stream.read_into(&x, &mut [0; 4])));
        ended.push(("Graph::launch", graph.launch(&stream).map(drop)));
        ended.push(("Graph::submit", graph.submit(&stream).map(drop)));
        ended.push(("Graph::profile", graph.profile(&stream).map(drop)));
        ended.push(("GraphInto::launch", into.launch(&stream, &x, &mut y).map(drop)));
        ended.push(("GraphInto::submit", into.submit(&stream, &x, &mut y).map(drop)));
        ended.push(("GraphInto::profile", into.profile(&stream, &x, &mut y).map(drop)));
        ended.push(("GraphInto::preload", into.preload(&stream)));
        ended.push(("GraphCache::submit", cache.submit(&stream, &1, |_| Ok(())).map(drop)));
        ended.push(("GraphCache::rerecord_all", cache.rerecord_all(|_, _| Ok(())).map(drop)));
        ended.push(("Bucketed::submit", same.submit(&stream, 4, &x).map(drop)));
        ended.push(("Bucketed::rerecord_all", same.rerecord_all().map(drop)));
        ended.push(("HostBuffer::to_vec", host.to_vec().map(drop)));
        ended.push(("HostBuffer::read_into", host.read_into(&mut [0; 4])));
        ended.push(("HostBuffer::set", host.set(&[0; 4])));
        Ok(())
    };
    device.record(inside).unwrap();
    for (named, ended) in ended {
        let error = ended.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::EagerInRecording { call } if *call == named), "{named}: {error}");
        assert_eq!(error.location().map(|at| at.file()), Some(file!()), "{named}");
    }
    let other = Bench::seeded(1).stream;
    let strange = [into.launch(&other, &x, &mut y).map(drop), into.profile(&other, &x, &mut y).map(drop)];
    for error in strange.map(|ended| ended.unwrap_err()) {
        assert!(matches!(error.kind(), ErrorKind::WrongDevice { .. }), "{error}");
        assert_eq!(error.location().map(|at| at.file()), Some(file!()), "{error}");
    }
    // And what would have been right.
    let short = stream.read_into(&x, &mut [0; 3]).unwrap_err();
    assert_eq!(short.help().as_deref(), Some("read a part: `stream.read_into(&source[..3], &mut elements)`"));
    let short = host.slice(1..).read_into(&mut [0; 2]).unwrap_err();
    assert_eq!(short.help().as_deref(), Some("pass a slice of 3 elements, or read a `slice(..)` of the buffer"));
}
