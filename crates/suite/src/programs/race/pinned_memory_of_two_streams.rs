//! Two streams copy to the same number in pinned host memory.
//!
//! On a GPU: which of the two numbers is left is luck. Nothing is said.
//!
//! Near miss: each stream has a number of its own.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, one) = (p.stream()?, p.stream()?, p.pinned()?);
    let (x, y) = (p.buffer("x", &[1])?, p.buffer("y", &[2])?);
    let two = match p.way {
        Mistake => one,
        NearMiss => p.pinned()?,
    };
    p.download_pinned(first, one, &x)?;
    p.download_pinned(second, two, &y)?;
    p.synchronize(first)?;
    p.synchronize(second)?;
    p.expect_number("the first number", one.read(), 1);
    p.expect_number("the second number", two.read(), 2);
    Ok(())
}
