//! The next number is uploaded on a second stream while a kernel of the first may still read the last one.
//!
//! On a GPU: the kernel may see the next number. Nothing is said; the numbers depend on luck.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (compute, transfer, input) = (p.stream()?, p.stream()?, p.pinned()?);
    let (x, y) = (p.buffer("x", &[1])?, p.buffer("y", &[0])?);
    let copy_out = p.kernel(kernels::COPY_OUT, "copy_out")?;
    input.write(2);
    p.launch(compute, copy_out, [1, 1], &[x.address(), y.address()])?;
    p.upload_pinned(transfer, &x, input)?;
    p.synchronize(compute)?;
    p.synchronize(transfer)
}
