//! Waits, in a second capture, for an event that was last recorded in a first one that is over.
//!
//! On a GPU: INVALID_VALUE, and the second capture is broken.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, done, x) = (p.stream()?, p.event()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    p.record(done, stream)?;
    p.end_capture(stream)?;

    p.begin_capture(stream, Mode::Relaxed)?;
    let _ = p.wait(stream, done);
    p.end_capture(stream)?;
    Ok(())
}
