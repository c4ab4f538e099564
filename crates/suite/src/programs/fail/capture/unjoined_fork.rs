//! Forks a second stream into the capture, gives it work, and ends without joining it.
//!
//! On a GPU: the end answers STREAM_CAPTURE_UNJOINED and the graph is lost; both streams are free again.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, side, forked) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    p.record(forked, stream)?;
    p.wait(side, forked)?;
    p.set(side, &y, 2)?;
    p.end_capture(stream)?;
    Ok(())
}
