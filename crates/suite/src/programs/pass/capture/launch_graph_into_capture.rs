//! The larger graph takes the smaller one as a child node.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.empty("x", 4)?, p.empty("y", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    let inner = p.end_capture(stream)?;

    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &y, 2)?;
    let outer = p.end_capture(stream)?;
    p.add_child(outer, &[], inner)?;
    let exec = p.instantiate(outer)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])?;
    p.expect(&y, &[2; 4])
}
