//! The size is that of all arguments.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch_with_buffer(stream, add_one, &[x.address(), 1], 12)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2])
}
