//! The edge comes from the node that sets the same buffer.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[0; 4])?, p.buffer("y", &[0; 4])?);
    let graph = p.graph()?;
    let x_is_set = p.add_set(graph, &[], &x, 1)?;
    p.add_set(graph, &[], &y, 2)?;
    p.add_set(graph, &[x_is_set], &x, 3)?;
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[3; 4])?;
    p.expect(&y, &[2; 4])
}
