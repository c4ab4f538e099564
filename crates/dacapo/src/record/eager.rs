//! Eager runs: recorded, checked, then launched. Nothing runs if an op fails.

use crate::device::Stream;
use crate::error::Result;
use crate::lower;
use crate::memory::Arena;
use crate::op::Op;
use crate::record::{Nested, Recorder};

/// Runs an op on a stream now, with its temps in an arena if there is one.
#[track_caller]
pub(crate) fn run_eager<O: Op>(stream: &Stream, arena: Option<&Arena>, op: O) -> Result<O::Out> {
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
