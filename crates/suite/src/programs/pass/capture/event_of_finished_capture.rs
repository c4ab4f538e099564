//! The event is recorded anew in the second capture before anyone waits for it.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, done, x) = (p.stream()?, p.event()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    p.record(done, stream)?;
    p.end_capture(stream)?;

    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 2)?;
    p.record(done, stream)?;
    p.wait(stream, done)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])
}
