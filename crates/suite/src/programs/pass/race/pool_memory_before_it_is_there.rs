//! The second stream waits for an event behind the allocation.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, there) = (p.stream()?, p.stream()?, p.event()?);
    let before = p.pooled(first, "before", 4)?;
    p.set(first, &before, 1)?;
    p.free_in(first, &before)?;
    let x = p.pooled(first, "x", 4)?;
    p.record(there, first)?;
    p.wait(second, there)?;
    p.set(second, &x, 2)?;
    p.synchronize(second)?;
    p.expect(&x, &[2; 4])
}
