//! Launches twice as many blocks of 1024 threads.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1; 2048])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(stream, add_one, [2, 1024], &[x.address(), 2048])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 2048])
}
