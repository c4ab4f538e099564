//! A kernel is launched with the address of memory that was freed the line before.
//!
//! On a GPU: memory is mapped in large pieces, and this one is still in use by a neighbour. Nothing is said; whoever gets the
//! memory next finds other numbers in it.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, _neighbour) = (p.stream()?, p.buffer("x", &[1; 4])?, p.buffer("neighbour", &[1; 4])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.free(&x)?;
    p.launch(stream, add_one, [1, 4], &[x.address(), 4])?;
    p.synchronize(stream)
}
