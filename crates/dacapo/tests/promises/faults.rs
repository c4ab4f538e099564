//! Every driver call refused once: the error is returned, nothing panics or hangs, and all else works after it.
//!
//! The promise: no stream is left capturing; after any error but one that breaks the context, the device, its streams
//! and all other graphs work, and nothing leaks.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use dacapo::raw::foreign;
use dacapo::{ErrorKind, Recorder, Result, Slot, baked, copy, download, fill, upload};
use dacapo_driver::{Argument, CUresult, Call, Fault, Hook};

use crate::kit::{Bench, hooked, kind, set_all};

/// Refuses the call that comes after `left` others, once.
struct Refuse {
    left: AtomicI64,
    code: CUresult,
    struck: AtomicU64,
}

impl Refuse {
    fn new(code: CUresult) -> Refuse {
        Refuse { left: AtomicI64::new(-1), code, struck: AtomicU64::new(u64::MAX) }
    }

    fn struck(&self) -> Option<Call> {
        Call::ALL.get(self.struck.load(Ordering::Relaxed) as usize).copied()
    }
}

impl Hook for Refuse {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        // That a thread's capture mode can be exchanged is not in doubt: its page documents no error for a mode that exists.
        if call == Call::cuThreadExchangeStreamCaptureMode || self.left.load(Ordering::Relaxed) < 0 {
            return run();
        }
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.struck.store(call as u64, Ordering::Relaxed);
            return self.code;
        }
        run()
    }
}

/// A bit of everything; what it gives is right if it gives it.
fn program(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k } = bench;
    let other = device.stream()?;
    let value = Slot::new(1u32);
    let x = device.buffer(&[3u32, 4, 5, 6])?;
    let mut y = device.zeros::<u32>(4)?;
    let mut host = device.host(&[0u32; 4])?;
    let mut scalar = device.scalar(0u32)?;
    let set = set_all(bench.machine().clone(), 8);
    let mut graph = device.graph().label("all").record(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u32>(4)?;
        r.run(k.put(&value, &mut t))?;
        // SAFETY: it sets what is declared as written, and nothing else.
        r.run(unsafe { foreign((), &mut y[..2], set) })?;
        r.run(copy(&t[2..], &mut y[2..]))?;
        r.run(download(&y, &mut host))?;
        r.run(k.bump(&mut scalar))?;
        let mut out = r.output::<u32>(4)?;
        r.run(upload(&host, &mut out))?;
        Ok(out)
    })?;
    graph.launch(stream)?;
    value.set(2);
    graph.launch(&other)?;
    value.set(9);
    let ticket = graph.submit(stream)?;
    ticket.wait()?;
    assert_eq!(stream.read(graph.outputs())?, [8, 8, 9, 9]);
    assert_eq!(scalar.get(&other)?, 3);

    let mut into = device.graph().record_into(&x[..], &mut y[..], |r, i, o| r.run(copy(i, o)))?;
    into.launch(&other, &x, &mut y)?;
    let mut z = device.zeros::<f64>(3)?;
    stream.run(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f64>(3)?;
        r.run(fill(&mut t, baked(1.5)))?;
        r.run(copy(&t, &mut z))
    })?;
    stream.write(&mut y[..1], &[7])?;
    let mut warm = device.graph().warmup(2).record(|r| r.run(k.bump(y.at_mut(1))))?;
    warm.launch_sync(stream)?;
    assert_eq!((stream.read(&y)?, stream.read(&z)?), (vec![7, 5, 5, 6], vec![1.5; 3]));
    host.set(&[1; 4])?;
    assert_eq!(host.to_vec()?, [1; 4]);
    drop(graph);
    device.synchronize()
}

