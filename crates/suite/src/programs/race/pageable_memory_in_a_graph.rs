//! A copy from an array on the stack is captured: the graph keeps the address and not the numbers.
//!
//! On a GPU: each launch reads whatever lies there by then. Nothing is said. Here the array happens to live on.
//!
//! Near miss: the copy is from pinned memory, which lives as long as the graph.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, pinned) = (p.stream()?, p.buffer("x", &[0; 4])?, p.pinned()?);
    let numbers = [5, 0, 0, 0];
    pinned.write(numbers[0]);
    p.begin_capture(stream, Mode::Relaxed)?;
    match p.way {
        Mistake => p.upload(stream, &x, &numbers)?,
        NearMiss => p.upload_pinned(stream, &x, pinned)?,
    }
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect_both_ways(&x, &numbers)
}
