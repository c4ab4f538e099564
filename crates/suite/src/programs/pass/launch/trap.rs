//! The argument is in range.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 4])?);
    let checked = p.kernel(kernels::CHECKED, "checked")?;
    p.launch(stream, checked, [1, 1], &[x.address(), 3])?;
    p.synchronize(stream)?;
    p.expect(&x, &[0, 0, 0, 1])
}
