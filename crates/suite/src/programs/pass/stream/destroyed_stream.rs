//! Destroys the stream right after its last work, and waits for that work by an event.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (old, new, done) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.set(old, &x, 1)?;
    p.record(done, old)?;
    p.destroy_stream(old)?;
    p.wait(new, done)?;
    p.copy(new, &y, &x)?;
    p.synchronize(new)?;
    p.expect(&y, &[1; 4])
}
