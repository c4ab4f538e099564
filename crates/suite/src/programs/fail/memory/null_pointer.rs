//! Passes a null pointer to a kernel.
//!
//! On a GPU: ILLEGAL_ADDRESS from the next call that waits, and from every call after it; nothing says which kernel.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let stream = p.stream()?;
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(stream, add_one, [1, 32], &[0, 3])?;
    let _ = p.synchronize(stream);
    p.stream()?;
    Ok(())
}
