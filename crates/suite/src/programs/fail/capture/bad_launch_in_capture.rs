//! Launches a kernel with no blocks while capturing: the division rounded down.
//!
//! On a GPU: INVALID_VALUE as outside a capture, and the capture is broken with it. (A bad copy is refused likewise, but
//! leaves the capture alone.)

use crate::programs::{Answer, Mode, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2, 3])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let blocks = x.len() as u32 / 32;
    p.begin_capture(stream, Mode::Relaxed)?;
    let _ = p.launch(stream, add_one, [blocks, 32], &[x.address(), x.len() as u64]);
    p.end_capture(stream)?;
    Ok(())
}
