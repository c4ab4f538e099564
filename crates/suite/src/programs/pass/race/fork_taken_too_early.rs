//! The second stream forks off behind the work that it needs.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, side, forked, joined) = (p.stream()?, p.stream()?, p.event()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 2)?;
    p.record(forked, stream)?;
    p.wait(side, forked)?;
    p.copy(side, &y, &x)?;
    p.record(joined, side)?;
    p.wait(stream, joined)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&y, &[2; 4])
}
