//! Memory of a pool is freed on one stream while another one may still use it.
//!
//! On a GPU: the pool may give the memory to somebody else while the copy reads it. Nothing is said.
//!
//! Near miss: the free waits for the other stream.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, used, y) = (p.stream()?, p.stream()?, p.event()?, p.buffer("y", &[0; 4])?);
    let x = p.pooled(first, "x", 4)?;
    p.set(first, &x, 1)?;
    p.record(used, first)?;
    p.wait(second, used)?;
    p.copy(second, &y, &x)?;
    match p.way {
        // The copy has run by then, and nobody knows.
        Mistake => p.linger()?,
        NearMiss => {
            p.record(used, second)?;
            p.wait(first, used)?;
        }
    }
    p.free_in(first, &x)?;
    p.synchronize(first)?;
    p.synchronize(second)?;
    p.expect(&y, &[1; 4])
}
