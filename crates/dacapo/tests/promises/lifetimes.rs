//! What lives until its work is over, and what goes at the end.
//!
//! - Work of another library's tells when it ran: nothing that it was given may be gone by then.
//! - Calls of the driver are counted: as many objects are destroyed as were made.
//! - Calls of the driver are refused: an answer may come late then, never early, and nothing is lost.

use std::ffi::c_void;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use dacapo::capture::{self, CaptureStream, Mode, Status};
use dacapo::raw::{RawKernel, RawStream, foreign};
use dacapo::{Device, Error, ErrorKind, Recorder, Result, Ticket, baked, fill};
use dacapo_driver::types::CUcontext;
use dacapo_driver::{Argument, CUresult, Call, Count, Driver, Hook, Hooked};
use dacapo_sim::{Machine, Options};

use crate::kit::{Bench, Kernels, benches, hooked, kind, software};

/// Work of another library's that tells whether it ran, and what was let go before it did.
#[derive(Clone, Copy)]
struct Watched(&'static State);

#[derive(Default)]
struct State {
    ran: AtomicBool,
    gone: AtomicU32,
    early: AtomicBool,
}

impl Watched {
    fn new() -> Watched {
        // Leaked: the machine may run the function after a test has failed.
        Watched(Box::leak(Box::default()))
    }

    /// Puts it on a stream: it touches no memory of the device's, may run any number of times, and ends.
    fn enqueue(self, machine: &Machine, stream: RawStream) -> Result<()> {
        unsafe extern "C" fn run(state: *mut c_void) {
            // SAFETY: the pointer below, to what is never freed and changed by atomics only.
            unsafe { &*state.cast_const().cast::<State>() }.ran.store(true, Ordering::SeqCst);
        }
        let state = std::ptr::from_ref(self.0).cast_mut().cast();
        // SAFETY: the stream is alive, and the function takes this pointer.
        match unsafe { machine.cuLaunchHostFunc(stream.0, Some(run), state) } {
            CUresult::CUDA_SUCCESS => Ok(()),
            code => Err(Error::msg(format!("{code:?}"))),
        }
    }

    fn ran(self) -> bool {
        self.0.ran.load(Ordering::SeqCst)
    }

    /// A value that may not be dropped before the work has run.
    fn needed(self) -> Needed {
        Needed(self)
    }
}

struct Needed(Watched);

impl Drop for Needed {
    fn drop(&mut self) {
        let Watched(state) = self.0;
        if !self.0.ran() {
            state.early.store(true, Ordering::SeqCst);
        }
        state.gone.fetch_add(1, Ordering::SeqCst);
    }
}

/// Refuses a call while it is armed.
struct Refusing {
    call: Call,
    armed: AtomicBool,
}

impl Refusing {
    fn new(call: Call) -> Refusing {
        Refusing { call, armed: AtomicBool::new(false) }
    }

    fn arm(&self, armed: bool) {
        self.armed.store(armed, Ordering::SeqCst);
    }
}

impl Hook for Refusing {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        match call == self.call && self.armed.load(Ordering::SeqCst) {
            true => CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            false => run(),
        }
    }
}

/// As many of each kind were destroyed as were made.
#[track_caller]
fn expect_all_destroyed(count: &Count) {
    let pairs = [
        (Call::cuDevicePrimaryCtxRetain, Call::cuDevicePrimaryCtxRelease_v2),
        (Call::cuStreamCreate, Call::cuStreamDestroy_v2),
        (Call::cuEventCreate, Call::cuEventDestroy_v2),
        (Call::cuMemAllocAsync, Call::cuMemFreeAsync),
        (Call::cuMemHostAlloc, Call::cuMemFreeHost),
        (Call::cuModuleLoadDataEx, Call::cuModuleUnload),
        (Call::cuGraphInstantiateWithFlags, Call::cuGraphExecDestroy),
    ];
    for (made, destroyed) in pairs {
        assert_eq!(count.of(made).calls, count.of(destroyed).calls, "{made:?}, {destroyed:?}");
    }
}

