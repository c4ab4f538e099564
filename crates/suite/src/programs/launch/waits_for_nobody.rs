//! A kernel waits for a flag in pinned host memory; the host waits for the kernel before it sets the flag.
//!
//! On a GPU: neither ever ends.
//!
//! Near miss: the host sets the flag first, and then waits.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, flag, x) = (p.stream()?, p.pinned()?, p.empty("x", 1)?);
    let wait = p.kernel(kernels::WAIT_FOR_HOST, "wait_for_host")?;
    p.launch(stream, wait, [1, 1], &[flag.address(), x.address()])?;
    let synchronize = || p.synchronize(stream);
    match p.way {
        Mistake => (synchronize()?, flag.write(1)),
        NearMiss => (flag.write(1), synchronize()?),
    };
    p.expect(&x, &[1])
}
