//! The event is recorded on the stream that waits, and not on the one that works.
//!
//! On a GPU: a stream that waits for itself waits for nothing. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the event is recorded on the stream that works.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.set(first, &x, 2)?;
    match p.way {
        Mistake => p.record(ready, second)?,
        NearMiss => p.record(ready, first)?,
    }
    p.wait(second, ready)?;
    p.copy(second, &y, &x)?;
    p.synchronize(first)?;
    p.synchronize(second)?;
    p.expect(&y, &[2; 4])
}
