//! What is awaited, forgotten or dropped half-way, by code that does what it likes.
//!
//! The promise: whatever wakers, callbacks, elements and ends of threads do, every other ticket is told, nothing that is in
//! flight is freed, nothing hangs, and when the last handle goes everything is given back.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use dacapo::shapes::GraphCache;
use dacapo::{
    Buffer, Device, ErrorKind, Graph, Pod, Recorder, Slot, Stream, Ticket, baked, copy, download, fill, upload,
};
use dacapo_sim::{Machine, Time};

use crate::kit::{Bench, benches, software};

/// Something of the user's that is done to wake a task.
struct Calls<F>(F);

impl<F: Fn() + Send + Sync> Wake for Calls<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

fn waker(call: impl Fn() + Send + Sync + 'static) -> Waker {
    Arc::new(Calls(call)).into()
}

/// Awaits as a runtime does: asleep until it is woken.
fn park_on<F: Future>(future: F) -> F::Output {
    let thread = std::thread::current();
    let (waker, mut future) = (waker(move || thread.unpark()), pin!(future));
    loop {
        if let Poll::Ready(out) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return out;
        }
        std::thread::park();
    }
}

fn is_pending<F: Future + Unpin>(future: &mut F, waker: &Waker) -> bool {
    Pin::new(future).poll(&mut Context::from_waker(waker)).is_pending()
}

fn within_a_minute<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, outcome) = channel();
    std::thread::spawn(move || done.send(body()));
    outcome.recv_timeout(Duration::from_secs(60)).expect("it hangs, or has panicked")
}

/// In live time work goes on by itself, and is still under way when it is asked for.
fn live(seed: u64) -> Bench {
    Bench::new(software(seed).options(|options| options.time = Time::Live).open().unwrap())
}

/// Work that takes a while; its last value is 19.
fn long(bench: &Bench) -> (Buffer<u32>, Graph<()>) {
    let mut y = bench.device.zeros::<u32>(4096).unwrap();
    let body = |r: &mut Recorder<'_>| (0..20).try_for_each(|value| r.run(bench.k.put(baked(value), &mut y)));
    let graph = bench.device.record(body).unwrap();
    (y, graph)
}

