//! It is cleared behind the kernel, on the same stream.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (compute, x) = (p.stream()?, p.buffer("counts", &[5; 4])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(compute, add_one, [1, 4], &[x.address(), 4])?;
    p.set(compute, &x, 0)?;
    p.synchronize(compute)?;
    p.expect(&x, &[0; 4])
}
