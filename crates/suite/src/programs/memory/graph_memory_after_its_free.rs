//! A graph allocates memory, sets it and frees it; behind the launch a kernel reads the address once more.
//!
//! On a GPU: what backs the memory of graphs is still mapped. Nothing is said; the numbers are there until another
//! graph runs.
//!
//! Near miss: the memory is freed by the stream, behind the kernel.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, y) = (p.stream()?, p.buffer("y", &[0; 4])?);
    let copy_out = p.kernel(kernels::COPY_OUT, "copy_out")?;
    p.begin_capture(stream, Mode::Relaxed)?;
    let x = p.pooled(stream, "x", 4)?;
    let free = || p.free_in(stream, &x);
    p.set(stream, &x, 5)?;
    if p.way == Mistake {
        free()?;
    }
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.launch(stream, copy_out, [1, 4], &[x.address(), y.address()])?;
    if p.way == NearMiss {
        free()?;
    }
    p.synchronize(stream)?;
    p.expect(&y, &[5; 4])
}
