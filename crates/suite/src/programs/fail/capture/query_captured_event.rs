//! Asks whether an event has happened that was recorded in a capture.
//!
//! On a GPU: CAPTURED_EVENT, and the capture is broken: nothing runs while one captures, so there is nothing to ask about.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, done, x) = (p.stream()?, p.event()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    p.record(done, stream)?;
    let _ = p.query(done);
    p.end_capture(stream)?;
    Ok(())
}
