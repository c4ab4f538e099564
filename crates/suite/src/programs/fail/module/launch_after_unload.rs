//! Launches a kernel after its module was unloaded.
//!
//! On a GPU: INVALID_HANDLE, as long as nothing else was given the same handle.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let module = p.load(kernels::ADD_ONE)?;
    let add_one = p.function(module, "add_one")?;
    p.unload(module)?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])
}
