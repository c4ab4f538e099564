//! The event is recorded behind the work.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.set(first, &x, 2)?;
    p.record(ready, first)?;
    p.wait(second, ready)?;
    p.copy(second, &y, &x)?;
    p.synchronize(second)?;
    p.expect(&y, &[2; 4])
}