fn every_call_refused(code: CUresult) {
    let mut refused_calls = Vec::new();
    for nth in 0.. {
        let (bench, refuse) = hooked(Refuse::new(code));
        let Bench { device, stream, k } = &bench;
        let mut survivor = device.scalar(0u32).unwrap();
        let mut older = device.record(k.bump(&mut survivor)).unwrap();
        device.synchronize().unwrap();
        let before = device.counters();

        refuse.left.store(nth, Ordering::Relaxed);
        let outcome = program(&bench);
        refuse.left.store(-1, Ordering::Relaxed);
        let Some(call) = refuse.struck() else {
            outcome.unwrap();
            assert!(nth > 100, "only {nth} calls: the program does not do what it should");
            break;
        };
        if let Err(error) = &outcome {
            let said = format!("{error:?}");
            assert!(said.contains(call.symbol()) || said.contains("memory"), "call {nth}, {call:?}: {said}");
        }
        refused_calls.push(call);

        let context = format!("after call {nth}, {call:?}, was refused with {code:?} ({outcome:?})");
        older.launch(stream).unwrap_or_else(|error| panic!("{context}: {error:?}"));
        assert_eq!(survivor.get(stream).unwrap(), 1, "{context}");
        bench.expect_usable();
        program(&bench).unwrap_or_else(|error| panic!("{context}: again: {error:?}"));
        device.synchronize().unwrap();
        let after = device.counters();
        assert_eq!(after.waiting, before.waiting, "{context}");
        assert_eq!(
            (after.allocations, after.graphs, after.streams, after.modules - i64::from(after.modules > 1)),
            (before.allocations, before.graphs, before.streams, before.modules),
            "{context}"
        );
        let found: Vec<_> = device.findings();
        assert!(found.is_empty(), "{context}: {found:?}");
    }
    refused_calls.sort_unstable_by_key(|call| *call as usize);
    refused_calls.dedup();
    assert!(refused_calls.len() > 30, "{refused_calls:?}");
}

#[test]
fn every_call_may_be_refused_for_want_of_memory() {
    every_call_refused(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
}

#[test]
fn every_call_may_be_refused_for_no_reason() {
    every_call_refused(CUresult::CUDA_ERROR_NOT_PERMITTED);
}

/// Refuses calls of one kind as long as it is told to.
struct RefuseCall {
    call: Call,
    times: AtomicI64,
}

impl Hook for RefuseCall {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let refused = call == self.call && self.times.fetch_sub(1, Ordering::Relaxed) > 0;
        if refused { CUresult::CUDA_ERROR_NOT_PERMITTED } else { run() }
    }
}

#[test]
fn a_thread_that_cannot_be_relaxed_is_told_and_keeps_its_mode() {
    let call = Call::cuThreadExchangeStreamCaptureMode;
    let (bench, refuse) = hooked(RefuseCall { call, times: AtomicI64::new(0) });
    refuse.times.store(1, Ordering::Relaxed);
    let error = bench.device.zeros::<u32>(4).unwrap_err();
    assert!(format!("{error:?}").contains(call.symbol()), "{error:?}");
    let mut mode = dacapo_driver::types::CU_STREAM_CAPTURE_MODE_GLOBAL;
    // SAFETY: `mode` is valid for reading and writing.
    let _ = unsafe { dacapo_driver::Driver::cuThreadExchangeStreamCaptureMode(bench.machine(), &mut mode) };
    assert_eq!(mode, dacapo_driver::types::CU_STREAM_CAPTURE_MODE_GLOBAL, "as it was");
    bench.expect_usable();
}