/// Everything is given back soon, by whichever thread held it last.
#[track_caller]
fn expect_given_back(machine: &Machine) {
    let begun = Instant::now();
    loop {
        let left = machine.census();
        let objects =
            left.allocations + left.host_allocations + left.streams + left.events + left.modules + left.graphs;
        if objects == 0 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{left:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_waker_that_panics_keeps_nobody_else_from_being_woken() {
    within_a_minute(|| {
        for bench in [Bench::seeded(0), live(0), live(1)] {
            let (y, mut graph) = long(&bench);
            let loud = waker(|| panic!("a waker that panics"));
            let mut tickets: Vec<_> = (0..10).map(|_| graph.submit(&bench.stream).unwrap()).collect();
            tickets.retain_mut(|ticket| is_pending(ticket, &loud));
            park_on(graph.submit(&bench.stream).unwrap()).unwrap();
            assert_eq!(park_on(bench.stream.read_later(&y).unwrap()).unwrap(), [19; 4096]);
            tickets.into_iter().for_each(|ticket| park_on(ticket).unwrap());
            bench.expect_usable();
        }
    });
}

#[test]
fn a_waker_may_use_the_device_and_drop_it_with_its_own_ticket() {
    within_a_minute(|| {
        for seed in 0..20 {
            let bench = live(seed);
            let (y, mut graph) = long(&bench);
            let ticket = Arc::new(Mutex::new(Some(graph.submit(&bench.stream).unwrap())));
            let (machine, own, (woken, heard)) = (bench.machine().clone(), ticket.clone(), channel());
            let everything = Mutex::new((Some((bench, y, graph)), woken));
            let nosy = waker(move || {
                let mut held = everything.lock().unwrap();
                if let Some((bench, y, mut graph)) = held.0.take() {
                    graph.submit(&bench.stream).unwrap().wait().unwrap();
                    assert_eq!(bench.stream.read(&y).unwrap(), [19; 4096]);
                    let _ = is_pending(&mut bench.stream.read_later(&y).unwrap(), Waker::noop());
                    bench.device.synchronize().unwrap();
                }
                drop(own.lock().unwrap().take());
                held.1.send(()).unwrap();
            });
            let pending = is_pending(ticket.lock().unwrap().as_mut().unwrap(), &nosy);
            if pending {
                heard.recv().unwrap();
            }
            drop((ticket, nosy));
            expect_given_back(&machine);
        }
    });
}

#[test]
fn a_waker_that_holds_its_own_ticket_goes_when_the_work_is_over() {
    within_a_minute(|| {
        let (bench, alive) = (live(0), Arc::new(()));
        let (_, mut graph) = long(&bench);
        for _ in 0..10 {
            let own: Arc<Mutex<Option<Ticket>>> = Arc::default();
            let held = (own.clone(), alive.clone());
            let cyclic = waker(move || drop(held.clone()));
            let mut ticket = graph.submit(&bench.stream).unwrap();
            let _ = is_pending(&mut ticket, &cyclic);
            *own.lock().unwrap() = Some(ticket);
        }
        bench.device.synchronize().unwrap();
        let begun = Instant::now();
        while Arc::strong_count(&alive) > 1 {
            assert!(begun.elapsed() < Duration::from_secs(30), "a cycle is left");
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

#[test]
fn thousands_of_tickets_are_woken_by_the_waker_that_came_last() {
    within_a_minute(|| {
        let bench = live(3);
        let mut y = bench.device.zeros::<u32>(4).unwrap();
        let mut graph = bench.device.record(bench.k.put(baked(1), &mut y)).unwrap();
        let (woken, wrong) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let count = |into: &Arc<AtomicU32>| {
            let into = into.clone();
            waker(move || {
                into.fetch_add(1, Ordering::SeqCst);
            })
        };
        let (last, first) = (count(&woken), count(&wrong));
        let mut pending = 0;
        let mut tickets: Vec<_> = (0..3000).map(|_| graph.submit(&bench.stream).unwrap()).collect();
        for ticket in &mut tickets {
            // Between the two looks it may be over: then the first waker was right.
            if is_pending(ticket, &first) && is_pending(ticket, &last) {
                pending += 1;
            }
        }
        // Dropped or not, the wakers are called.
        tickets.truncate(1500);
        let begun = Instant::now();
        while woken.load(Ordering::SeqCst) < pending {
            assert!(begun.elapsed() < Duration::from_secs(30), "{woken:?} of {pending}");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(wrong.load(Ordering::SeqCst) + pending <= 3000);
        bench.expect_no_findings();
    });
}

#[test]
fn when_the_context_is_lost_every_ticket_is_told() {
    within_a_minute(|| {
        for seed in 0..10 {
            let bench = live(seed);
            let mut y = bench.device.zeros::<u32>(4).unwrap();
            let mut bad = bench.device.record(bench.k.store_at(baked(100_000), &mut y)).unwrap();
            let mut good = bench.device.record(bench.k.put(baked(1), &mut y)).unwrap();
            let first = bad.submit(&bench.stream);
            // Each may be refused already.
            let second = good.submit(&bench.stream);
            let third = bench.stream.read_later(&y);
            let lost = |error: &dacapo::Error| matches!(error.kind(), ErrorKind::Lost { .. });
            assert!(first.and_then(park_on).is_err_and(|error| lost(&error)));
            assert!(second.and_then(park_on).is_err_and(|error| lost(&error)));
            assert!(third.and_then(park_on).is_err_and(|error| lost(&error)));
        }
    });
}

#[test]
fn what_is_forgotten_is_never_freed_under_its_work() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let (mut y, mut graph) = long(&bench);
        for _ in 0..20 {
            std::mem::forget(graph.submit(stream).unwrap());
            std::mem::forget(graph.launch(stream).unwrap());
            std::mem::forget(stream.read_later(&y).unwrap());
            let made = |r: &mut Recorder<'_>| {
                let mut made = r.output::<u32>(3)?;
                r.run(k.put(baked(1), &mut made))?;
                Ok(made)
            };
            std::mem::forget(stream.submit(made).unwrap());
        }
        let mut host = device.host(&[1u32; 8]).unwrap();
        stream.run(download(&y[..4], host.slice_mut(2..6))).unwrap();
        std::mem::forget(device.record(upload(host.slice(..4), &mut y[..4])).unwrap());
        assert_eq!(host.to_vec().unwrap(), [1, 1, 19, 19, 19, 19, 1, 1]);
        stream.write(&mut y, &[3; 4096]).unwrap();
        let reading = stream.read_later(&y).unwrap();
        drop((y, graph));
        assert_eq!(reading.wait().unwrap(), [3; 4096]);
        bench.expect_usable();
        bench.expect_no_findings();
    }
}

#[test]
fn a_ticket_outlives_its_graph_its_stream_and_every_handle_on_the_device() {
    within_a_minute(|| {
        for bench in [Bench::seeded(0), Bench::seeded(7), live(0)] {
            let (y, mut graph) = long(&bench);
            let ticket = graph.submit(&bench.stream).unwrap();
            let reading = bench.stream.read_later(&y).unwrap();
            let machine = bench.machine().clone();
            drop((y, graph, bench));
            let other = std::thread::spawn(move || (park_on(ticket), park_on(reading)));
            let (over, read) = other.join().unwrap();
            assert_eq!((over.unwrap(), read.unwrap()), ((), vec![19; 4096]));
            assert!(machine.findings().is_empty());
            expect_given_back(&machine);
        }
    });
}

#[test]
fn what_a_cache_has_dropped_is_still_answered_and_a_body_that_panics_changes_nothing() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let mut cache = GraphCache::new(device).max_graphs(1);
        let mut asked = Vec::new();
        for key in 0..10u32 {
            let body = |r: &mut Recorder<'_>| {
                let (mut y, mut t) = (r.output::<u32>(100)?, r.alloc::<u32>(100)?);
                r.run(k.put(baked(key), &mut t))?;
                r.run(copy(&t, &mut y))?;
                Ok(y)
            };
            let (y, ticket) = cache.submit(stream, &key, body).unwrap();
            asked.push((key, stream.read_later(y).unwrap(), ticket));
            let loud = |_: &mut Recorder<'_>| -> dacapo::Result<Buffer<u32>> { panic!("a body that panics") };
            assert!(catch_unwind(AssertUnwindSafe(|| cache.submit(stream, &1000, loud).map(drop))).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| cache.rerecord_all(|r, _| loud(r)).map(drop))).is_err());
            assert_eq!(cache.keys().collect::<Vec<_>>(), [&key]);
        }
        for (key, reading, ticket) in asked {
            park_on(ticket).unwrap();
            assert_eq!(park_on(reading).unwrap(), [key; 100]);
        }
        bench.expect_usable();
        bench.expect_no_findings();
    }
}