/// Until something holds, but not for ever.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}: never");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_an_eager_run_was_given_lives_until_its_work_is_over() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Ending {
        Well,
        FailsHalfWay,
        Panics,
    }
    for ending in [Ending::Well, Ending::FailsHalfWay, Ending::Panics] {
        for bench in benches() {
            let Bench { device, stream, .. } = &bench;
            let work = Watched::new();
            let (kept, owned, machine) = (work.needed(), work.needed(), bench.machine().clone());
            let enqueue = move |stream, (), ()| {
                let _ = &owned;
                work.enqueue(&machine, stream)?;
                assert!(ending != Ending::Panics, "on purpose");
                Ok(())
            };
            let fail = move |_, (), ()| match ending {
                Ending::FailsHalfWay => Err(Error::msg("half-way")),
                _ => Ok(()),
            };
            let op = |r: &mut Recorder<'_>| {
                r.keep(kept);
                // SAFETY: it enqueues what `enqueue` says.
                r.run(unsafe { foreign((), (), enqueue) })?;
                // SAFETY: it enqueues nothing.
                r.run(unsafe { foreign((), (), fail) })
            };
            let ended = match catch_unwind(AssertUnwindSafe(|| stream.run(op))) {
                Ok(Ok(())) => Ending::Well,
                Ok(Err(_)) => Ending::FailsHalfWay,
                Err(_) => Ending::Panics,
            };
            assert_eq!(ended, ending);
            // Empties the queue of drops.
            device.zeros::<u32>(1).unwrap();
            device.synchronize().unwrap();
            assert!(work.ran(), "{ending:?}");
            assert!(!work.0.early.load(Ordering::SeqCst), "{ending:?}: gone before the work ran");
            assert_eq!(work.0.gone.load(Ordering::SeqCst), 2, "{ending:?}: held although the work is over");
            bench.expect_usable();
            bench.expect_no_findings();
        }
    }
}

/// Does something of the test's inside the first call of a kind, on another thread; notes a module that goes before the
/// work ran.
struct Meanwhile {
    work: Watched,
    inside: Call,
    job: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Hook for Meanwhile {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        if call == self.inside {
            let job = self.job.lock().unwrap().take();
            if let Some(job) = job {
                std::thread::spawn(job).join().unwrap();
            }
        }
        if call == Call::cuModuleUnload && !self.work.ran() {
            self.work.0.early.store(true, Ordering::SeqCst);
        }
        run()
    }
}

#[test]
fn a_module_stays_until_work_of_a_dropped_stream_has_run_also_when_two_threads_look() {
    for (seed, dropped_meanwhile) in (0..6).flat_map(|seed| [(seed, false), (seed, true)]) {
        let work = Watched::new();
        let hook = Arc::new(Meanwhile { work, inside: Call::cuEventQuery, job: Mutex::new(None) });
        let kept = hook.clone();
        // SAFETY: the hook passes every call on.
        let opened = unsafe { software(seed).open_hooked(move |machine| Arc::new(Hooked::new(machine, kept))) };
        let device = opened.unwrap();
        let (own, other) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
        let mut y = device.zeros::<u32>(64).unwrap();
        work.enqueue(device.machine().unwrap(), other.raw()).unwrap();
        other.run(own.put(baked(1), &mut y)).unwrap();
        drop(other);
        let mut own = Some(own);
        let later = if dropped_meanwhile { own.take() } else { None };
        drop(own);
        let too = device.clone();
        *hook.job.lock().unwrap() = Some(Box::new(move || {
            drop(later);
            too.zeros::<u8>(1).unwrap();
        }));
        device.zeros::<u8>(1).unwrap();
        device.synchronize().unwrap();
        assert!(hook.job.lock().unwrap().is_none(), "the other thread looked");
        assert!(work.ran());
        assert!(!work.0.early.load(Ordering::SeqCst), "seed {seed}: a module went under work in flight");
        assert_eq!((device.counters().modules, device.counters().waiting), (0, 0));
        assert_eq!(device.findings(), [] as [String; 0]);
    }
}

