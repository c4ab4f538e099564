//! A pool gives out memory again on one stream, and another stream uses it without waiting for that.
//!
//! On a GPU: the memory may still be in use by who had it before. Nothing is said.
//!
//! Near miss: the second stream waits for an event behind the allocation.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, there) = (p.stream()?, p.stream()?, p.event()?);
    let before = p.pooled(first, "before", 4)?;
    p.set(first, &before, 1)?;
    p.free_in(first, &before)?;
    let x = p.pooled(first, "x", 4)?;
    match p.way {
        // The memory is there by then, and nobody knows.
        Mistake => p.linger()?,
        NearMiss => {
            p.record(there, first)?;
            p.wait(second, there)?;
        }
    }
    p.set(second, &x, 2)?;
    p.synchronize(second)?;
    p.synchronize(first)?;
    p.expect(&x, &[2; 4])
}