thread_local!(static LAST: RefCell<Vec<Box<dyn std::any::Any>>> = const { RefCell::new(Vec::new()) });

#[test]
fn the_end_of_a_thread_may_drop_everything() {
    for make in [Bench::seeded as fn(u64) -> Bench, live] {
        let thread = std::thread::spawn(move || {
            // First, so that it is dropped after all that the library may keep for this thread.
            LAST.with_borrow_mut(|last| last.push(Box::new(())));
            let bench = make(0);
            let (y, mut graph) = long(&bench);
            let (ticket, reading) = (graph.submit(&bench.stream).unwrap(), bench.stream.read_later(&y).unwrap());
            let machine = bench.machine().clone();
            LAST.with_borrow_mut(|last| last.push(Box::new((ticket, graph, y, bench, reading))));
            machine
        });
        expect_given_back(&thread.join().unwrap());
    }
}

/// An element of the user's, whose code asks and panics.
#[derive(Pod)]
#[repr(C)]
struct Moody(u32);

static ASKED: OnceLock<(Device, Stream, Slot<Moody>)> = OnceLock::new();
static CLONES_LEFT: AtomicU32 = AtomicU32::new(u32::MAX);

impl Copy for Moody {}

#[allow(clippy::non_canonical_clone_impl, reason = "what is tested")]
impl Clone for Moody {
    fn clone(&self) -> Moody {
        assert!(CLONES_LEFT.fetch_sub(1, Ordering::SeqCst) > 0, "a clone that panics");
        Moody(self.0)
    }
}

impl std::fmt::Debug for Moody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((device, stream, slot)) = ASKED.get() {
            slot.set(Moody(1));
            let _ = (stream.synchronize(), device.synchronize(), device.zeros::<u32>(5), device.counters());
        }
        write!(f, "moody {}", self.0)
    }
}

