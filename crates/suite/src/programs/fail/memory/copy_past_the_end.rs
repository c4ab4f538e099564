//! Copies five numbers from memory that holds four.
//!
//! On a GPU: INVALID_VALUE, and nothing is copied: the driver knows the exact size of what it handed out.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[1, 2, 3, 4])?, p.empty("y", 5)?);
    p.copy(stream, &y, &x)
}
