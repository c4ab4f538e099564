//! A kernel waits for a flag in pinned host memory; the host waits for the kernel before it sets the flag.
//!
//! On a GPU: neither ever ends.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, flag, x) = (p.stream()?, p.pinned()?, p.empty("x", 1)?);
    let wait = p.kernel(kernels::WAIT_FOR_HOST, "wait_for_host")?;
    p.launch(stream, wait, [1, 1], &[flag.address(), x.address()])?;
    p.synchronize(stream)?;
    flag.write(1);
    Ok(())
}