#[test]
fn an_element_may_ask_the_device_while_it_is_shown_and_panic_while_it_is_copied() {
    within_a_minute(|| {
        let bench = Bench::seeded(0);
        let (device, stream, slot) = (bench.device.clone(), bench.stream.clone(), Slot::new(Moody(7)));
        let mut y = device.zeros::<Moody>(5).unwrap();
        let mut graph = device.record(fill(&mut y, &slot)).unwrap();
        assert!(ASKED.set((device.clone(), stream.clone(), slot.clone())).is_ok());
        assert!(graph.inspect().to_string().contains("moody 7"));
        assert!(format!("{slot:?}{:?}", graph.profile(&stream).unwrap()).contains("moody 1"));
        assert!(graph.rerecord(fill(&mut y, baked(Moody(3)))).unwrap().is_updated());
        graph.launch(&stream).unwrap();
        let staged = device.counters().staging_bytes;
        for _ in 0..10 {
            let reading = stream.read_later(&y).unwrap();
            CLONES_LEFT.store(2, Ordering::SeqCst);
            assert!(catch_unwind(AssertUnwindSafe(|| reading.wait())).is_err());
            CLONES_LEFT.store(u32::MAX, Ordering::SeqCst);
            device.synchronize().unwrap();
        }
        assert_eq!(device.counters().staging_bytes, staged.max(64 << 10), "one block, used again and again");
        assert!(stream.read(&y).unwrap().iter().all(|element| element.0 == 3));
        bench.expect_usable();
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Pod)]
#[repr(C, align(4096))]
struct Page([u64; 512]);

#[derive(Clone, Copy, Debug, PartialEq, Pod)]
#[repr(C, packed)]
struct Packed {
    a: u8,
    b: u32,
    c: u16,
}

#[test]
fn elements_of_odd_sizes_and_alignments_are_elements_like_others() {
    let bench = Bench::seeded(0);
    let Bench { device, stream, .. } = &bench;
    let (first, second) = (Page([7; 512]), Slot::new(Page([9; 512])));
    let mut pages = device.buffer(&[first; 2]).unwrap();
    stream.run(fill(&mut pages[1..], &second)).unwrap();
    let read = stream.read_later(&pages).unwrap().wait().unwrap();
    assert_eq!((read.as_ptr().addr() % 4096, &read[..]), (0, &[first, second.get()][..]));
    assert_eq!(device.host(&read).unwrap().slice(1..).to_vec().unwrap(), [second.get()]);
    let (one, two) = (Packed { a: 1, b: 2, c: 3 }, Packed { a: 4, b: 5, c: 6 });
    let mut packed = device.buffer(&[one; 5]).unwrap();
    let mut graph = device.record(fill(&mut packed[1..3], &Slot::new(two))).unwrap();
    graph.launch(stream).unwrap();
    stream.run(upload(device.host(&[two; 3]).unwrap().slice(2..), &mut packed[4..])).unwrap();
    assert_eq!(stream.read(&packed).unwrap(), [one, two, two, one, two]);
    bench.expect_no_findings();
}

#[test]
fn a_callback_for_findings_may_panic_and_may_drop_the_last_handle_on_its_device() {
    within_a_minute(|| {
        let (held, (told, heard)) = (Arc::new(Mutex::new(None::<Bench>)), channel());
        let (inside, told) = (held.clone(), Mutex::new(told));
        let callback = move |_: &dacapo_sim::Finding| {
            let last = inside.lock().unwrap().take();
            told.lock().unwrap().send(()).unwrap();
            drop(last);
            panic!("a callback that panics");
        };
        let bench = Bench::new(software(0).options(|o| o.on_finding = Some(Arc::new(callback))).open().unwrap());
        let (machine, mut y) = (bench.machine().clone(), bench.device.zeros::<u32>(4).unwrap());
        let mut graph = bench.device.record(bench.k.store_at(baked(100_000), &mut y)).unwrap();
        let stream = bench.stream.clone();
        *held.lock().unwrap() = Some(bench);
        assert!(graph.submit(&stream).and_then(Ticket::wait).is_err());
        drop((graph, y, stream, held));
        heard.recv().unwrap();
        let begun = Instant::now();
        while machine.census().retains > 0 {
            assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", machine.census());
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}
