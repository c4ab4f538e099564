//! Memory that a graph uses is freed, and the pool gives its address to somebody else before the graph is launched again.
//!
//! On a GPU: the graph changes the other one's numbers. Nothing is said.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let stream = p.stream()?;
    let x = p.pooled(stream, "x", 4)?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.free_in(stream, &x)?;
    let y = p.pooled(stream, "y", 5)?;
    p.set(stream, &y, 7)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)
}
