//! Frees the same memory twice.
//!
//! On a GPU: INVALID_VALUE, unless the address was handed out again in between: then somebody else's memory is gone.
//!
//! Near miss: frees each memory once. (Freeing null is allowed, and does nothing.)

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[2; 4])?);
    p.free(&x)?;
    p.expect(&y, &[2; 4])?;
    match p.way {
        Mistake => p.free(&x),
        NearMiss => p.free(&y),
    }
}
