//! The host sets the flag first, and then waits.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, flag, x) = (p.stream()?, p.pinned()?, p.empty("x", 1)?);
    let wait = p.kernel(kernels::WAIT_FOR_HOST, "wait_for_host")?;
    p.launch(stream, wait, [1, 1], &[flag.address(), x.address()])?;
    flag.write(1);
    p.synchronize(stream)?;
    p.expect(&x, &[1])
}
