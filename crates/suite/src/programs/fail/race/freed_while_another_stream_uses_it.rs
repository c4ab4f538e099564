//! Memory of a pool is freed on one stream while another one may still use it.
//!
//! On a GPU: the pool may give the memory to somebody else while the copy reads it. Nothing is said.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, y) = (p.stream()?, p.stream()?, p.buffer("y", &[0; 4])?);
    let x = p.pooled(first, "x", 4)?;
    p.set(first, &x, 1)?;
    p.synchronize(first)?;
    p.copy(second, &y, &x)?;
    // It has run by now, and nobody knows.
    p.linger()?;
    p.free_in(first, &x)?;
    p.synchronize(first)?;
    p.synchronize(second)
}
