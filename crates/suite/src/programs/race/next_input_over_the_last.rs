//! The next number is uploaded on a second stream while a kernel of the first may still read the last one.
//!
//! On a GPU: the kernel may see the next number. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the upload waits for the kernel.

use crate::programs::{Answer, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (compute, transfer, input, read) = (p.stream()?, p.stream()?, p.pinned()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1])?, p.buffer("y", &[0])?);
    let copy_out = p.kernel(kernels::COPY_OUT, "copy_out")?;
    input.write(2);
    p.launch(compute, copy_out, [1, 1], &[x.address(), y.address()])?;
    if p.way == NearMiss {
        p.record(read, compute)?;
        p.wait(transfer, read)?;
    }
    p.upload_pinned(transfer, &x, input)?;
    p.synchronize(compute)?;
    p.synchronize(transfer)?;
    p.expect(&y, &[1])?;
    p.expect(&x, &[2])
}
