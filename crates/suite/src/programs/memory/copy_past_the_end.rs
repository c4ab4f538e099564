//! Copies five numbers from memory that holds four.
//!
//! On a GPU: INVALID_VALUE, and nothing is copied: the driver knows the exact size of what it handed out.
//!
//! Near miss: copies as many numbers as both hold.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[1, 2, 3, 4])?, p.buffer("y", &[0; 5])?);
    let target = match p.way {
        Mistake => y.clone(),
        NearMiss => y.with_len(x.len()),
    };
    p.copy(stream, &target, &x)?;
    p.synchronize(stream)?;
    p.expect(&y, &[1, 2, 3, 4, 0])
}
