//! Each stream has a number of its own.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second) = (p.stream()?, p.stream()?);
    let (one, two) = (p.pinned()?, p.pinned()?);
    let (x, y) = (p.buffer("x", &[1])?, p.buffer("y", &[2])?);
    p.download_pinned(first, one, &x)?;
    p.download_pinned(second, two, &y)?;
    p.synchronize(first)?;
    p.synchronize(second)?;
    p.expect_number("the first number", one.read(), 1);
    p.expect_number("the second number", two.read(), 2);
    Ok(())
}
