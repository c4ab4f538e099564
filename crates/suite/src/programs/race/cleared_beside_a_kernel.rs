//! A buffer is cleared on one stream while a kernel on another still counts in it.
//!
//! On a GPU: what is left depends on luck. Nothing is said.
//!
//! Near miss: it is cleared behind the kernel, on the same stream.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (compute, other, x) = (p.stream()?, p.stream()?, p.buffer("counts", &[5; 4])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(compute, add_one, [1, 4], &[x.address(), 4])?;
    let clear = match p.way {
        Mistake => other,
        NearMiss => compute,
    };
    p.set(clear, &x, 0)?;
    p.synchronize(compute)?;
    p.synchronize(clear)?;
    p.expect(&x, &[0; 4])
}
