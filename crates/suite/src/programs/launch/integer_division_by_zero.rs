//! Divides an integer by zero.
//!
//! On a GPU: no fault; the quotient is some number (PTX ISA, `div`: unspecified and machine-specific).
//!
//! Near miss: divides by two.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[84])?);
    let divide = p.kernel(kernels::DIVIDE, "divide")?;
    let by = match p.way {
        Mistake => 0,
        NearMiss => 2,
    };
    p.launch(stream, divide, [1, 1], &[x.address(), by])?;
    p.synchronize(stream)?;
    p.expect(&x, &[42])
}
