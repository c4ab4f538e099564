//! The edges all point one way.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x) = (p.stream()?, p.graph()?, p.empty("x", 4)?);
    let first = p.add_set(graph, &[], &x, 1)?;
    let second = p.add_set(graph, &[], &x, 2)?;
    p.add_edge(graph, first, second)?;
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])
}
