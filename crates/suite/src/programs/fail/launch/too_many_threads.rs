//! Launches blocks of 2048 threads.
//!
//! On a GPU: INVALID_VALUE, which does not say that 1024 is the most. The kernel does not run, and no later call knows.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1; 2048])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(stream, add_one, [1, 2048], &[x.address(), 2048])
}
