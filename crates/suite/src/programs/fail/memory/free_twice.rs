//! Frees the same memory twice.
//!
//! On a GPU: INVALID_VALUE, unless the address was handed out again in between: then somebody else's memory is gone.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let x = p.buffer("x", &[1; 4])?;
    p.free(&x)?;
    p.free(&x)
}
