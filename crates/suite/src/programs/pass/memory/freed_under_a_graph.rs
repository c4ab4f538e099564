//! The memory lives until the last launch has been waited for.

use crate::programs::{Answer, Mode, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("activations", &[1, 2, 3])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.launch(stream, add_one, [1, 32], &[x.address(), 3])?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    let other = p.buffer("someone else's", &[7, 7, 7])?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[3, 4, 5])?;
    p.expect(&other, &[7, 7, 7])?;
    p.free(&x)
}
