//! A kernel finds its argument out of range and executes `trap`.
//!
//! On a GPU: LAUNCH_FAILED from the next call that waits, and from every call after it.
//!
//! Near miss: the argument is in range.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 4])?);
    let checked = p.kernel(kernels::CHECKED, "checked")?;
    let index = match p.way {
        Mistake => 4,
        NearMiss => 3,
    };
    p.launch(stream, checked, [1, 1], &[x.address(), index])?;
    let _ = p.synchronize(stream);
    p.read(&x)?;
    p.expect(&x, &[0, 0, 0, 1])
}
