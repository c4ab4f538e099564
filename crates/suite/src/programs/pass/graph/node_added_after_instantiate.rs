//! Adds both nodes first; then each can be changed in the executable graph.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x, y) = (p.stream()?, p.graph()?, p.empty("x", 4)?, p.empty("y", 4)?);
    p.add_set(graph, &[], &x, 1)?;
    let second = p.add_set(graph, &[], &y, 2)?;
    let exec = p.instantiate(graph)?;
    p.change_set(exec, second, &y, 3)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])?;
    p.expect(&y, &[3; 4])
}
