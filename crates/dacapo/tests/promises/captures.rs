//! Captures on the user's own terms that go wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dacapo::capture::{self, CaptureStream, Mode, Status};
use dacapo::raw::foreign;
use dacapo::{Error, ErrorKind, Recorder, Result, baked, copy, fill};

use crate::kit::{Bench, benches, kind};

/// Two nodes that succeed, and a third that does not.
fn half(r: &mut Recorder<'_>, y: &mut dacapo::Buffer<u32>, last: fn() -> Result<()>) -> Result<()> {
    let mut temp = r.alloc::<u32>(16)?;
    r.run(fill(&mut temp, baked(9)))?;
    r.run(copy(&temp, y))?;
    // SAFETY: nothing is enqueued.
    r.run(unsafe { foreign((), (), move |_, (), ()| last()) })
}

#[test]
fn an_op_that_fails_half_way_is_held_and_the_capture_refused_by_its_name() {
    let failing: [fn() -> Result<()>; 2] = [|| Err(Error::msg("no")), || panic!("no")];
    for bench in benches() {
        for last in failing {
            let Bench { device, .. } = &bench;
            let line = CaptureStream::new(device).unwrap();
            let (mut y, mut z) = (device.zeros::<u32>(16).unwrap(), device.zeros::<u32>(16).unwrap());
            let before = device.counters().allocations;
            // SAFETY: only ops of the library and foreign work that enqueues nothing are captured.
            let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
            let ran = catch_unwind(AssertUnwindSafe(|| guard.run(|r: &mut Recorder<'_>| half(r, &mut y, last))));
            assert!(!matches!(ran, Ok(Ok(()))));
            // The temp is still there, and what comes after is captured too.
            assert_eq!(device.counters().allocations, before + 1);
            guard.run(fill(&mut z, baked(1))).unwrap();
            let error = guard.finish().unwrap_err();
            let ErrorKind::CaptureBroken { culprit } = error.kind() else { panic!("{error}") };
            assert!(culprit.contains("`foreign` at ") && culprit.contains("captures.rs"), "{culprit}");
            assert_eq!(line.status().unwrap(), Status::None);
            device.synchronize().unwrap();
            assert_eq!(device.counters().allocations, before, "the temp is held although the capture is over");
            bench.expect_usable();
            bench.expect_no_findings();
        }
    }
}

#[test]
fn an_op_that_fails_before_it_is_captured_leaves_the_capture_good() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let line = CaptureStream::new(&device).unwrap();
    let (mut y, x) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(3).unwrap());
    // SAFETY: only ops of the library are captured.
    let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
    assert!(matches!(kind(guard.run(copy(&x, &mut y))), ErrorKind::Length { .. }));
    guard.run(k.put(baked(4), &mut y)).unwrap();
    guard.finish().unwrap().launch(&stream).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [4; 4]);
}

#[test]
fn the_end_of_a_capture_on_a_lost_context_says_that_it_is_lost() {
    let Bench { device, stream, k } = Bench::seeded(1);
    let line = CaptureStream::new(&device).unwrap();
    let (mut y, mut z) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
    // SAFETY: only ops of the library are captured.
    let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
    guard.run(fill(&mut z, baked(1))).unwrap();
    stream.run(k.store_at(baked(1 << 30), &mut y)).unwrap();
    assert!(matches!(kind(stream.synchronize()), ErrorKind::Lost { .. }));
    assert!(matches!(kind(guard.finish()), ErrorKind::Lost { .. }));
}
