//! A pool gives out memory again on one stream, and another stream uses it without waiting for that.
//!
//! On a GPU: the memory may still be in use by who had it before. Nothing is said.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second) = (p.stream()?, p.stream()?);
    let before = p.pooled(first, "before", 4)?;
    p.set(first, &before, 1)?;
    p.free_in(first, &before)?;
    let x = p.pooled(first, "x", 4)?;
    // It is there by now, and nobody knows.
    p.linger()?;
    p.set(second, &x, 2)?;
    p.synchronize(second)?;
    p.synchronize(first)
}
