//! The input of the next launch of a graph is uploaded on another stream while the last launch may still read.
//!
//! On a GPU: the launch may see the next input. Nothing is said; the numbers depend on luck.

use crate::programs::{Answer, Mode, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (compute, transfer, input) = (p.stream()?, p.stream()?, p.pinned()?);
    let (x, y) = (p.buffer("x", &[1])?, p.buffer("y", &[0])?);
    let copy_out = p.kernel(kernels::COPY_OUT, "copy_out")?;
    p.begin_capture(compute, Mode::Relaxed)?;
    p.launch(compute, copy_out, [1, 1], &[x.address(), y.address()])?;
    let exec = p.instantiate(p.end_capture(compute)?)?;
    input.write(2);
    p.replay(exec, compute)?;
    p.upload_pinned(transfer, &x, input)?;
    p.synchronize(transfer)?;
    p.replay(exec, compute)?;
    p.synchronize(compute)
}
