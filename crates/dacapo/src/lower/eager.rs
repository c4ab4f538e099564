//! Eager runs: recorded, checked, then launched. Nothing runs if an op fails.

use crate::device::Stream;
use crate::error::Result;
use crate::lower;
use crate::memory::Arena;
use crate::nesting::Nested;
use crate::record::{Op, Recorder};

impl Stream {
    /// Runs an op now: the same op that could be recorded.
    ///
    /// All of it is recorded and checked first; if one op fails, nothing runs.
    ///
    /// # Errors
    ///
    /// - The first op that failed, or what the driver refused.
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording): inside a recording or another `run`.
    #[track_caller]
    pub fn run<O: Op>(&self, op: O) -> Result<O::Out> {
        run_eager(self, None, op)
    }

    /// The same with its temps in an arena: nothing is allocated.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # use dacapo::{Recorder, baked, copy, fill};
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let arena = device.arena(64)?;
    /// let mut out = device.zeros::<u32>(100)?;
    /// let refused = stream.run_in(&arena, |r: &mut Recorder<'_>| {
    ///     let mut t = r.alloc::<u32>(100)?;
    ///     r.run(fill(&mut t, baked(3)))?;
    ///     r.run(copy(&t, &mut out))
    /// });
    /// assert!(refused.unwrap_err().to_string().contains("a temp of 400 bytes does not fit the arena: 64 of its 64 bytes"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`run`](Stream::run).
    /// - [`ErrorKind::ArenaExhausted`](crate::ErrorKind::ArenaExhausted): they do not fit; the error names the op. [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice).
    #[track_caller]
    pub fn run_in<O: Op>(&self, arena: &Arena, op: O) -> Result<O::Out> {
        arena.expect_of(self.device())?;
        run_eager(self, Some(arena), op)
    }
}

/// Runs an op on a stream now, with its temps in an arena if there is one.
#[track_caller]
fn run_eager<O: Op>(stream: &Stream, arena: Option<&Arena>, op: O) -> Result<O::Out> {
    stream.0.enter("Stream::run")?;
    let mut recorder = Recorder::new(stream.device(), None);
    let out = {
        let _nested = Nested::enter();
        recorder.run(op)?
    };
    lower::run(&stream.0, recorder.into_recorded(), arena)?;
    Ok(out)
}

/// Runs on a stream what a recorder has taken down.
pub(crate) fn run_recorded(stream: &Stream, recorder: Recorder<'_>) -> Result<()> {
    lower::run(&stream.0, recorder.into_recorded(), None)
}