#[test]
fn a_refused_release_is_made_again_by_the_next_who_empties_the_queue() {
    for call in [Call::cuMemFreeAsync, Call::cuGraphExecDestroy, Call::cuGraphDestroy, Call::cuStreamDestroy_v2] {
        let (bench, refuse) = hooked(RefuseCall { call, times: AtomicI64::new(0) });
        let Bench { device, stream, k } = &bench;
        device.synchronize().unwrap();
        let before = bench.machine().census();
        refuse.times.store(1, Ordering::Relaxed);
        let side = device.stream().unwrap();
        let mut y = device.zeros::<u32>(4).unwrap();
        let mut graph = device.record(k.put(baked(3), &mut y)).unwrap();
        graph.launch(&side).unwrap();
        graph.launch(stream).unwrap();
        drop((graph, y, side));
        // Who empties the queue hears of it, once.
        let told = (0..4).filter(|_| device.synchronize().is_err()).count();
        assert!(refuse.times.load(Ordering::Relaxed) <= 0, "{call:?} was not made");
        assert!(told <= 1, "{call:?}: told {told} times");
        let after = bench.machine().census();
        assert_eq!(
            (after.allocations, after.streams, after.graphs, after.executables),
            (before.allocations, before.streams, before.graphs, before.executables),
            "{call:?}: {after}, before {before}"
        );
        bench.expect_no_findings();
    }
}

/// Refuses these calls, each as often as is said.
struct RefuseThese(std::sync::Mutex<Vec<(Call, u32)>>);

impl Hook for RefuseThese {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let mut list = self.0.lock().unwrap();
        match list.iter_mut().find(|(refused, left)| *refused == call && *left > 0) {
            Some((_, left)) => {
                *left -= 1;
                CUresult::CUDA_ERROR_INVALID_VALUE
            }
            None => {
                drop(list);
                run()
            }
        }
    }
}

/// Half of the nodes are set, then the driver refuses one, and refuses to build another graph: the old recording stays, and
/// what was set is set back by the launch that can.
#[test]
fn a_rerecording_that_fails_half_way_leaves_the_old_one() {
    let (bench, refuse) = hooked(RefuseThese(std::sync::Mutex::default()));
    let Bench { device, stream, k } = &bench;
    let (mut y, mut z) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
    let mut record = |graph: &mut dacapo::Graph<()>, value: u32| {
        graph.rerecord(|r: &mut Recorder<'_>| {
            r.run(k.put(baked(value), &mut y))?;
            r.run(fill(&mut z, baked(value)))
        })
    };
    let mut graph = dacapo::Graph::empty(device, ());
    record(&mut graph, 1).unwrap();
    graph.launch_sync(stream).unwrap();

    // Only the fill is refused: another graph is built, and says why.
    refuse.0.lock().unwrap().push((Call::cuGraphExecMemsetNodeSetParams, 1));
    let done = record(&mut graph, 2).unwrap();
    assert!(!done.is_updated());
    assert!(done.to_string().contains("the driver refused to set it"), "{done}");
    graph.launch_sync(stream).unwrap();

    // Neither: the error, and the second recording is still there.
    *refuse.0.lock().unwrap() = vec![(Call::cuGraphExecMemsetNodeSetParams, 1), (Call::cuGraphInstantiateWithFlags, 1)];
    record(&mut graph, 3).unwrap_err();
    // As long as the kernel cannot be set back, nothing is launched.
    refuse.0.lock().unwrap().push((Call::cuGraphExecKernelNodeSetParams_v2, 1));
    let error = graph.launch(stream).unwrap_err();
    assert!(matches!(error.kind(), dacapo::ErrorKind::Unpatched { .. }), "{error}");
    graph.launch_sync(stream).unwrap();
    drop(graph);
    assert_eq!((stream.read(&y).unwrap(), stream.read(&z).unwrap()), (vec![2; 4], vec![2; 4]));
}

/// Where there is no memory for an executable, the error says how much was wanted, of a graph of no ops too.
#[test]
fn no_memory_for_an_empty_graph_is_told_with_a_number() {
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    let (bench, fault) = hooked(Fault::new().fail(Call::cuGraphInstantiateWithFlags, 1, code));
    let refused = kind(bench.device.record(|_: &mut Recorder<'_>| Ok(())));
    assert!(matches!(refused, ErrorKind::OutOfMemory { bytes: 1.., .. }), "{refused:?}");
    assert!(fault.all_fired());
    bench.expect_usable();
}
