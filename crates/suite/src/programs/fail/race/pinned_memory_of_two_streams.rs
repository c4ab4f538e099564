//! Two streams copy to the same number in pinned host memory.
//!
//! On a GPU: which of the two numbers is left is luck. Nothing is said.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, number) = (p.stream()?, p.stream()?, p.pinned()?);
    let (x, y) = (p.buffer("x", &[1])?, p.buffer("y", &[2])?);
    p.download_pinned(first, number, &x)?;
    p.download_pinned(second, number, &y)?;
    p.synchronize(first)?;
    p.synchronize(second)
}
