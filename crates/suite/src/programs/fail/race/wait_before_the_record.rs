//! In the second round a stream waits for an event before that is recorded again, and so waits for the first round.
//!
//! On a GPU: the wait is over at once. Nothing is said; the numbers depend on luck.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.set(first, &x, 2)?;
    p.record(ready, first)?;
    p.wait(second, ready)?;
    p.copy(second, &y, &x)?;
    p.synchronize(second)?;
    p.set(first, &x, 3)?;
    p.wait(second, ready)?;
    p.record(ready, first)?;
    p.copy(second, &y, &x)?;
    p.synchronize(first)?;
    p.synchronize(second)
}
