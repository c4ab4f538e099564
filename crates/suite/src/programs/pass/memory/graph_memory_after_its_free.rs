//! The memory is freed by the stream, behind the kernel.

use crate::programs::{Answer, Mode, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, y) = (p.stream()?, p.buffer("y", &[0; 4])?);
    let copy_out = p.kernel(kernels::COPY_OUT, "copy_out")?;
    p.begin_capture(stream, Mode::Relaxed)?;
    let x = p.pooled(stream, "x", 4)?;
    p.set(stream, &x, 5)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.launch(stream, copy_out, [1, 4], &[x.address(), y.address()])?;
    p.free_in(stream, &x)?;
    p.synchronize(stream)?;
    p.expect(&y, &[5; 4])
}
