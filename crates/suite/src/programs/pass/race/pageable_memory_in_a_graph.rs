//! The copy is from pinned memory, which lives as long as the graph.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, number) = (p.stream()?, p.buffer("x", &[0])?, p.pinned()?);
    number.write(5);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.upload_pinned(stream, &x, number)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[5])
}
