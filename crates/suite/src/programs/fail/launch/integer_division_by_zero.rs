//! Divides an integer by zero.
//!
//! On a GPU: no fault; the quotient is some number (PTX ISA, `div`: unspecified and machine-specific).

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[84])?);
    let divide = p.kernel(kernels::DIVIDE, "divide")?;
    p.launch(stream, divide, [1, 1], &[x.address(), 0])?;
    p.synchronize(stream)
}
