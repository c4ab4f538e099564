//! Every item of the founding systems, one test each: docs/founding.md names them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dacapo::capture::{self, CaptureStream, Mode, Status};
use dacapo::graph::Pool;
use dacapo::op::from_fn;
use dacapo::port::{Forward, graphed};
use dacapo::random::Generator;
use dacapo::{
    Buffer, Device, Error, ErrorKind, Graph, Op, Recorder, Result, Scalar, Slot, Software, baked, copy, fill,
};
use dacapo_driver::{CUresult, Call, Count, Driver, Fault, Hooked, Trace};

dacapo::kernels! {
    /// What the tests launch.
    unsafe struct Kernels(include_str!("saxpy.ptx")) {
        fn saxpy(n: i32 = y.len(), a: f32, x: &[f32], y: &mut [f32]) {
            entry: "saxpy_f32";
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

fn counted() -> Result<(Device, Arc<Count>)> {
    let count = Arc::new(Count::new());
    let hook = count.clone();
    // SAFETY: counting changes no answer.
    let device = unsafe { Software::new().open_hooked(move |machine| Arc::new(Hooked::new(machine, hook))) }?;
    Ok((device, count))
}

fn no_findings(device: &Device) {
    assert_eq!(device.findings(), [] as [String; 0]);
}

// ---- F

#[test]
fn f1_capture_modes() -> Result<()> {
    let device = Device::software()?;
    let (stream, line) = (device.stream()?, CaptureStream::new(&device)?);
    assert_eq!(Mode::default(), Mode::ThreadLocal);
    for (value, mode) in [(1, Mode::Global), (2, Mode::ThreadLocal), (3, Mode::Relaxed)] {
        let mut y = device.zeros::<u32>(3)?;
        // SAFETY: only ops of the library are captured.
        let mut graph = unsafe { capture::captured(&line, mode, |capture| capture.run(fill(&mut y, baked(value)))) }?;
        graph.launch(&stream)?;
        assert_eq!(stream.read(&y)?, [value; 3]);
    }
    no_findings(&device);
    Ok(())
}

#[test]
fn f2_capture_status() -> Result<()> {
    let device = Device::software()?;
    let (other, line) = (device.stream()?, CaptureStream::new(&device)?);
    assert_eq!(line.status()?, Status::None);
    // SAFETY: nothing is captured.
    let guard = unsafe { capture::begin(&line, Mode::Global) }?;
    assert!(line.status()?.is_capturing() && !line.status()?.is_invalidated());
    // From any thread.
    std::thread::scope(|scope| scope.spawn(|| assert_eq!(line.status().unwrap(), Status::Active)).join().unwrap());
    let machine = device.machine().expect("a software device");
    // SAFETY: the stream is alive; the call is forbidden beside a capture, which is what it is for here.
    let _ = unsafe { machine.cuStreamSynchronize(other.raw().0) };
    assert!(guard.status()?.is_invalidated());
    drop(guard);
    assert_eq!(line.status()?, Status::None);
    Ok(())
}

#[test]
fn f3_device_scalar() -> Result<()> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let mut position: Scalar<u32> = device.scalar(5)?;
    let mut seen = device.zeros::<u32>(1)?;
    let mut graph = device.record(copy(position.as_slice(), &mut seen))?;
    graph.launch(&stream)?;
    position.set(&stream, 6)?; // in stream order: the launch before saw 5
    assert_eq!(stream.read(&seen)?, [5]);
    graph.launch(&stream)?;
    assert_eq!((stream.read(&seen)?[0], position.get(&stream)?), (6, 6));
    no_findings(&device);
    Ok(())
}

#[test]
fn f4_a_launch_is_one_submission() -> Result<()> {
    let (device, count) = counted()?;
    let stream = device.stream()?;
    let k = Kernels::load(&device)?;
    let (x, mut y) = (device.buffer(&[1.0f32; 8])?, device.zeros::<f32>(8)?);
    let mut graph = device.record(|r| (0..20).try_for_each(|_| r.run(k.saxpy(baked(1.0), &x, &mut y))))?;
    graph.launch_sync(&stream)?;
    let before: u64 = count.snapshot().iter().map(|of| of.calls).sum();
    graph.launch(&stream)?;
    let after: u64 = count.snapshot().iter().map(|of| of.calls).sum();
    assert_eq!((count.of(Call::cuGraphLaunch).calls, after - before), (2, 1));
    assert_eq!(stream.read(&y)?, [40.0; 8]);
    Ok(())
}

#[test]
fn f5_upload() -> Result<()> {
    let (device, count) = counted()?;
    let (stream, mut y) = (device.stream()?, device.zeros::<u32>(2)?);
    let mut graph = device.record(fill(&mut y, baked(4)))?;
    assert!(!graph.is_preloaded());
    graph.preload(&stream)?;
    graph.preload(&stream)?; // does nothing
    assert!(graph.is_preloaded());
    assert_eq!(count.of(Call::cuGraphUpload).calls, 1);
    assert_eq!(stream.read(&y)?, [0, 0]); // uploading runs nothing
    graph.launch(&stream)?;
    assert_eq!(stream.read(&y)?, [4, 4]);
    let graph = device.graph().preloaded().record(fill(&mut y, baked(5)))?;
    assert!(graph.is_preloaded());
    Ok(())
}

#[test]
fn f6_replays_are_counted_when_they_succeed() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, WindowKernels::load(&device)?);
    let (offset, mut y) = (Slot::new(0u32), device.zeros::<f32>(4)?);
    let mut graph = device.record(k.scale(&offset, baked(1.0), &mut y))?;
    graph.launch(&stream)?;
    offset.set(9);
    assert!(matches!(graph.launch(&stream).unwrap_err().kind(), ErrorKind::Requires { .. }));
    assert_eq!(graph.num_replays(), 1);
    offset.set(1);
    graph.launch(&stream)?;
    assert_eq!(graph.num_replays(), 2);
    Ok(())
}

