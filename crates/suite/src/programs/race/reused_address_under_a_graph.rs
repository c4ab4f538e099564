//! Memory that a graph uses is freed, and the pool gives its address to somebody else before the graph is launched
//! again.
//!
//! On a GPU: the graph changes the other one's numbers. Nothing is said.
//!
//! Near miss: the memory is freed behind the last launch of the graph.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let stream = p.stream()?;
    let x = p.pooled(stream, "x", 4)?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    let replay = || p.replay(exec, stream);
    replay()?;
    if p.way == NearMiss {
        replay()?;
    }
    p.free_in(stream, &x)?;
    let y = p.pooled(stream, "y", 5)?;
    p.set(stream, &y, 7)?;
    if p.way == Mistake {
        replay()?;
    }
    p.synchronize(stream)?;
    p.expect(&y, &[7; 5])
}
