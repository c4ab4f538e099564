//! One stream sets a buffer, another one reads it, and nobody waits for anybody.
//!
//! On a GPU: the kernel may come first. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the second stream waits for an event of the first.

use crate::programs::{Answer, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (first, second, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    let copy_out = p.kernel(kernels::COPY_OUT, "copy_out")?;
    p.set(first, &x, 2)?;
    if p.way == NearMiss {
        p.record(ready, first)?;
        p.wait(second, ready)?;
    }
    p.launch(second, copy_out, [1, 4], &[x.address(), y.address()])?;
    p.synchronize(first)?;
    p.synchronize(second)?;
    p.expect(&y, &[2; 4])
}