#[test]
fn synchronize_waits_for_streams_that_were_dropped_also_while_another_thread_looks_after_them() {
    for seed in 0..6 {
        let work = Watched::new();
        let hook = Arc::new(Meanwhile { work, inside: Call::cuEventQuery, job: Mutex::new(None) });
        let kept = hook.clone();
        // SAFETY: the hook passes every call on.
        let opened = unsafe { software(seed).open_hooked(move |machine| Arc::new(Hooked::new(machine, kept))) };
        let device = opened.unwrap();
        let (other, mut y) = (device.stream().unwrap(), device.zeros::<u32>(64).unwrap());
        work.enqueue(device.machine().unwrap(), other.raw()).unwrap();
        other.run(fill(&mut y, baked(1))).unwrap();
        drop(other);
        let too = device.clone();
        *hook.job.lock().unwrap() = Some(Box::new(move || {
            too.synchronize().unwrap();
            assert!(work.ran(), "seed {seed}: it did not wait");
        }));
        device.zeros::<u8>(1).unwrap();
        assert!(hook.job.lock().unwrap().is_none(), "the other thread synchronised");
    }
}

#[test]
fn a_stream_for_each_task_leaves_no_streams_behind() {
    let (Bench { device, stream, .. }, count) = hooked(Count::new());
    let alive = || count.of(Call::cuStreamCreate).calls - count.of(Call::cuStreamDestroy_v2).calls;
    let mut y = device.zeros::<u32>(16).unwrap();
    let mut graph = device.record(fill(&mut y, baked(2))).unwrap();
    stream.synchronize().unwrap();
    let (before, mut most) = (alive(), 0);
    for replays in [false, true] {
        for _ in 0..500 {
            let task = device.stream().unwrap();
            match replays {
                false => task.run(fill(&mut y, baked(1))).unwrap(),
                true => drop(graph.launch(&task).unwrap()),
            }
            drop(task);
            most = most.max(alive());
        }
        device.synchronize().unwrap();
        // What a buffer or a graph was last used on is remembered with it.
        assert!(alive() <= before + 2, "replays: {replays}: {}", alive());
    }
    assert!(most < before + 20, "streams pile up: {most}");
    drop((y, graph));
    device.synchronize().unwrap();
    assert_eq!(alive(), before);
    assert_eq!(device.findings(), [] as [String; 0]);
}

#[test]
fn a_launch_is_not_called_done_because_the_question_was_refused() {
    for call in [Call::cuEventRecord, Call::cuEventQuery] {
        let (bench, refusing) = hooked(Refusing::new(call));
        let Bench { device, stream, .. } = &bench;
        let (work, machine) = (Watched::new(), bench.machine().clone());
        // SAFETY: it enqueues what `enqueue` says.
        let op = unsafe { foreign((), (), move |stream, (), ()| work.enqueue(&machine, stream)) };
        let mut graph = device.record(op).unwrap();
        refusing.arm(true);
        let ticket = graph.submit(stream).unwrap();
        assert!(!ticket.is_done(), "{call:?}");
        let launched = graph.launch(stream).unwrap();
        assert!(!launched.is_done(), "{call:?}");
        refusing.arm(false);
        until("the launch", || launched.is_done());
        assert!(work.ran());
        assert!(ticket.is_done());
        launched.wait().unwrap();
        ticket.wait().unwrap();
    }
}

/// Nobody waits for ever for what will not come.
#[test]
fn a_launch_on_a_lost_context_is_done() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let (mut y, mut z) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
        let other = device.stream().unwrap();
        let mut graph = device.record(k.put(baked(1), &mut y)).unwrap();
        let ticket = graph.submit(stream).unwrap();
        let launched = graph.launch(stream).unwrap();
        other.run(k.store_at(baked(1 << 28), &mut z)).unwrap();
        assert!(matches!(kind(other.synchronize()), ErrorKind::Lost { .. }));
        assert!(launched.is_done() && ticket.is_done());
        assert!(matches!(kind(launched.wait()), ErrorKind::Lost { .. }));
        assert!(matches!(kind(ticket.wait()), ErrorKind::Lost { .. }));
    }
}

/// Polls a ticket once.
fn poll(ticket: &mut Ticket, waker: &Waker) -> Poll<Result<()>> {
    std::pin::Pin::new(ticket).poll(&mut Context::from_waker(waker))
}

