//! Divides by two.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[84])?);
    let divide = p.kernel(kernels::DIVIDE, "divide")?;
    p.launch(stream, divide, [1, 1], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[42])
}
