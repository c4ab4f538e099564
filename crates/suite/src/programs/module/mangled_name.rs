//! Asks for a kernel by its name in the CUDA source, where C++ gave it another one.
//!
//! On a GPU: NOT_FOUND.
//!
//! Near miss: asks by the name that C++ gave it; `extern "C"` in the source would keep the short one.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let module = p.load(&kernels::ADD_ONE.replace("add_one", "_Z7add_onePjj"))?;
    let name = match p.way {
        Mistake => "add_one",
        NearMiss => "_Z7add_onePjj",
    };
    let add_one = p.function(module, name)?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