#[test]
fn the_end_of_a_device_breaks_no_capture_and_gives_everything_back() {
    for seed in 0..4 {
        let machine = Machine::new(Options { seed, ..Options::default() });
        let count = Arc::new(Count::new());
        // SAFETY: the machine answers as the driver does, and the hook passes every call on.
        let (others, device) = unsafe {
            let counted = Hooked::new(machine.clone(), count.clone());
            (Device::from_driver(Arc::new(machine.clone()), 0), Device::from_driver(Arc::new(counted), 0))
        };
        let (others, device) = (others.unwrap(), device.unwrap());
        let line = CaptureStream::new(&others).unwrap();
        let (mut z, reader) = (others.zeros::<u32>(4).unwrap(), others.stream().unwrap());

        // One of everything, and all of it over.
        let (streams, k) = ([device.stream().unwrap(), device.stream().unwrap()], Kernels::load(&device).unwrap());
        let (mut y, mut host) = (device.zeros::<u64>(16).unwrap(), device.host(&[0u64; 16]).unwrap());
        let (mut words, mut state) = (device.zeros::<u32>(16).unwrap(), device.scalar(0u32).unwrap());
        streams[0].write(&mut y, &[1; 16]).unwrap();
        // By a kernel of the library's own: no driver fills with 8 bytes.
        streams[1].run(fill(&mut y, baked(2))).unwrap();
        let mut graph = device
            .record(|r: &mut Recorder<'_>| {
                let mut temp = r.alloc::<u32>(16)?;
                r.run(k.put(baked(3), &mut temp))?;
                r.run(dacapo::copy(&temp, &mut words))?;
                r.run(k.count(&mut state))?;
                r.run(dacapo::download(&y, &mut host))
            })
            .unwrap();
        let mut ticket = graph.submit(&streams[0]).unwrap();
        until("the ticket", || poll(&mut ticket, Waker::noop()).is_ready());
        graph.launch(&streams[1]).unwrap();
        assert_eq!(streams[0].read(&words).unwrap(), [3; 16]);
        device.synchronize().unwrap();

        // SAFETY: only ops of the library are captured.
        let mut guard = unsafe { capture::begin(&line, Mode::Global) }.unwrap();
        guard.run(fill(&mut z, baked(1))).unwrap();
        drop((graph, ticket, streams, y, host, words, state, k));
        let mut current = CUcontext::NULL;
        // SAFETY: no context is current after this; and `current` is valid for the write.
        unsafe {
            assert_eq!(machine.cuCtxSetCurrent(CUcontext::NULL), CUresult::CUDA_SUCCESS);
            drop(device);
            assert_eq!(machine.cuCtxGetCurrent(&mut current), CUresult::CUDA_SUCCESS);
        }
        assert_eq!(current, CUcontext::NULL, "another context is current than before");
        assert_eq!(guard.status().unwrap(), Status::Active);
        guard.finish().unwrap().launch(&reader).unwrap();
        assert_eq!(reader.read(&z).unwrap(), [1; 4]);
        expect_all_destroyed(&count);
        assert!(machine.findings().is_empty(), "{:?}", machine.findings());
    }
}

/// While it is shut, no event has passed: who waits for one is held up, who asks is told so.
#[derive(Default)]
struct Gate {
    shut: AtomicBool,
}

impl Hook for Gate {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        match call {
            Call::cuEventQuery if self.shut.load(Ordering::SeqCst) => return CUresult::CUDA_ERROR_NOT_READY,
            Call::cuEventSynchronize => until("the gate", || !self.shut.load(Ordering::SeqCst)),
            _ => {}
        }
        run()
    }
}

/// A waker that counts its calls, and may panic.
struct Bell {
    rung: AtomicU32,
    panics: bool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.fetch_add(1, Ordering::SeqCst);
        assert!(!self.panics, "on purpose");
    }
}

#[test]
fn a_waker_that_panics_takes_no_other_futures_with_it() {
    let (Bench { device, stream, .. }, gate) = hooked(Gate::default());
    let mut y = device.zeros::<u32>(64).unwrap();
    let mut graph = device.record(fill(&mut y, baked(1))).unwrap();
    for panics in [true, false, true, false] {
        let bell = Arc::new(Bell { rung: AtomicU32::new(0), panics });
        let mut ticket = graph.submit(&stream).unwrap();
        gate.shut.store(true, Ordering::SeqCst);
        assert!(poll(&mut ticket, &bell.clone().into()).is_pending());
        gate.shut.store(false, Ordering::SeqCst);
        until("the bell", || bell.rung.load(Ordering::SeqCst) == 1);
        assert!(matches!(poll(&mut ticket, Waker::noop()), Poll::Ready(Ok(()))));
    }
}

