//! Frees memory that a captured kernel uses, and launches the graph once more.
//!
//! On a GPU: nothing checks a graph's pointers. This very program ends without an error on an H200: the kernel has changed
//! whatever lies there now. It faults if one is lucky.

use crate::programs::{Answer, Mode, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("activations", &[1, 2, 3])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.launch(stream, add_one, [1, 32], &[x.address(), 3])?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.free(&x)?;
    p.buffer("someone else's", &[7, 7, 7])?;
    p.replay(exec, stream)?;
    p.synchronize(stream)
}
