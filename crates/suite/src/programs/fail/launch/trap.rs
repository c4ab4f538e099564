//! A kernel finds its argument out of range and executes `trap`.
//!
//! On a GPU: LAUNCH_FAILED from the next call that waits, and from every call after it.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    let checked = p.kernel(kernels::CHECKED, "checked")?;
    p.launch(stream, checked, [1, 1], &[x.address(), 4])?;
    let _ = p.synchronize(stream);
    p.read(&x)?;
    Ok(())
}
