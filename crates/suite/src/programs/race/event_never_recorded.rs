//! A stream waits for an event that nobody has recorded.
//!
//! On a GPU: such a wait is over at once. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the event is recorded behind the work.

use crate::programs::{Answer, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.set(first, &x, 2)?;
    if p.way == NearMiss {
        p.record(ready, first)?;
    }
    p.wait(second, ready)?;
    p.copy(second, &y, &x)?;
    p.synchronize(first)?;
    p.synchronize(second)?;
    p.expect(&y, &[2; 4])
}