dacapo::kernels! {
    /// The same kernel with a condition on a slot.
    unsafe struct WindowKernels(WINDOW) {
        fn scale(offset: u32, a: f32, y: &mut [f32]) {
            requires: within(offset, 1, y.len());
            grid: linear(1, 32);
        }
    }
}

/// y[offset] += a, by one thread.
const WINDOW: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u32 offset, .param .f32 a, .param .u64 y)
{
    .reg .pred %p; .reg .b32 %r<3>; .reg .f32 %f<3>; .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p, %r1, 0;
    @%p bra DONE;
    ld.param.u32 %r2, [offset];
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [y];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.f32 %f2, [%rd2];
    add.f32 %f2, %f2, %f1;
    st.global.f32 [%rd2], %f2;
DONE:
    ret;
}";

#[test]
fn f7_what_a_graph_says_of_its_pool() -> Result<()> {
    let device = Device::software()?;
    let (pool, mut y) = (device.pool(), device.zeros::<u32>(2)?);
    pool.keep(vec![1, 2, 3])?;
    let alone = device.record(fill(&mut y, baked(1)))?;
    assert!(alone.pool().is_none());
    let graph = device.graph().pool(&pool).record(fill(&mut y, baked(1)))?;
    assert_eq!(graph.pool(), Some(&pool));
    assert_eq!(graph.pool().map(Pool::len), Some(1));
    assert_eq!(pool.graphs(), 1);
    Ok(())
}

#[test]
fn f8_a_capture_without_a_graph_is_an_error() -> Result<()> {
    let device = Device::software()?;
    let line = CaptureStream::new(&device)?;
    // SAFETY: nothing is captured.
    let error = unsafe { capture::begin(&line, Mode::ThreadLocal) }?.finish().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NothingRecorded));
    Ok(())
}

#[test]
fn f9_a_guard_always_ends_its_capture() -> Result<()> {
    let device = Device::software()?;
    let (stream, line, pool) = (device.stream()?, CaptureStream::new(&device)?, device.pool());
    let mut y = device.zeros::<u32>(2)?;
    // SAFETY: only ops of the library are captured.
    unsafe {
        drop(capture::begin(&line, Mode::Relaxed)?);
        drop(capture::begin_with_pool(&line, Mode::Global, &pool)?);
        let mut guard = capture::begin(&line, Mode::default())?;
        assert_eq!(guard.status()?, Status::Active);
        guard.run(fill(&mut y, baked(8)))?;
        guard.finish()?.launch(&stream)?;
    }
    assert_eq!(line.status()?, Status::None);
    assert_eq!(stream.read(&y)?, [8, 8]);
    Ok(())
}

#[test]
fn f10_a_graph_holds_its_pool() -> Result<()> {
    let device = Device::software()?;
    let (stream, pool, value) = (device.stream()?, device.pool(), Arc::new(()));
    pool.keep(value.clone())?;
    let mut y = device.zeros::<u32>(2)?;
    let first = device.graph().pool(&pool).record(fill(&mut y, baked(1)))?;
    let mut second = device.graph().pool(&pool).record(fill(&mut y, baked(2)))?;
    drop((pool, first));
    device.synchronize()?;
    assert_eq!(Arc::strong_count(&value), 2);
    second.launch(&stream)?;
    drop(second);
    device.synchronize()?;
    device.synchronize()?;
    assert_eq!(Arc::strong_count(&value), 1);
    Ok(())
}

#[test]
fn f11_a_sealed_pool_takes_no_graph_and_no_value() -> Result<()> {
    let device = Device::software()?;
    let (stream, pool) = (device.stream()?, device.pool());
    let mut y = device.zeros::<u32>(2)?;
    let mut inside = device.graph().pool(&pool).record(fill(&mut y, baked(3)))?;
    pool.seal();
    assert!(pool.is_sealed());
    assert!(matches!(pool.keep(1).unwrap_err().kind(), ErrorKind::PoolSealed));
    let refused = device.graph().pool(&pool).record(fill(&mut y, baked(1)));
    assert!(matches!(refused.unwrap_err().kind(), ErrorKind::PoolSealed));
    inside.launch(&stream)?; // what is in it goes on
    assert_eq!(stream.read(&y)?, [3, 3]);
    pool.unseal();
    pool.keep(1)?;
    device.graph().pool(&pool).record(fill(&mut y, baked(1)))?;
    Ok(())
}

#[test]
fn f12_any_value_is_kept_and_released_in_order() -> Result<()> {
    struct Noisy(usize, Arc<Mutex<Vec<usize>>>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let device = Device::software()?;
    let (pool, dropped) = (device.pool(), Arc::new(Mutex::new(Vec::new())));
    for number in 0..4 {
        assert_eq!(pool.keep(Noisy(number, dropped.clone()))?, number);
    }
    assert_eq!(pool.keep(String::from("anything"))?, 4);
    assert_eq!(pool.len(), 5);
    let mut y = device.zeros::<u32>(2)?;
    let graph = device.graph().pool(&pool).record(fill(&mut y, baked(1)))?;
    assert!(matches!(pool.clear().unwrap_err().kind(), ErrorKind::PoolInUse { graphs: 1 }));
    assert_eq!(*dropped.lock().unwrap(), [] as [usize; 0]);
    drop(graph);
    pool.clear()?;
    device.synchronize()?;
    assert_eq!(*dropped.lock().unwrap(), [0, 1, 2, 3]);
    assert!(pool.is_empty());
    Ok(())
}

#[test]
fn f13_pools_are_found_by_handle_from_any_thread() -> Result<()> {
    let device = Device::software()?;
    let pool = device.pool();
    let (first, second) = (pool.handle(), pool.handle());
    assert_ne!(first, second);
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(Pool::find(first).as_ref(), Some(&pool))).join().unwrap();
    });
    let mut y = device.zeros::<u32>(2)?;
    let graph = device.graph().pool(&pool).record(fill(&mut y, baked(1)))?;
    assert!(Pool::release(first));
    assert!(!Pool::release(first)); // again: nothing happens
    assert_eq!(Pool::find(first), None);
    assert_eq!(Pool::find(second).as_ref(), graph.pool());
    Pool::release(second);
    assert!(graph.pool().is_some()); // the graph keeps its own hold
    Ok(())
}

