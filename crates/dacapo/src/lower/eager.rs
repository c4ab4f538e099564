//! Eager runs: recorded, checked, then launched. Nothing runs if an op fails.

use dacapo_ledger::Use;

use crate::device::{Cuda, Stream, Ticket};
use crate::error::Result;
use crate::lower;
use crate::memory::Arena;
use crate::nesting::Nested;
use crate::record::{Op, Recorder};

impl Stream {
    /// Runs an op now, without a graph. The same op can be recorded.
    ///
    /// The whole op is recorded and checked first; if any part of it fails, nothing runs.
    ///
    /// Where there is control flow in it, the host reads each decision and goes on. So the call waits for the device, a loop
    /// that never ends blocks it for ever, and if the driver or the device fails in the middle, earlier rounds stay done.
    ///
    /// # Errors
    ///
    /// - The error of the first op that failed, or any error from the driver.
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording): inside a recording or another `run`.
    #[doc(alias = "cudaLaunchKernel")]
    #[track_caller]
    pub fn run<O: Op>(&self, op: O) -> Result<O::Out> {
        run_eager(self, None, op, "Stream::run").map(|(out, _)| out)
    }

    /// Runs an op now and returns a ticket that borrows nothing, to wait for or await in any task.
    ///
    /// With control flow in it, this waits for every decision, as [`run`](Stream::run) does.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{Recorder, baked, fill};
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let ticket = stream.submit(|r: &mut Recorder<'_>| {
    ///     let mut y = r.output::<f32>(4)?;
    ///     r.run(fill(&mut y, baked(1.0)))?;
    ///     Ok(y)
    /// })?;
    /// let y = ticket.wait()?;
    /// assert_eq!(stream.read(&y)?, [1.0; 4]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`run`](Stream::run).
    #[doc(alias = "async")]
    #[track_caller]
    pub fn submit<O: Op>(&self, op: O) -> Result<Ticket<O::Out>> {
        let (out, used) = run_eager(self, None, op, "Stream::submit")?;
        Ok(Ticket::new(self.device(), used, out))
    }

    /// [`run`](Stream::run) with its temps in an arena: nothing is allocated.
    ///
    /// With control flow in it, the temps must fit the arena, but lie in memory of their own: the run waits between its parts,
    /// and others may use the arena meanwhile.
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
        run_eager(self, Some(arena), op, "Stream::run_in").map(|(out, _)| out)
    }
}

/// Runs an op on a stream now, with its temps in an arena if there is one. `call` is what the user has called.
#[track_caller]
fn run_eager<O: Op>(
    stream: &Stream,
    arena: Option<&Arena>,
    op: O,
    call: &'static str,
) -> Result<(O::Out, Option<Use<Cuda>>)> {
    stream.0.enter(call)?;
    let mut recorder = Recorder::new(stream.device(), None);
    let out = {
        let _nested = Nested::enter();
        recorder.run(op)?
    };
    let recorded = recorder.complete()?;
    #[cfg(feature = "json")]
    if let Some(pages) = crate::page::Pages::of(stream.device()) {
        let edges = crate::arrange::EdgeChoice::Plain;
        let wanted = lower::Wanted { label: "eager run", shape: crate::plan::Shape::Line, edges: &edges, apart: false };
        pages.run_begins(|| lower::report_of(&recorded, &wanted));
    }
    let used = lower::run(&stream.0, recorded, arena)?;
    Ok((out, used))
}

/// Runs on a stream what a recorder has taken down.
pub(crate) fn run_recorded(stream: &Stream, recorder: Recorder<'_>) -> Result<()> {
    lower::run(&stream.0, recorder.complete()?, None).map(drop)
}
