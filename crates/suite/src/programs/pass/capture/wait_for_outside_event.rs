//! The stream that launches the graph waits for the event, not the capture.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, upload, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.set(upload, &x, 3)?;
    p.record(ready, upload)?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.copy(stream, &y, &x)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.wait(stream, ready)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&y, &[3; 4])
}
