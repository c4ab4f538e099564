//! The event is recorded on the stream that waits, and not on the one that works.
//!
//! On a GPU: a stream that waits for itself waits for nothing. Nothing is said; the numbers depend on luck.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.set(first, &x, 2)?;
    p.record(ready, second)?;
    p.wait(second, ready)?;
    p.copy(second, &y, &x)?;
    p.synchronize(first)?;
    p.synchronize(second)
}
