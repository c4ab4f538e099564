//! Launches a kernel with no blocks while capturing: the division rounded down.
//!
//! On a GPU: INVALID_VALUE as outside a capture, and the capture is broken with it. (A bad copy is refused likewise,
//! but leaves the capture alone.)
//!
//! Near miss: the division rounds up, and the kernel itself looks where its data ends.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2, 3])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let blocks = match p.way {
        Mistake => x.len() / 32,
        NearMiss => x.len().div_ceil(32),
    };
    p.begin_capture(stream, Mode::Relaxed)?;
    let _ = p.launch(stream, add_one, [blocks as u32, 32], &[x.address(), x.len() as u64]);
    let exec = p.instantiate(p.end_capture(stream)?)?;
    for _ in 0..2 {
        p.replay(exec, stream)?;
    }
    p.synchronize(stream)?;
    p.expect(&x, &[3, 4, 5])
}
