//! Passes a null pointer to a kernel.
//!
//! On a GPU: ILLEGAL_ADDRESS from the next call that waits, and from every call after it; nothing says which kernel.
//!
//! Near miss: a null pointer does no harm to a kernel that does not follow it.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2, 3])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let len = match p.way {
        Mistake => 3,
        NearMiss => 0,
    };
    p.launch(stream, add_one, [1, 32], &[0, len])?;
    let _ = p.synchronize(stream);
    let next = p.stream()?;
    p.launch(next, add_one, [1, 32], &[x.address(), 3])?;
    p.synchronize(next)?;
    p.expect(&x, &[2, 3, 4])
}
