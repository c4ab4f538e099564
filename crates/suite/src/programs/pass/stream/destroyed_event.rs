//! Destroys the event when a stream already waits for it: the wait stays.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, done) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.set(first, &x, 1)?;
    p.record(done, first)?;
    p.wait(second, done)?;
    p.destroy_event(done)?;
    p.copy(second, &y, &x)?;
    p.synchronize(second)?;
    p.expect(&y, &[1; 4])
}
