//! The upload waits for the launch, and the next launch for the upload.

use crate::programs::{Answer, Mode, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (compute, transfer, input, read, there) = (p.stream()?, p.stream()?, p.pinned()?, p.event()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1])?, p.buffer("y", &[0])?);
    let copy_out = p.kernel(kernels::COPY_OUT, "copy_out")?;
    p.begin_capture(compute, Mode::Relaxed)?;
    p.launch(compute, copy_out, [1, 1], &[x.address(), y.address()])?;
    let exec = p.instantiate(p.end_capture(compute)?)?;
    input.write(2);
    p.replay(exec, compute)?;
    p.record(read, compute)?;
    p.wait(transfer, read)?;
    p.upload_pinned(transfer, &x, input)?;
    p.record(there, transfer)?;
    p.wait(compute, there)?;
    p.replay(exec, compute)?;
    p.synchronize(compute)?;
    p.expect(&y, &[2])
}