#[test]
fn f14_what_a_closure_does_is_captured() -> Result<()> {
    let device = Device::software()?;
    let (stream, line) = (device.stream()?, CaptureStream::new(&device)?);
    let mut y = device.zeros::<u32>(2)?;
    // SAFETY: only ops of the library are captured.
    let mut graph = unsafe {
        capture::captured(&line, Mode::Relaxed, |capture| {
            capture.run(fill(&mut y, baked(6)))?;
            Ok("made")
        })
    }?;
    assert_eq!(*graph.launch_sync(&stream)?, "made");
    assert_eq!(stream.read(&y)?, [6, 6]);
    // SAFETY: as above.
    let failed = unsafe {
        capture::captured(&line, Mode::Relaxed, |capture| {
            capture.run(fill(&mut y, baked(7)))?;
            Err::<(), _>(Error::msg("changed my mind"))
        })
    };
    assert_eq!(failed.unwrap_err().to_string(), "changed my mind");
    assert_eq!((line.status()?, stream.read(&y)?), (Status::None, vec![6, 6]));
    Ok(())
}

#[test]
fn f15_without_a_gpu_the_same_calls_run() -> Result<()> {
    let device = Software::new().seed(3).capacity(1 << 30).open()?;
    assert!(device.is_software());
    assert_eq!(device.properties().memory_bytes, 1 << 30);
    let (stream, mut y) = (device.stream()?, device.zeros::<u32>(2)?);
    device.record(fill(&mut y, baked(1)))?.launch_sync(&stream)?;
    assert_eq!(stream.read(&y)?, [1, 1]);
    Ok(())
}

#[test]
fn f16_failures_are_variants() -> Result<()> {
    let device = Device::software()?;
    let other = Device::software()?;
    let (stream, x) = (device.stream()?, device.buffer(&[1.0f32, 2.0])?);
    let (mut long, mut far) = (device.zeros::<f32>(3)?, other.zeros::<f32>(2)?);
    let kind = |error: Error| error.kind().clone();
    assert!(matches!(kind(stream.run(copy(&x, &mut long)).unwrap_err()), ErrorKind::Length { left: 2, right: 3, .. }));
    assert!(matches!(kind(stream.run(copy(&x, &mut far)).unwrap_err()), ErrorKind::WrongDevice { .. }));
    let wanted = (1usize << 40) - 256;
    let ErrorKind::OutOfMemory { bytes, free, .. } = kind(device.zeros::<u8>(wanted).unwrap_err()) else { panic!() };
    assert!(bytes == wanted && free > 0);
    assert!(
        matches!(kind(WindowKernels::load(&device).and(Kernels2::load(&device).map(drop)).unwrap_err()), ErrorKind::NoSuchKernel { name, .. } if name == "absent")
    );
    Ok(())
}

dacapo::kernels! {
    /// Names what the module does not have.
    unsafe struct Kernels2(WINDOW) {
        fn absent(y: &mut [f32]) { grid: linear(1, 32); }
    }
}

