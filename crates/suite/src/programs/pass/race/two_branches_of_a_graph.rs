//! An edge orders the two.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 4])?);
    let graph = p.graph()?;
    let first = p.add_set(graph, &[], &x, 1)?;
    p.add_set(graph, &[first], &x, 2)?;
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])
}
