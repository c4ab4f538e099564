//! The division rounds up, and the kernel itself looks where its data ends.

use crate::programs::{Answer, Mode, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2, 3])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let blocks = x.len().div_ceil(32) as u32;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.launch(stream, add_one, [blocks, 32], &[x.address(), x.len() as u64])?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[3, 4, 5])
}