#[test]
fn f17_captured_graphs_free_their_own_allocations_on_launch() -> Result<()> {
    #[derive(Clone, Default)]
    struct Text(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Text {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let text = Text::default();
    let trace = Trace::to(text.clone());
    // SAFETY: tracing changes no answer.
    let device = unsafe { Software::new().open_hooked(move |machine| Arc::new(Hooked::new(machine, trace))) }?;
    let (line, mut y) = (CaptureStream::new(&device)?, device.zeros::<u32>(2)?);
    // SAFETY: only ops of the library are captured.
    let graph = unsafe { capture::captured(&line, Mode::Relaxed, |capture| capture.run(fill(&mut y, baked(1)))) }?;
    let calls = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let instantiate = calls.lines().find(|line| line.contains("cuGraphInstantiateWithFlags")).expect("instantiated");
    assert!(instantiate.contains("\"flags\":1,") || instantiate.contains("\"flags\":1}"), "{instantiate}");
    drop(graph);
    Ok(())
}

#[test]
fn f18_modes_status_pools_and_handles_need_no_gpu() -> Result<()> {
    // All tests of this file run on this device.
    assert!(Device::software()?.is_software());
    Ok(())
}

#[test]
fn f19_nothing_to_switch_off_before_and_on_after() -> Result<()> {
    let device = Device::software()?;
    let (first, second) = (device.stream()?, device.stream()?);
    let k = Kernels::load(&device)?;
    let (mut x, mut y) = (device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
    first.write(&mut x, &[1.0; 4])?; // touched on another stream before
    let mut graph = device.record(k.saxpy(baked(2.0), &x, &mut y))?;
    graph.launch(&second)?;
    first.write(&mut x, &[10.0; 4])?; // and between
    graph.launch(&second)?;
    assert_eq!(first.read(&y)?, [22.0; 4]); // and after
    no_findings(&device);
    Ok(())
}

// ---- L

#[test]
fn l1_graphs_of_a_pool_found_by_its_id_share_one_memory() -> Result<()> {
    let device = Device::software()?;
    let (stream, other, k) = (device.stream()?, device.stream()?, Kernels::load(&device)?);
    let id = device.pool().handle();
    // Whoever has the number gets the same pool, from any thread; each graph is larger than the one before.
    let mut graphs = Vec::new();
    for rows in [1000, 400_000, 1_200_000] {
        let pool = std::thread::spawn(move || Pool::find(id)).join().expect("no panic").expect("it was not released");
        graphs.push(device.graph().pool(&pool).record(|r: &mut Recorder<'_>| {
            let (mut hidden, mut out) = (r.alloc(rows)?, r.output(8)?);
            r.run(fill(&mut hidden[rows - 8..], baked(rows as f32)))?;
            r.run(k.saxpy(baked(1.0), &hidden[rows - 8..], &mut out))?;
            Ok(out)
        })?);
    }
    let pool = Pool::find(id).expect("it was not released");
    let largest = graphs[2].memory().temps();
    assert_eq!((largest, pool.graphs()), (4_800_000, 3));
    assert!(pool.arena_bytes() >= largest && pool.arena_bytes() < largest + (2 << 20), "{pool:?}");
    for replay in 1..=3 {
        for (graph, stream) in graphs.iter_mut().zip([&stream, &other, &stream]) {
            graph.launch(stream)?;
        }
        for (graph, rows) in graphs.iter().zip([1000, 400_000, 1_200_000]) {
            assert_eq!(stream.read(graph.outputs())?, [(replay * rows) as f32; 8], "outputs are nobody else's");
        }
    }
    assert!(Pool::release(id) && Pool::find(id).is_none());
    no_findings(&device);
    Ok(())
}

#[test]
fn l2_empty_then_recorded_then_reset_then_recorded_again() -> Result<()> {
    let device = Device::software()?;
    let (stream, mut y) = (device.stream()?, device.zeros::<u32>(2)?);
    let mut graph = Graph::empty(&device, ());
    assert!(matches!(graph.launch(&stream).unwrap_err().kind(), ErrorKind::Reset));
    for value in [1, 2] {
        graph.rerecord(fill(&mut y, baked(value)))?;
        graph.launch(&stream)?;
        assert_eq!(stream.read(&y)?, [value; 2]);
        let failed = graph.rerecord(|_: &mut Recorder<'_>| Err::<(), _>(Error::msg("no")));
        assert!(failed.is_err());
        graph.launch(&stream)?; // as it was
        graph.reset();
        assert!(matches!(graph.launch(&stream).unwrap_err().kind(), ErrorKind::Reset));
    }
    Ok(())
}

#[test]
fn l3_warm_up_runs_and_leaves_no_trace() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let (x, mut y, mut runs) = (device.buffer(&[1.0f32; 3])?, device.zeros::<f32>(3)?, 0);
    let mut graph = device.graph().warmup(3).record(|r| {
        runs += 1;
        r.run(k.saxpy(baked(1.0), &x, &mut y))
    })?;
    assert_eq!((runs, stream.read(&y)?), (4, vec![0.0; 3]));
    graph.launch(&stream)?;
    assert_eq!(stream.read(&y)?, [1.0; 3]);
    no_findings(&device);
    Ok(())
}

#[test]
fn l4_a_recording_never_touches_the_callers_stream() -> Result<()> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let mut y = device.zeros::<u32>(2)?;
    // SAFETY: nothing is enqueued.
    let failed = device.record(unsafe { dacapo::raw::foreign((), &mut y[..], |_, (), _| Err(Error::msg("no"))) });
    assert_eq!(failed.unwrap_err().to_string().split(": ").last(), Some("no"));
    let mut status = dacapo_driver::types::CU_STREAM_CAPTURE_STATUS_ACTIVE;
    let machine = device.machine().expect("a software device");
    // SAFETY: `status` is valid for the write, the stream is alive.
    assert!(unsafe { machine.cuStreamIsCapturing(stream.raw().0, &mut status) }.is_success());
    assert_eq!(status, dacapo_driver::types::CU_STREAM_CAPTURE_STATUS_NONE);
    stream.write(&mut y, &[5, 5])?;
    assert_eq!(stream.read(&y)?, [5, 5]);
    Ok(())
}

#[test]
fn l5_replay_is_one_call() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let (x, mut y) = (device.buffer(&[1.0f32; 3])?, device.zeros::<f32>(3)?);
    let mut graph = device.record(k.saxpy(baked(1.0), &x, &mut y))?;
    for _ in 0..10 {
        graph.launch(&stream)?;
    }
    assert_eq!(stream.read(&y)?, [10.0; 3]);
    Ok(())
}

#[test]
fn l6_limits_have_clear_errors() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let (x, mut y, mut z) = (device.buffer(&[1.0f32; 3])?, device.zeros::<f32>(4)?, device.zeros::<f32>(3)?);
    // Another shape.
    let error = device.record(k.saxpy(baked(1.0), &x, &mut y)).unwrap_err();
    assert!(
        error.to_string().contains("requires `x.len() == y.len()` (n = 4, a = 1.0, x.len() = 3, y.len() = 4)"),
        "{error}"
    );
    // Synchronisation, and host-side control flow that would look at a result.
    for error in [
        device.record(|_| stream.synchronize()).unwrap_err(),
        device.record(|_| device.synchronize()).unwrap_err(),
        device
            .record(|r| {
                r.run(k.saxpy(baked(1.0), &x, &mut z))?;
                if stream.read(&z)?[0] > 0.0 { Ok(()) } else { Err(Error::msg("unreached")) }
            })
            .unwrap_err(),
    ] {
        assert!(matches!(error.kind(), ErrorKind::EagerInRecording { .. }), "{error}");
        assert!(error.help().is_some_and(|help| help.contains("r.run")));
        assert!(error.location().is_some_and(|at| at.file().ends_with("founding.rs")), "{error:?}");
    }
    Ok(())
}