#[test]
fn refused_copies_give_their_staging_memory_back() {
    let bytes = vec![1u8; 8 << 20];
    for call in [Call::cuMemcpyHtoDAsync_v2, Call::cuMemcpyDtoHAsync_v2, Call::cuStreamSynchronize] {
        let (Bench { device, stream, .. }, refusing) = hooked(Refusing::new(call));
        let mut y = device.zeros::<u8>(bytes.len()).unwrap();
        // The most that one copy takes.
        stream.write(&mut y, &bytes).unwrap();
        stream.read(&y).unwrap();
        let before = device.counters().staging_bytes;
        for _ in 0..12 {
            refusing.arm(true);
            match call {
                Call::cuMemcpyHtoDAsync_v2 => stream.write(&mut y, &bytes).unwrap_err(),
                _ => stream.read(&y).unwrap_err(),
            };
            refusing.arm(false);
            // Busy until its stream is known to be idle: nobody could tell what of it was enqueued.
            stream.synchronize().unwrap();
        }
        assert_eq!(device.counters().staging_bytes, before, "{call:?}");
        assert_eq!(stream.read(&y).unwrap(), bytes);
    }
}

/// With as much of it in use as there may be, a write waits for the oldest.
#[test]
fn refused_waits_for_staging_memory_lose_none_of_it() {
    let bytes = vec![1u8; 8 << 20];
    let (Bench { device, stream, .. }, refusing) = hooked(Refusing::new(Call::cuEventSynchronize));
    let mut y = device.zeros::<u8>(bytes.len()).unwrap();
    refusing.arm(true);
    let refused = (0..40).filter(|_| stream.write(&mut y, &bytes).is_err()).count();
    assert!((20..40).contains(&refused), "{refused}");
    assert_eq!(device.counters().staging_bytes, 64 << 20);
    refusing.arm(false);
    stream.write(&mut y, &bytes).unwrap();
    assert_eq!(stream.read(&y).unwrap(), bytes);
    assert_eq!(device.counters().staging_bytes, 64 << 20);
}

/// A new buffer with elements goes through staging memory too.
#[test]
fn refused_buffers_give_their_staging_memory_back() {
    let bytes = vec![1u8; 8 << 20];
    let (Bench { device, .. }, refusing) = hooked(Refusing::new(Call::cuMemcpyHtoDAsync_v2));
    drop(device.buffer(&bytes).unwrap());
    let before = device.counters();
    for _ in 0..12 {
        refusing.arm(true);
        device.buffer(&bytes).unwrap_err();
        refusing.arm(false);
    }
    device.synchronize().unwrap();
    let after = device.counters();
    assert_eq!((after.staging_bytes, after.allocations), (before.staging_bytes, before.allocations));
}

#[test]
fn a_kept_value_that_holds_the_device_does_not_leak_it() {
    for eager in [false, true] {
        let (bench, count) = hooked(Count::new());
        let Bench { device, stream, k } = &bench;
        let mut y = device.zeros::<u32>(16).unwrap();
        let kept = (device.zeros::<u32>(4).unwrap(), stream.clone(), device.host(&[1u32]).unwrap());
        let op = |r: &mut Recorder<'_>| {
            r.keep(kept);
            r.run(k.put(baked(1), &mut y))
        };
        match eager {
            false => drop(device.record(op).unwrap().launch_sync(stream).unwrap()),
            true => {
                stream.run(op).unwrap();
                stream.synchronize().unwrap();
            }
        }
        drop((y, bench));
        assert_eq!(Arc::strong_count(&count), 1, "eager: {eager}: the driver is still held");
        expect_all_destroyed(&count);
    }
}

