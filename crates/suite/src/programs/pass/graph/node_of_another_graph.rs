//! The first graph becomes a child of the second, and the node comes after that.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (one, other, stream, x) = (p.graph()?, p.graph()?, p.stream()?, p.empty("x", 4)?);
    p.add_set(one, &[], &x, 1)?;
    let first = p.add_child(other, &[], one)?;
    p.add_set(other, &[first], &x, 2)?;
    let exec = p.instantiate(other)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])
}
