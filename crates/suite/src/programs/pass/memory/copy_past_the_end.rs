//! Copies as many numbers as both hold.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[1, 2, 3, 4])?, p.buffer("y", &[0; 5])?);
    p.copy(stream, &y.with_len(4), &x)?;
    p.synchronize(stream)?;
    p.expect(&y, &[1, 2, 3, 4, 0])
}
