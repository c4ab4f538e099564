//! Launches a kernel with two parameters and gives it none.
//!
//! On a GPU: INVALID_VALUE if `kernelParams` is null; if the array is only too short, whatever lies behind it is taken.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let stream = p.stream()?;
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(stream, add_one, [1, 32], &[])
}
