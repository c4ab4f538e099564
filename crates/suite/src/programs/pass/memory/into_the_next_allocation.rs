//! The kernel is given the length of its own array.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[1; 100])?, p.buffer("y", &[1; 100])?);
    let (add_one, len) = (p.kernel(kernels::ADD_ONE, "add_one")?, x.len());
    p.launch(stream, add_one, [7, 32], &[x.address(), len as u64])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 100])?;
    p.expect(&y, &[1; 100])
}