#[test]
fn l8_every_replay_draws_what_the_eager_run_would_draw_next() -> Result<()> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let (mut eager, mut inside) = (Generator::new(&device, 7)?, Generator::new(&device, 7)?);
    let (mut a, mut b) = (device.zeros::<f32>(13)?, device.zeros::<f32>(13)?);
    let mut graph = device.record(inside.normal(&mut b))?;
    let mut seen = Vec::new();
    for _ in 0..5 {
        stream.run(eager.normal(&mut a))?;
        graph.launch(&stream)?;
        let drawn = stream.read(&b)?;
        assert_eq!(
            stream.read(&a)?.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            drawn.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        );
        assert!(!seen.contains(&drawn));
        seen.push(drawn);
    }
    // Save and restore.
    let saved = inside.save(&stream)?;
    graph.launch(&stream)?;
    let next = stream.read(&b)?;
    assert_eq!(next, saved.next_normal(13));
    inside.restore(&stream, &saved)?;
    graph.launch(&stream)?;
    assert_eq!(stream.read(&b)?, next);
    inside.seed(&stream, 7)?;
    graph.launch(&stream)?;
    assert_eq!(stream.read(&b)?, seen[0]);
    no_findings(&device);
    Ok(())
}

#[test]
fn l9_the_next_batch_goes_into_the_same_memory() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let (mut batch, mut sum) = (device.zeros::<f32>(2)?, device.zeros::<f32>(2)?);
    let mut graph = device.record(k.saxpy(baked(1.0), &batch, &mut sum))?;
    for value in 1..=4 {
        stream.write(&mut batch, &[value as f32; 2])?;
        graph.launch(&stream)?;
    }
    assert_eq!(stream.read(&sum)?, [10.0; 2]);
    no_findings(&device);
    Ok(())
}

#[test]
fn l10_without_a_gpu_the_error_is_clear_and_at_once() {
    // No machine has this many.
    let error = Device::cuda(1_000_000).unwrap_err();
    let ErrorKind::NoDevice { why } = error.kind() else { panic!("{error}") };
    assert!(!why.is_empty());
    assert!(error.help().is_some_and(|help| help.contains("DACAPO_DRIVER=software")));
}

#[test]
fn l11_the_mode_is_chosen_at_begin() -> Result<()> {
    // In a relaxed capture a wait beside it is fine; in a thread-local one it is not, from the same thread.
    let device = Device::software()?;
    let (other, line) = (device.stream()?, CaptureStream::new(&device)?);
    let machine = device.machine().expect("a software device");
    for (mode, status) in [(Mode::Relaxed, Status::Active), (Mode::ThreadLocal, Status::Invalidated)] {
        // SAFETY: nothing is captured.
        let guard = unsafe { capture::begin(&line, mode) }?;
        // SAFETY: the stream is alive.
        let _ = unsafe { machine.cuStreamSynchronize(other.raw().0) };
        assert_eq!(guard.status()?, status);
    }
    Ok(())
}

#[test]
fn l12_a_device_waits_for_all_its_streams() -> Result<()> {
    let device = Device::software()?;
    let k = Kernels::load(&device)?;
    let x = device.buffer(&[1.0f32; 64])?;
    let streams = [device.stream()?, device.stream()?, device.stream()?];
    let mut sums = (0..3).map(|_| device.zeros::<f32>(64)).collect::<Result<Vec<_>>>()?;
    for (stream, sum) in streams.iter().zip(&mut sums) {
        stream.run(k.saxpy(baked(1.0), &x, sum))?;
    }
    device.synchronize()?;
    for stream in &streams {
        assert!(stream.is_done()?);
    }
    Ok(())
}

// ---- A

#[test]
fn a1_a_graph_is_typed_by_its_output() -> Result<()> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let runs = AtomicUsize::new(0);
    let mut graph: Graph<(Buffer<u32>, &str)> = device.record(|r| {
        runs.fetch_add(1, Ordering::Relaxed);
        let mut out = r.output(2)?;
        r.run(fill(&mut out, baked(3)))?;
        Ok((out, "done"))
    })?;
    let (out, word) = graph.launch_sync(&stream)?;
    assert_eq!((stream.read(out)?, *word, runs.into_inner()), (vec![3, 3], "done", 1));
    Ok(())
}

#[test]
fn a2_outputs_are_lent_or_taken_with_the_graph() -> Result<()> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let mut graph = device.record(|r| {
        let mut out = r.output(2)?;
        r.run(fill(&mut out, baked(3u32)))?;
        Ok(out)
    })?;
    assert_eq!(graph.outputs().len(), 2);
    graph.launch(&stream)?;
    let out = graph.into_outputs(); // once: it takes the graph
    assert_eq!(stream.read(&out)?, [3, 3]);
    Ok(())
}

#[test]
fn a3_an_update_before_a_launch_needs_no_wait() -> Result<()> {
    let (device, count) = counted()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let (mut x, mut y) = (device.zeros::<f32>(2)?, device.zeros::<f32>(2)?);
    let mut graph = device.record(k.saxpy(baked(1.0), &x, &mut y))?;
    let waits = |count: &Count| count.of(Call::cuStreamSynchronize).calls + count.of(Call::cuEventSynchronize).calls;
    let before = waits(&count);
    for value in [1.0, 2.0, 3.0] {
        stream.run(fill(&mut x, baked(value)))?;
        graph.launch(&stream)?;
    }
    assert_eq!(waits(&count), before);
    assert_eq!(stream.read(&y)?, [6.0; 2]);
    Ok(())
}

