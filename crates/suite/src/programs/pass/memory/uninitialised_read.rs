//! The memory is set first.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("histogram", 3)?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.set(stream, &x, 0)?;
    p.launch(stream, add_one, [1, 32], &[x.address(), 3])?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 3])
}
