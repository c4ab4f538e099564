//! Asks for a kernel by its name in the CUDA source, where C++ gave it another one.
//!
//! On a GPU: NOT_FOUND.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let module = p.load(&kernels::ADD_ONE.replace("add_one", "_Z7add_onePjj"))?;
    p.function(module, "add_one")?;
    Ok(())
}
