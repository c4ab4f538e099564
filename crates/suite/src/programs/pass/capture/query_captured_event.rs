//! The graph records the event itself, so that after a launch it can be asked about.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, done, x) = (p.stream()?, p.event()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    p.record_external(done, stream)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.query(done)?;
    p.expect(&x, &[1; 4])
}
