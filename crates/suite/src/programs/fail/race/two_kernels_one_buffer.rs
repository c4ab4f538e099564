//! Two streams add to the same numbers, and nobody waits for anybody.
//!
//! On a GPU: an addition may be lost. Nothing is said.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (first, second, x) = (p.stream()?, p.stream()?, p.buffer("x", &[1; 4])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(first, add_one, [1, 4], &[x.address(), 4])?;
    p.launch(second, add_one, [1, 4], &[x.address(), 4])?;
    p.synchronize(first)?;
    p.synchronize(second)
}
