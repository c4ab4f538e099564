//! The input of the next launch of a graph is uploaded on another stream while the last launch may still read.
//!
//! On a GPU: the launch may see the next input. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the upload waits for the launch, as the next launch waits for the upload.

use crate::programs::{Answer, Mode, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (compute, transfer, input) = (p.stream()?, p.stream()?, p.pinned()?);
    let (read, there) = (p.event()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1])?, p.buffer("y", &[0])?);
    let copy_out = p.kernel(kernels::COPY_OUT, "copy_out")?;
    p.begin_capture(compute, Mode::Relaxed)?;
    p.launch(compute, copy_out, [1, 1], &[x.address(), y.address()])?;
    let exec = p.instantiate(p.end_capture(compute)?)?;
    let replay = || p.replay(exec, compute);
    input.write(2);
    replay()?;
    if p.way == NearMiss {
        p.record(read, compute)?;
        p.wait(transfer, read)?;
    }
    p.upload_pinned(transfer, &x, input)?;
    p.record(there, transfer)?;
    p.wait(compute, there)?;
    replay()?;
    p.synchronize(compute)?;
    p.expect(&y, &[2])
}
