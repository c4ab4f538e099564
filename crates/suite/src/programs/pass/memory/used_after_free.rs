//! The memory is freed behind the kernel.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, _neighbour) = (p.stream()?, p.buffer("x", &[1; 4])?, p.buffer("neighbour", &[1; 4])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(stream, add_one, [1, 4], &[x.address(), 4])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])?;
    p.free(&x)
}
