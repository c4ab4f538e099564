//! Stream capture on the user's own terms.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dacapo::capture::{self, CaptureStream, Mode, Status};
use dacapo::{Device, ErrorKind, Result, baked, fill};

#[test]
fn a_capture_of_ops_is_a_graph_that_holds_what_they_touch() -> Result<()> {
    let device = Device::software()?;
    let (stream, line) = (device.stream()?, CaptureStream::new(&device)?);
    let mut y = device.zeros::<u32>(4)?;
    let seen = y.share();
    // SAFETY: only ops of the library are captured.
    let mut guard = unsafe { capture::begin(&line, Mode::default()) }?.label("ported");
    assert_eq!(guard.status()?, Status::Active);
    guard.run(fill(&mut y, baked(7)))?;
    let mut graph = guard.finish()?;
    assert_eq!(line.status()?, Status::None);
    drop(y);
    assert_eq!(stream.read(&seen)?, [0; 4]);
    graph.launch(&stream)?;
    assert_eq!(stream.read(&seen)?, [7; 4]);
    assert_eq!((graph.label(), graph.len()), ("ported", 1));
    assert_eq!(device.findings(), [] as [String; 0]);
    Ok(())
}

#[test]
fn a_guard_that_is_dropped_leaves_the_stream_usable_also_by_a_panic() -> Result<()> {
    let device = Device::software()?;
    let line = CaptureStream::new(&device)?;
    for mode in [Mode::Global, Mode::ThreadLocal, Mode::Relaxed] {
        // SAFETY: nothing is captured.
        drop(unsafe { capture::begin(&line, mode) }?);
        assert_eq!(line.status()?, Status::None);
        // SAFETY: nothing is captured.
        let result = catch_unwind(AssertUnwindSafe(|| unsafe {
            capture::captured(&line, mode, |_| -> Result<()> { panic!("in the closure") })
        }));
        assert!(result.is_err());
        assert_eq!(line.status()?, Status::None);
        // SAFETY: nothing is captured.
        let error = unsafe { capture::captured(&line, mode, |_| Err::<(), _>(dacapo::Error::msg("mine"))) };
        assert_eq!(error.unwrap_err().to_string(), "mine");
        assert_eq!(line.status()?, Status::None);
    }
    Ok(())
}

#[test]
fn an_empty_capture_is_an_error_and_so_is_a_slot_in_one() -> Result<()> {
    let device = Device::software()?;
    let line = CaptureStream::new(&device)?;
    // SAFETY: nothing is captured.
    let error = unsafe { capture::begin(&line, Mode::Relaxed) }?.finish().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NothingRecorded));
    let (slot, mut y) = (dacapo::Slot::new(1u32), device.zeros::<u32>(4)?);
    // SAFETY: only ops of the library are captured.
    let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }?;
    let error = guard.run(fill(&mut y, &slot)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
    Ok(())
}

#[test]
fn a_capture_with_a_pool_holds_its_values_until_the_graph_is_gone() -> Result<()> {
    let device = Device::software()?;
    let (stream, line, pool) = (device.stream()?, CaptureStream::new(&device)?, device.pool());
    let value = std::sync::Arc::new(());
    pool.keep(value.clone())?;
    let mut y = device.zeros::<u32>(4)?;
    // SAFETY: only ops of the library are captured.
    let mut guard = unsafe { capture::begin_with_pool(&line, Mode::ThreadLocal, &pool) }?;
    guard.run(fill(&mut y, baked(1)))?;
    let mut graph = guard.finish()?;
    assert_eq!(graph.pool(), Some(&pool));
    assert!(matches!(pool.clear().unwrap_err().kind(), ErrorKind::PoolInUse { graphs: 1 }));
    pool.seal();
    // SAFETY: nothing is captured.
    let error = unsafe { capture::begin_with_pool(&line, Mode::ThreadLocal, &pool) }.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::PoolSealed));
    drop(pool);
    graph.launch(&stream)?;
    drop(graph);
    device.synchronize()?;
    device.synchronize()?;
    assert_eq!(std::sync::Arc::strong_count(&value), 1);
    Ok(())
}

#[test]
fn a_broken_capture_names_the_step_that_broke_it() -> Result<()> {
    let device = Device::software()?;
    let (other, line) = (device.stream()?, CaptureStream::new(&device)?);
    let mut y = device.zeros::<u32>(4)?;
    let machine = device.machine().expect("a software device").clone();
    // SAFETY: what is captured beside ops is a call that breaks the capture.
    let mut guard = unsafe { capture::begin(&line, Mode::ThreadLocal) }?;
    guard.run(fill(&mut y, baked(1)))?;
    let error = guard
        .step("a synchronisation", |_| {
            // SAFETY: the stream is alive.
            let _ = unsafe { dacapo_driver::Driver::cuStreamSynchronize(&machine, other.raw().0) };
            Ok(())
        })
        .unwrap_err();
    let ErrorKind::CaptureBroken { culprit } = error.kind() else { panic!("{error}") };
    assert!(culprit.starts_with("it was good after `fill` at ") && culprit.ends_with("broken after a synchronisation"));
    assert!(matches!(guard.finish().unwrap_err().kind(), ErrorKind::CaptureBroken { .. }));
    assert_eq!(line.status()?, Status::None);
    Ok(())
}