#[test]
fn a4_any_stream_with_and_without_waiting() -> Result<()> {
    let device = Device::software()?;
    let k = Kernels::load(&device)?;
    let (x, mut y) = (device.buffer(&[1.0f32; 2])?, device.zeros::<f32>(2)?);
    let mut graph = device.record(k.saxpy(baked(1.0), &x, &mut y))?;
    for stream in [device.stream()?, device.stream()?, device.stream()?] {
        graph.launch(&stream)?;
        graph.launch(&stream)?.wait()?;
        graph.launch_sync(&stream)?;
        graph.submit(&stream)?.wait()?;
    }
    assert_eq!(device.stream()?.read(&y)?, [12.0; 2]);
    no_findings(&device);
    Ok(())
}

#[test]
fn a5_a_graph_belongs_to_a_device_and_to_no_stream() -> Result<()> {
    let device = Device::software()?;
    let mut y = device.zeros::<u32>(1)?;
    let graph = device.record(fill(&mut y, baked(1)))?;
    assert_eq!(graph.device(), &device);
    assert_eq!(device.stream()?.device(), &device);
    Ok(())
}

#[test]
fn a6_each_op_frees_its_borrows_so_that_the_next_may_read() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let (x, mut y, mut z) = (device.buffer(&[1.0f32; 2])?, device.zeros::<f32>(2)?, device.zeros::<f32>(2)?);
    let mut graph = device.record(|r| {
        r.run(k.saxpy(baked(2.0), &x, &mut y))?;
        r.run(k.saxpy(baked(3.0), &y, &mut z))
    })?;
    graph.launch(&stream)?;
    assert_eq!(stream.read(&z)?, [6.0; 2]);
    assert_eq!(graph.dependencies(), [(0, 1)]);
    Ok(())
}

#[test]
fn a7_ops_are_values_that_compose() -> Result<()> {
    let device = Device::software()?;
    let (stream, mut y) = (device.stream()?, device.zeros::<u32>(4)?);
    let (low, high) = y.split_at_mut(2);
    let both = fill(low, baked(1)).zip(fill(high, baked(2))).map(|((), ())| 9).label("both");
    let later = from_fn(|_| Ok(1)).and_then(|one| from_fn(move |_| Ok(one + 1)));
    let mut graph = device.record(both.zip(later))?;
    assert_eq!(*graph.launch_sync(&stream)?, (9, 2));
    assert_eq!(stream.read(&y)?, [1, 1, 2, 2]);
    assert_eq!(graph.inspect().nodes[0].label, "both");
    Ok(())
}

#[test]
fn a8_every_other_call_inside_a_closure_is_defined() -> Result<()> {
    let device = Device::software()?;
    let stream = device.stream()?;
    let (mut y, mut host, mut scalar) = (device.zeros::<u32>(2)?, device.host(&[0u32; 2])?, device.scalar(0u32)?);
    let mut graph = device.record(fill(&mut y, baked(1)))?;
    let refused = |outcome: Result<()>| matches!(outcome.unwrap_err().kind(), ErrorKind::EagerInRecording { .. });
    let mut z = device.zeros::<u32>(2)?;
    device.record(|r| {
        assert!(refused(stream.synchronize()));
        assert!(refused(stream.is_done().map(drop)));
        assert!(refused(stream.read(&z).map(drop)));
        assert!(refused(stream.write(&mut z, &[1, 2])));
        assert!(refused(stream.run(fill(&mut z, baked(1)))));
        assert!(refused(graph.launch(&stream).map(drop)));
        assert!(refused(graph.preload(&stream)));
        assert!(refused(device.synchronize()));
        assert!(refused(host.set(&[1, 2])));
        assert!(refused(host.to_vec().map(drop)));
        assert!(refused(scalar.set(&stream, 1)));
        assert!(refused(scalar.get(&stream).map(drop)));
        // These only make something, and may be made anywhere.
        let _fresh = device.zeros::<u32>(1)?;
        let _stream = device.stream()?;
        let _pool = device.pool();
        let _inner = device.record(|r| r.run(graph.as_op()))?;
        r.run(graph.as_op())
    })?;
    Ok(())
}

#[test]
fn a9_a_panic_in_the_closure_goes_on_and_leaves_nothing() -> Result<()> {
    let device = Device::software()?;
    let (stream, mut y) = (device.stream()?, device.zeros::<u32>(2)?);
    let before = device.counters();
    for eager in [false, true] {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let body = |r: &mut Recorder<'_>| -> Result<()> {
                let mut temp = r.alloc::<u32>(2)?;
                r.run(fill(&mut temp, baked(1)))?;
                r.run(copy(&temp, &mut y))?;
                panic!("mine")
            };
            if eager { stream.run(body).map(drop) } else { device.record(body).map(drop) }
        }));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"mine"));
    }
    stream.write(&mut y, &[4, 4])?; // not inside a recording any more
    assert_eq!(stream.read(&y)?, [4, 4]);
    assert_eq!(device.counters().allocations, before.allocations);
    Ok(())
}

#[test]
fn a10_a_recording_inside_a_recording_is_its_own() -> Result<()> {
    let device = Device::software()?;
    let (stream, mut y, mut z) = (device.stream()?, device.zeros::<u32>(2)?, device.zeros::<u32>(2)?);
    let mut inner = None;
    let mut outer = device.record(|r| {
        inner = Some(device.record(fill(&mut z, baked(2)))?);
        r.run(fill(&mut y, baked(1)))
    })?;
    assert_eq!(outer.len(), 1);
    outer.launch(&stream)?;
    assert_eq!((stream.read(&y)?, stream.read(&z)?), (vec![1, 1], vec![0, 0]));
    inner.expect("recorded").launch(&stream)?;
    assert_eq!(stream.read(&z)?, [2, 2]);
    Ok(())
}