/// Leaves a device behind whose queue holds it.
fn leave(bench: Bench, kept: impl Send + Sync + 'static) {
    let Bench { device, stream, k } = bench;
    let mut v = device.scalar(0u32).unwrap();
    let op = |r: &mut Recorder<'_>| {
        r.keep((kept, device.clone()));
        r.run(k.bump(&mut v))
    };
    stream.run(op).unwrap();
    // Over, and the library has not heard of it.
    // SAFETY: the stream is alive.
    assert!(unsafe { device.machine().unwrap().cuStreamSynchronize(stream.raw().0) }.is_success());
}

/// A value whose drop leaves another device behind.
struct Leaves(Mutex<Option<Bench>>);

impl Drop for Leaves {
    fn drop(&mut self) {
        leave(self.0.lock().unwrap().take().unwrap(), ());
    }
}

#[test]
fn a_device_that_is_left_while_another_is_looked_after_is_looked_after_too() {
    let (one, two) = (Bench::seeded(0), Bench::seeded(1));
    let machines = [one.machine().clone(), two.machine().clone()];
    leave(one, Leaves(Mutex::new(Some(two))));
    for machine in machines {
        until("the device is given back", || machine.census().retains == 0);
        assert_eq!(machine.findings(), []);
    }
}

/// Neither the order in which handles are dropped nor who has the last one matters.
#[test]
fn modules_are_unloaded_at_the_end_of_a_device_whoever_held_them_last() {
    for held_by in ["kernels", "a raw kernel", "a graph in flight"] {
        let (Bench { device, stream, k }, count) = hooked(Count::new());
        let mut y = device.zeros::<u32>(16).unwrap();
        match held_by {
            "kernels" => {
                drop((y, stream, device));
                drop(k);
            }
            "a raw kernel" => {
                let raw = RawKernel::load(&device, include_str!("kernels.ptx"), "put").unwrap();
                drop((k, y, stream, device));
                drop(raw);
            }
            _ => {
                let mut graph = device.record(k.put(baked(1), &mut y)).unwrap();
                let ticket = graph.submit(&stream).unwrap();
                drop((k, graph));
                ticket.wait().unwrap();
                drop((y, stream, device));
            }
        }
        assert_eq!(Arc::strong_count(&count), 1, "{held_by}: the driver is still held");
        expect_all_destroyed(&count);
    }
}

#[test]
fn a_launch_whose_event_is_refused_is_made_and_has_its_ticket() {
    for still_refused in [true, false] {
        let (Bench { device, stream, k }, refusing) = hooked(Refusing::new(Call::cuEventRecord));
        let mut y = device.scalar(0u32).unwrap();
        let mut graph = device.record(k.bump(&mut y)).unwrap();
        refusing.arm(true);
        let ticket = graph.submit(&stream).unwrap();
        refusing.arm(still_refused);
        ticket.wait().unwrap();
        refusing.arm(false);
        assert_eq!((graph.num_replays(), y.get(&stream).unwrap()), (1, 1));
        // Awaited, it asks for the event again.
        refusing.arm(true);
        let mut ticket = graph.submit(&stream).unwrap();
        refusing.arm(false);
        until("the ticket", || matches!(poll(&mut ticket, Waker::noop()), Poll::Ready(Ok(()))));
        assert_eq!((graph.num_replays(), y.get(&stream).unwrap()), (2, 2));
    }
}

#[test]
fn memory_that_was_dropped_busy_is_waited_for_before_there_is_none_left() {
    for seed in 0..8 {
        let device = software(seed).capacity(8 << 20).open().unwrap();
        let stream = device.stream().unwrap();
        for round in 0..3 {
            let mut big = device.zeros::<u8>(5 << 20).unwrap_or_else(|error| panic!("seed {seed}, {round}: {error}"));
            // Many small ones in a row, in one call: far from over when the next allocation asks for room.
            let busy = |r: &mut Recorder<'_>| (0..400).try_for_each(|_| r.run(fill(&mut big[..64], baked(1))));
            device.record(busy).unwrap().launch(&stream).unwrap();
        }
        // What is not there is refused all the same.
        assert!(matches!(kind(device.zeros::<u8>(10 << 20)), ErrorKind::OutOfMemory { .. }));
        assert_eq!(device.findings(), [] as [String; 0]);
    }
}

