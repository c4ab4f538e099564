//! Captures that are left open, by an error, a panic, or by nobody.

use dacapo::capture::{self, CaptureStream, Mode, Status};
use dacapo::raw::foreign;
use dacapo::{Error, ErrorKind, Recorder, Result, baked, fill};

use crate::does_not_compile;
use crate::kit::{Bench, benches, kind, panics, set_all};

/// `?` between the beginning and the end.
#[test]
fn hole_c4() {
    for bench in benches() {
        let Bench { device, .. } = &bench;
        let mut y = device.zeros::<u32>(4).unwrap();
        let step = || -> Result<()> { Err(Error::msg("no")) };
        // A recording has no end that could be missed.
        let failed = device.record(|r: &mut Recorder<'_>| {
            r.run(fill(&mut y, baked(1)))?;
            step()
        });
        assert_eq!(kind(failed), ErrorKind::Msg("no".into()));
        bench.expect_usable();
        // A capture on the user's terms is ended by its guard.
        let line = CaptureStream::new(device).unwrap();
        let mut ported = || -> Result<()> {
            // SAFETY: only ops of the library are captured.
            let mut guard = unsafe { capture::begin(&line, Mode::ThreadLocal) }?;
            guard.run(fill(&mut y, baked(1)))?;
            step()?;
            guard.finish().map(drop)
        };
        assert_eq!(kind(ported()), ErrorKind::Msg("no".into()));
        assert_eq!(line.status().unwrap(), Status::None);
        bench.expect_usable();
        assert_eq!(bench.stream.read(&y).unwrap(), [0; 4]);
    }
}

/// A panic in the captured body; a pool that would stay exchanged.
#[test]
fn hole_f4() {
    for bench in benches() {
        let Bench { device, .. } = &bench;
        let mut y = device.zeros::<u32>(4).unwrap();
        let set = set_all(bench.machine().clone(), 1);
        let body = move |on, (), y| -> Result<()> {
            set(on, (), y)?;
            panic!("on purpose")
        };
        // SAFETY: it sets what is declared as written, and nothing else.
        assert_eq!(panics(|| drop(device.record(unsafe { foreign((), &mut y[..], body.clone()) }))), "on purpose");
        bench.expect_usable();
        let line = CaptureStream::new(device).unwrap();
        // SAFETY: nothing is captured.
        let captured =
            || drop(unsafe { capture::captured(&line, Mode::Relaxed, |_| -> Result<()> { panic!("on purpose") }) });
        assert_eq!(panics(captured), "on purpose");
        assert_eq!(line.status().unwrap(), Status::None);
        bench.expect_usable();
    }
}

/// An error or a panic in the closure, and the thread's state after it.
#[test]
fn hole_l2() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let mut y = device.zeros::<u32>(4).unwrap();
        let failing = |r: &mut Recorder<'_>, y: &mut dacapo::Buffer<u32>, panic: bool| -> Result<()> {
            r.run(fill(y, baked(1)))?;
            if panic { panic!("on purpose") } else { Err(Error::msg("no")) }
        };
        assert!(device.graph().warmup(2).record(|r: &mut Recorder<'_>| failing(r, &mut y, false)).is_err());
        panics(|| drop(device.graph().warmup(2).record(|r: &mut Recorder<'_>| failing(r, &mut y, true))));
        // This thread is not inside a recording any more.
        assert_eq!(stream.read(&y).unwrap(), [0; 4]);
        bench.expect_usable();
    }
}

/// A capture is given memory that has no address yet, or another device's.
#[test]
fn hole_x4() {
    let (bench, away) = (Bench::seeded(0), Bench::seeded(0));
    let Bench { device, .. } = &bench;
    let line = CaptureStream::new(device).unwrap();
    let mut theirs = away.device.zeros::<u32>(4).unwrap();
    device
        .record(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(4)?;
            let lent: &mut dacapo::Slice<u32> = &mut t;
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    // SAFETY: nothing is captured.
                    let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
                    assert!(matches!(kind(guard.reads(lent)), ErrorKind::NoMemoryYet { .. }));
                    assert!(matches!(kind(guard.writes(lent)), ErrorKind::NoMemoryYet { .. }));
                    assert_eq!(kind(guard.run(fill(lent, baked(1)))), ErrorKind::ForeignTemp);
                    assert!(matches!(kind(guard.writes(&mut theirs)), ErrorKind::WrongDevice { .. }));
                    assert!(matches!(kind(guard.run(fill(&mut theirs, baked(1)))), ErrorKind::WrongDevice { .. }));
                    assert!(matches!(kind(guard.finish()), ErrorKind::NothingRecorded));
                });
                other.join().unwrap();
            });
            Ok(())
        })
        .unwrap();
    bench.expect_usable();
}

/// A beginning without an end.
#[test]
fn hole_l4() {
    does_not_compile("capture_without_unsafe", "E0133");
    for bench in benches() {
        let Bench { device, .. } = &bench;
        let line = CaptureStream::new(device).unwrap();
        // SAFETY: nothing is captured.
        drop(unsafe { capture::begin(&line, Mode::Global) }.unwrap());
        assert_eq!(line.status().unwrap(), Status::None);
        // A guard that is forgotten, even: the stream ends its capture when it goes.
        // SAFETY: as above.
        std::mem::forget(unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap());
        assert_eq!(line.status().unwrap(), Status::Active);
        drop(line);
        device.synchronize().unwrap();
        bench.expect_usable();
    }
}
