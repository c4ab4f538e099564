//! A plain record outside a capture, and the reader waits for it.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, reader, done) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.set(stream, &x, 1)?;
    p.record(done, stream)?;
    p.wait(reader, done)?;
    p.copy(reader, &y, &x)?;
    p.synchronize(reader)?;
    p.expect(&y, &[1; 4])
}
