//! The event that the second stream waits for is recorded in front of the work that it is about.
//!
//! On a GPU: the wait is over before the buffer is set. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the event is recorded behind the work.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    let (set, record) = (|| p.set(first, &x, 2), || p.record(ready, first));
    match p.way {
        Mistake => (record()?, set()?),
        NearMiss => (set()?, record()?),
    };
    p.wait(second, ready)?;
    p.copy(second, &y, &x)?;
    p.synchronize(first)?;
    p.synchronize(second)?;
    p.expect(&y, &[2; 4])
}