#[test]
fn a11_every_failure_releases_what_was_made_before() -> Result<()> {
    let calls = [
        Call::cuGraphCreate,
        Call::cuGraphAddKernelNode_v2,
        Call::cuGraphAddMemsetNode,
        Call::cuGraphInstantiateWithFlags,
        Call::cuGraphUpload,
        Call::cuGraphLaunch,
        Call::cuMemAllocAsync,
        Call::cuStreamSynchronize,
    ];
    for call in calls {
        // SAFETY: a call that is refused is not made.
        let device = unsafe {
            Software::new().open_hooked(move |machine| {
                let late = if call == Call::cuStreamSynchronize || call == Call::cuMemAllocAsync { 4 } else { 1 };
                // Not out of memory: that is tried again after what was dropped has come back.
                let fault = Fault::new().fail(call, late, CUresult::CUDA_ERROR_NOT_PERMITTED);
                Arc::new(Hooked::new(machine, fault))
            })
        }?;
        let (stream, k) = (device.stream()?, Kernels::load(&device)?);
        let (x, mut y) = (device.buffer(&[1.0f32; 2])?, device.zeros::<f32>(2)?);
        let before = device.counters();
        let mut step = || -> Result<()> {
            let mut graph = device.record(|r| {
                let mut temp = r.alloc::<f32>(2)?;
                r.run(fill(&mut temp, baked(1.0)))?;
                r.run(k.saxpy(baked(1.0), &temp, &mut y))?;
                let mut out = r.output::<f32>(2)?;
                r.run(k.saxpy(baked(1.0), &x, &mut out))?;
                Ok(out)
            })?;
            graph.preload(&stream)?;
            graph.launch_sync(&stream)?;
            Ok(())
        };
        assert!(step().is_err(), "{call:?}");
        step().unwrap_or_else(|error| panic!("{call:?}: {error:?}"));
        device.synchronize()?;
        device.synchronize()?;
        let after = device.counters();
        assert_eq!(
            (after.allocations, after.graphs, after.waiting),
            (before.allocations, before.graphs, 0),
            "{call:?}"
        );
        // Once by the step that succeeded; the one that failed may have failed after it had run.
        assert!([1.0, 2.0].contains(&stream.read(&y)?[0]), "{call:?}");
    }
    Ok(())
}

#[test]
fn a12_a_module_copies_in_launches_and_lends() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let mut net = graphed(&device, |r, x: &Buffer<f32>| {
        let mut out = r.output(x.len())?;
        r.run(k.saxpy(baked(2.0), x, &mut out))?;
        Ok(out)
    });
    let first = net.forward(&stream, &device.buffer(&[1.0, 2.0])?)?;
    assert_eq!(stream.read(first)?, [2.0, 4.0]);
    assert_eq!(net.recordings(), 1);
    let mut boxed: Box<dyn Forward<Input = Buffer<f32>, Output = Buffer<f32>> + '_> = Box::new(net);
    let second = boxed.forward(&stream, &device.buffer(&[0.5, 1.0])?)?;
    assert_eq!(stream.read(second)?, [3.0, 6.0]); // it adds into its output
    Ok(())
}

#[test]
fn a14_a_recording_may_allocate() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let x = device.buffer(&[1.0f32; 4])?;
    let mut graph = device.record(|r| {
        let mut hidden = r.alloc(x.len())?;
        r.run(copy(&x, &mut hidden))?;
        let mut out = r.output(x.len())?;
        r.run(k.saxpy(baked(3.0), &hidden, &mut out))?;
        Ok(out)
    })?;
    assert_eq!(graph.memory().temps(), 16);
    for replay in 1..=3 {
        let out = graph.launch_sync(&stream)?;
        assert_eq!(stream.read(out)?, [3.0 * replay as f32; 4]);
    }
    no_findings(&device);
    Ok(())
}

// ---- N

#[test]
fn n1_a_graph_writes_into_given_memory_and_keeps_it() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let (x, mut y) = (device.buffer(&[1.0f32; 2])?, device.zeros::<f32>(2)?);
    let seen = y.share();
    let mut fixed = device.record(k.saxpy(baked(2.0), &x, &mut y))?;
    drop((x, y));
    fixed.launch(&stream)?;
    assert_eq!(stream.read(&seen)?, [2.0; 2]);
    // And as a function of memory.
    let (a, mut b) = (device.buffer(&[5.0f32; 2])?, device.zeros::<f32>(2)?);
    let mut any = device.graph().record_into(&a[..], &mut b[..], |r, x, y| r.run(k.saxpy(baked(2.0), x, y)))?;
    let (c, mut d) = (device.buffer(&[7.0f32; 2])?, device.zeros::<f32>(4)?);
    any.launch(&stream, &c, &mut d[2..])?;
    assert_eq!(stream.read(&d)?, [0.0, 0.0, 14.0, 14.0]);
    no_findings(&device);
    Ok(())
}

