//! Asks for the kernel by the name that C++ gave it; `extern "C"` in the source would keep the short one.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let module = p.load(&kernels::ADD_ONE.replace("add_one", "_Z7add_onePjj"))?;
    let add_one = p.function(module, "_Z7add_onePjj")?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
