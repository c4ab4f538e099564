//! Launches a kernel on managed memory that was freed before.
//!
//! On a GPU: small pieces of managed memory share a larger one that stays mapped, so the kernel changes what nobody owns, or
//! what somebody else does by now. Nothing is said.
//!
//! Near miss: the memory is freed after the kernel.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.managed("x", 32)?, p.empty("y", 32)?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let launch = || p.launch(stream, add_one, [1, 32], &[x.address(), 32]);
    match p.way {
        Mistake => (p.free(&x)?, launch()?),
        NearMiss => (launch()?, p.copy(stream, &y, &x)?),
    };
    p.synchronize(stream)?;
    p.expect(&y, &[1; 32])
}
