//! A copy from an array on the stack is captured: the graph keeps the address and not the numbers.
//!
//! On a GPU: each launch reads whatever lies there by then. Nothing is said. Here the array happens to live on.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 4])?);
    let numbers = [1, 2, 3, 4];
    p.begin_capture(stream, Mode::Relaxed)?;
    p.upload(stream, &x, &numbers)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &numbers)
}