/// A graph of stand-ins is launched on memory that has the address of what it was recorded or launched with, and which is
/// gone: its nodes are told, so that they name what is there now.
#[test]
fn a_stand_in_is_told_of_other_memory_at_the_same_address() {
    for bench in benches() {
        for len in 1..9 {
            let mut shape = bench.device.zeros::<u32>(len).unwrap();
            let mut graph = bench
                .device
                .graph()
                .record_into((), &mut shape[..], |r, (), y| r.run(bench.k.put(dacapo::baked(5), y)))
                .unwrap();
            drop(shape);
            for more in 1..5 {
                let mut y = bench.device.zeros::<u32>(len + more).unwrap();
                graph.launch(&bench.stream, (), &mut y[..len]).unwrap();
                assert_eq!(bench.stream.read(&y[..len]).unwrap(), vec![5; len]);
            }
        }
        bench.expect_no_findings();
    }
}

/// The same with a launch between that was refused: it has told its nodes nothing.
#[test]
fn a_refused_launch_tells_no_node_of_its_memory() {
    for bench in benches() {
        let count = dacapo::Slot::new(1u32);
        let mut other = bench.device.zeros::<u32>(9).unwrap();
        for len in 1..9 {
            let mut shape = bench.device.zeros::<u32>(len).unwrap();
            let mut graph = bench
                .device
                .graph()
                .record_into((), &mut shape[..], |r, (), y| r.run(bench.k.put_first(dacapo::baked(5), &count, y)))
                .unwrap();
            drop(shape);
            let mut y = bench.device.zeros::<u32>(len + 1).unwrap();
            count.set(99);
            let refused = kind(graph.launch(&bench.stream, (), &mut other[..len]));
            assert!(matches!(refused, dacapo::ErrorKind::Requires { .. }), "{refused:?}");
            count.set(1);
            graph.launch(&bench.stream, (), &mut y[..len]).unwrap();
            assert_eq!(bench.stream.read(&y[..1]).unwrap(), [5]);
        }
        bench.expect_no_findings();
    }
}

/// Refuses a call every second time while it is armed.
#[derive(Default)]
struct EverySecond {
    armed: AtomicBool,
    calls: AtomicU32,
}

impl Hook for EverySecond {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let is_it = call == Call::cuGraphExecKernelNodeSetParams_v2 && self.armed.load(Ordering::SeqCst);
        match is_it && self.calls.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
            true => CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            false => run(),
        }
    }
}

/// A launch that was refused half-way has told its first node of memory that is gone by now, and whose address other
/// memory has: the node is told of that one.
#[test]
fn a_node_that_was_told_of_memory_by_a_refused_launch_is_told_again() {
    let (bench, refusing) = hooked(EverySecond::default());
    let Bench { device, stream, k } = &bench;
    for len in 1..9 {
        let mut shape = device.zeros::<u32>(len).unwrap();
        let body = |r: &mut Recorder<'_>, y: &mut dacapo::Slice<u32>| {
            r.run(k.put(baked(5), &mut y[..]))?;
            r.run(k.bump(y.at_mut(0)))
        };
        let mut graph = device.graph().record_into((), &mut shape[..], |r, (), y| body(r, y)).unwrap();
        // What the last launch was given lives on, so that the refused one has another address, which the next one gets.
        let mut last = shape;
        for more in 1..5 {
            let mut gone = device.zeros::<u32>(len + more).unwrap();
            refusing.armed.store(true, Ordering::SeqCst);
            let refused = kind(graph.launch(stream, (), &mut gone[..len]));
            refusing.armed.store(false, Ordering::SeqCst);
            assert!(matches!(refused, ErrorKind::Unpatched { .. }), "{refused:?}");
            drop(gone);
            device.synchronize().unwrap();
            let mut y = device.zeros::<u32>(len + more + 1).unwrap();
            graph.launch(stream, (), &mut y[..len]).unwrap();
            let expected: Vec<u32> = [6].into_iter().chain(std::iter::repeat_n(5, len - 1)).collect();
            assert_eq!(stream.read(&y[..len]).unwrap(), expected);
            last = y;
        }
        drop(last);
    }
    bench.expect_no_findings();
}
