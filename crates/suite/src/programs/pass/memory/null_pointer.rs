//! A null pointer does no harm to a kernel that does not follow it.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2, 3])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(stream, add_one, [1, 32], &[0, 0])?;
    p.launch(stream, add_one, [1, 32], &[x.address(), 3])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3, 4])
}
