//! The memory is freed behind the last launch of the graph.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let stream = p.stream()?;
    let x = p.pooled(stream, "x", 4)?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.replay(exec, stream)?;
    p.free_in(stream, &x)?;
    let y = p.pooled(stream, "y", 5)?;
    p.set(stream, &y, 7)?;
    p.synchronize(stream)?;
    p.expect(&y, &[7; 5])
}
