//! Another library's work, and captures by hand.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dacapo::capture::{self, CaptureStream, Mode};
use dacapo::raw::{RawSlice, RawStream, foreign};
use dacapo::{Error, Recorder, Result, baked, copy, fill};
use dacapo_driver::{Call, Check, Driver};

use super::{Bench, right, scenarios};
use crate::forms::kernels::churned;

scenarios!("capture":
    foreign_work, foreign_eager, foreign_fails, foreign_panics, by_hand, by_closure, dropped_guard, guard_panics, modes,
);

impl Bench {
    /// What another library enqueues: it sets memory, and keeps something.
    pub(super) fn library(
        &self,
        value: u32,
    ) -> impl Fn(RawStream, (), RawSlice<u32>) -> Result<()> + Clone + Send + Sync + 'static {
        let (driver, token) = (self.driver.clone(), self.token.clone());
        move |stream, (), y| {
            let _kept = &token;
            // SAFETY: the memory was declared as written, and is this long.
            let code = unsafe { driver.cuMemsetD32Async(y.ptr, value, y.len, stream.0) };
            code.check(Call::cuMemsetD32Async).map_err(Error::from)
        }
    }
}

/// Between two ops of ours, twice in one graph.
fn foreign_work(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(|r| {
        let mut t = r.alloc::<u32>(4)?;
        r.run(fill(&mut t, baked(1)))?;
        // SAFETY: it sets what is declared as written, and may be replayed.
        r.run(unsafe { foreign((), &mut t[..2], bench.library(6)) })?;
        r.run(copy(&t, &mut y[..4]))?;
        // SAFETY: as above.
        r.run(unsafe { foreign((), &mut y[4..], bench.library(8)) })?;
        r.run(k.increment_first(baked(8), &mut y))
    })?;
    graph.launch(stream)?;
    graph.launch(stream)?;
    drop(graph);
    right("y", stream.read(&y)?, [7, 7, 2, 2, 9, 9, 9, 9])
}

/// On a stream, at once.
fn foreign_eager(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    // SAFETY: it sets what is declared as written.
    stream.run(unsafe { foreign((), &mut y[..], bench.library(3)) })?;
    right("y", stream.read(&y)?, [3; 4])
}

/// The library's own error is the recording's, and the graph that was being built is gone.
fn foreign_fails(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let inner = bench.library(1);
    // SAFETY: it sets what is declared as written.
    let work = unsafe {
        foreign((), &mut y[..], move |stream, (), y| {
            inner(stream, (), y)?;
            Err(Error::msg("the library said no"))
        })
    };
    match device.record(work).err() {
        Some(error) if error.to_string().contains("the library said no") => {}
        Some(error) => return Err(error),
        None => return Err(Error::msg("WRONG: it was recorded")),
    }
    right("nothing ran", stream.read(&y)?, [0; 4])
}

fn meant<T>(outcome: std::thread::Result<Result<T>>) -> Result<()> {
    match outcome {
        Ok(outcome) => outcome.map(drop),
        Err(panic) if panic.downcast_ref::<&str>() == Some(&"meant") => Ok(()),
        Err(panic) => resume_unwind(panic),
    }
}

/// A panic of the library's goes on when the capture is ended; recorded and eagerly.
fn foreign_panics(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    for eager in [false, true] {
        let inner = bench.library(1);
        // SAFETY: it sets what is declared as written.
        let work = unsafe {
            foreign((), &mut y[..], move |stream, (), y| {
                inner(stream, (), y)?;
                std::panic::panic_any("meant")
            })
        };
        meant(catch_unwind(AssertUnwindSafe(|| match eager {
            true => stream.run(work),
            false => device.record(work).map(drop),
        })))?;
    }
    // SAFETY: as above.
    let mut graph = device.record(unsafe { foreign((), &mut y[..], bench.library(5)) })?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [5; 4])
}

/// Begin, ops of ours and raw calls, end.
fn by_hand(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, driver, token } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let side = CaptureStream::new(device)?;
    // SAFETY: the one raw call writes what is declared as written.
    let mut capture = unsafe { capture::begin(&side, Mode::default()) }?.label("ported");
    let target = capture.writes(&mut y)?;
    capture.keep(token.clone());
    capture.step("set", |raw| {
        // SAFETY: as declared.
        let code = unsafe { driver.cuMemsetD32Async(target.ptr, 5, target.bytes / 4, raw.0) };
        code.check(Call::cuMemsetD32Async).map_err(Error::from)
    })?;
    capture.run(k.churn(baked(3), &mut y))?;
    let mut graph = capture.finish()?;
    right("not capturing", side.status()?, capture::Status::None)?;
    graph.launch(stream)?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(5, 3); 4])
}

/// What a closure does, with temps and outputs; twice on one stream.
fn by_closure(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let side = CaptureStream::new(device)?;
    for _ in 0..2 {
        // SAFETY: no raw calls are made.
        let graph = unsafe {
            capture::captured(&side, Mode::Relaxed, |capture| {
                capture.run(|r: &mut Recorder<'_>| {
                    let (mut t, mut y) = (r.alloc(4)?, r.output(4)?);
                    r.run(fill(&mut t, baked(2u32)))?;
                    r.run(k.churn(baked(1), &mut t))?;
                    r.run(copy(&t, &mut y))?;
                    Ok(y)
                })
            })
        };
        let mut graph = graph?;
        right("y", stream.read(graph.launch_sync(stream)?)?, [churned(2, 1); 4])?;
    }
    Ok(())
}

/// A guard that is dropped ends its capture.
fn dropped_guard(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let side = CaptureStream::new(device)?;
    for _ in 0..2 {
        // SAFETY: no raw calls are made.
        let mut capture = unsafe { capture::begin(&side, Mode::ThreadLocal) }?;
        capture.run(k.churn(baked(1), &mut y))?;
        drop(capture);
        right("not capturing", side.status()?, capture::Status::None)?;
    }
    right("nothing ran", stream.read(&y)?, [0; 4])
}

/// A panic inside a capture ends it.
fn guard_panics(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(4)?;
    let side = CaptureStream::new(device)?;
    meant(catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: no raw calls are made.
        unsafe {
            capture::captured(&side, Mode::Global, |capture| {
                capture.run(k.churn(baked(1), &mut y))?;
                std::panic::panic_any("meant");
                #[allow(unreachable_code, reason = "gives the closure its type")]
                Ok(())
            })
        }
    })))?;
    right("not capturing", side.status()?, capture::Status::None)?;
    right("nothing ran", stream.read(&y)?, [0; 4])
}

/// Work of all kinds goes on beside a global capture, and does not break it.
fn modes(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (mut x, mut y) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
    let side = CaptureStream::new(device)?;
    // SAFETY: no raw calls are made.
    let mut capture = unsafe { capture::begin(&side, Mode::Global) }?;
    capture.run(k.churn(baked(2), &mut y))?;
    drop(device.buffer(&[1u32, 2, 3])?);
    let mut beside = device.record(k.churn(baked(2), &mut x))?;
    beside.launch_sync(stream)?;
    drop(beside);
    device.synchronize()?;
    right("x", stream.read(&x)?, [churned(0, 2); 4])?;
    let mut graph = capture.finish()?;
    graph.launch(stream)?;
    right("y", stream.read(&y)?, [churned(0, 2); 4])
}
