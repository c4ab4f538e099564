//! Two streams capture, each on its own; one waits for an event of the other.
//!
//! On a GPU: STREAM_CAPTURE_MERGE, and both captures are broken.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, done) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.begin_capture(first, Mode::Relaxed)?;
    p.begin_capture(second, Mode::Relaxed)?;
    p.set(first, &x, 1)?;
    p.record(done, first)?;
    let _ = p.wait(second, done);
    let _ = p.copy(second, &y, &x);
    let _ = p.end_capture(first);
    let _ = p.end_capture(second);
    Ok(())
}
