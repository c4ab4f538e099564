//! The free waits for the other stream.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, used, y) = (p.stream()?, p.stream()?, p.event()?, p.buffer("y", &[0; 4])?);
    let x = p.pooled(first, "x", 4)?;
    p.set(first, &x, 1)?;
    p.synchronize(first)?;
    p.copy(second, &y, &x)?;
    p.record(used, second)?;
    p.wait(first, used)?;
    p.free_in(first, &x)?;
    p.synchronize(first)?;
    p.expect(&y, &[1; 4])
}
