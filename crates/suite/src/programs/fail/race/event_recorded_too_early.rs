//! The event that the second stream waits for is recorded in front of the work that it is about.
//!
//! On a GPU: the wait is over before the buffer is set. Nothing is said; the numbers depend on luck.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.record(ready, first)?;
    p.set(first, &x, 2)?;
    p.wait(second, ready)?;
    p.copy(second, &y, &x)?;
    p.synchronize(first)?;
    p.synchronize(second)
}
