//! In the second round a stream waits for an event before that is recorded again, and so waits for the first round.
//!
//! On a GPU: the wait is over at once. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the event is recorded first.

use crate::programs::{Answer, Mistake, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    let (record, wait) = (|| p.record(ready, first), || p.wait(second, ready));
    for value in [2, 3] {
        p.set(first, &x, value)?;
        match p.way {
            Mistake if value == 3 => (wait()?, record()?),
            _ => (record()?, wait()?),
        };
        p.copy(second, &y, &x)?;
        p.synchronize(second)?;
    }
    p.synchronize(first)?;
    p.expect(&y, &[3; 4])
}
