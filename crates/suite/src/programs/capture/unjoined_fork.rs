//! Forks a second stream into the capture, gives it work, and ends without joining it.
//!
//! On a GPU: the end answers STREAM_CAPTURE_UNJOINED and the graph is lost; both streams are free again.
//!
//! Near miss: the second stream is joined before the end.

use crate::programs::{Answer, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, side, forked, joined) = (p.stream()?, p.stream()?, p.event()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    p.record(forked, stream)?;
    p.wait(side, forked)?;
    p.set(side, &y, 2)?;
    if p.way == NearMiss {
        p.record(joined, side)?;
        p.wait(stream, joined)?;
    }
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])?;
    p.expect(&y, &[2; 4])
}
