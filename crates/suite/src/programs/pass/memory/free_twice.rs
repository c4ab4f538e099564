//! Frees each memory once. (Freeing null is allowed, and does nothing.)

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[2; 4])?);
    p.free(&x)?;
    p.expect(&y, &[2; 4])?;
    p.free(&y)
}
