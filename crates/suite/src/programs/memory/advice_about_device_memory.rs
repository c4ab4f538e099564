//! Gives advice about memory of `cuMemAlloc`, which is where it is.
//!
//! On a GPU: INVALID_VALUE.
//!
//! Near miss: the memory is managed.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let stream = p.stream()?;
    let x = match p.way {
        Mistake => p.empty("x", 4)?,
        NearMiss => p.managed("x", 4)?,
    };
    p.advise(&x)?;
    p.set(stream, &x, 7)?;
    p.synchronize(stream)?;
    p.expect(&x, &[7; 4])
}