#[test]
fn n2_one_arena_serves_every_intermediate_and_outlives_the_graph() -> Result<()> {
    let (device, count) = counted()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let (x, mut y) = (device.buffer(&[1.0f32; 64])?, device.zeros::<f32>(64)?);
    let arena = device.arena(1024)?;
    let allocations = count.of(Call::cuMemAllocAsync).calls;
    let step = |r: &mut Recorder<'_>, temps: usize, out: &mut Buffer<f32>| -> Result<()> {
        let mut last = r.alloc(64)?;
        r.run(copy(&x, &mut last))?;
        for _ in 1..temps {
            let mut next = r.alloc(64)?;
            r.run(copy(&last, &mut next))?;
            last = next;
        }
        r.run(k.saxpy(baked(1.0), &last, out))
    };
    // One buffer for all of them, whether recorded or run now, and it says how much of it was needed.
    let mut graph = device.graph().arena(&arena).record(|r: &mut Recorder<'_>| step(r, 12, &mut y))?;
    assert_eq!((arena.bytes(), arena.used(), graph.memory().temps()), (1024, 512, 512));
    stream.run_in(&arena, |r: &mut Recorder<'_>| step(r, 12, &mut y))?;
    assert_eq!(count.of(Call::cuMemAllocAsync).calls, allocations);
    // Its addresses are baked, and it lives as long as the graph.
    drop(arena);
    graph.launch(&stream)?;
    assert_eq!(stream.read(&y)?, [2.0; 64]);
    // What does not fit is an error with the op, what it wanted and what was left.
    let small = device.arena(300)?;
    let error = device.graph().arena(&small).record(|r: &mut Recorder<'_>| step(r, 2, &mut y)).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::ArenaExhausted { wanted: 256, left: 44, bytes: 300, needed: 512 });
    assert_eq!((error.op(), small.used()), ("copy", 0));
    assert!(error.to_string().contains("a temp of 256 bytes does not fit the arena: 44 of its 300 bytes"), "{error}");
    no_findings(&device);
    Ok(())
}

#[test]
fn n3_a_graph_shows_what_it_reads_and_writes() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let x = device.buffer(&[1.0f32; 2])?;
    let mut graph = device.record(|r| {
        let mut out = r.output(2)?;
        r.run(k.saxpy(baked(1.0), &x, &mut out))?;
        Ok(out)
    })?;
    assert_eq!(graph.outputs().len(), 2);
    graph.launch(&stream)?;
    let report = graph.inspect();
    let kinds: Vec<_> = report.memories.iter().map(|memory| memory.kind).collect();
    assert_eq!(kinds, [dacapo::inspect::MemoryKind::Buffer, dacapo::inspect::MemoryKind::Output]);
    Ok(())
}

#[test]
fn n4_whatever_is_dropped_first() -> Result<()> {
    for order in 0..6 {
        let device = Device::software()?;
        let (stream, k) = (device.stream()?, Kernels::load(&device)?);
        let (x, mut y) = (device.buffer(&vec![1.0f32; 4096])?, device.zeros::<f32>(4096)?);
        let mut graph = device.record(k.saxpy(baked(1.0), &x, &mut y))?;
        graph.launch(&stream)?;
        match order {
            0 => drop((graph, x, y, k, stream)),
            1 => drop((x, y, k, graph, stream)),
            2 => drop((stream, graph, y, x, k)),
            3 => drop((k, x, y, stream, graph)),
            4 => drop((y, graph, stream, x, k)),
            _ => drop((x, stream, k, y, graph)),
        }
        // What comes next may get the same memory, behind what still runs.
        let fresh = device.buffer(&vec![9.0f32; 4096])?;
        device.synchronize()?;
        assert_eq!(device.stream()?.read(&fresh)?, vec![9.0; 4096]);
        no_findings(&device);
    }
    Ok(())
}

#[test]
fn n5_send_and_sync() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Graph<Buffer<f32>>>();
    sync::<Graph<Buffer<f32>>>();
    send::<Device>();
    sync::<Device>();
    send::<dacapo::Stream>();
    sync::<dacapo::Stream>();
    send::<Slot<f32>>();
    sync::<Slot<f32>>();
    send::<Buffer<f32>>();
    sync::<Buffer<f32>>();
    send::<Pool>();
    sync::<Pool>();
    send::<dacapo::Ticket>();
    send::<dacapo::Launched<'static, ()>>();
    send::<Kernels>();
    sync::<Kernels>();
    send::<dacapo::HostBuffer<u8>>();
    sync::<dacapo::HostBuffer<u8>>();
}

#[test]
fn n6_debug_says_sizes_and_what_is_held() -> Result<()> {
    let device = Device::software()?;
    let mut y = device.zeros::<u32>(3)?;
    let graph = device.graph().label("step").record(fill(&mut y, baked(1)))?;
    assert_eq!(
        format!("{graph:?}"),
        "Graph { label: \"step\", ops: 1, edges: 0, slots: 0, allocations: 1, temp_bytes: 0, replays: 0, preloaded: false, pool: false }"
    );
    assert_eq!(format!("{y:?}"), "Buffer<u32>[3]");
    Ok(())
}

#[test]
fn n7_the_same_types_on_either_driver() -> Result<()> {
    fn step(device: &Device) -> Result<Vec<u32>> {
        let (stream, mut y) = (device.stream()?, device.zeros::<u32>(3)?);
        device.record(fill(&mut y, baked(1)))?.launch(&stream)?;
        stream.read(&y)
    }
    for device in [Device::cuda(0).ok(), Some(Device::software()?)].into_iter().flatten() {
        assert_eq!(step(&device)?, [1; 3]);
    }
    Ok(())
}

#[test]
fn n8_a_replay_without_a_gpu_really_runs() -> Result<()> {
    let device = Device::software()?;
    let (stream, k) = (device.stream()?, Kernels::load(&device)?);
    let (x, mut y) = (device.buffer(&[1.0f32; 2])?, device.zeros::<f32>(2)?);
    let mut graph = device.record(k.saxpy(baked(1.0), &x, &mut y))?;
    assert!(!graph.is_empty());
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    assert_eq!(stream.read(&y)?, [2.0; 2]);
    Ok(())
}
