//! The condition has a default.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 4])?);
    let graph = p.graph()?;
    let condition = p.condition(graph, Some(1))?;
    let body = p.add_if(graph, &[], condition)?;
    p.add_set(body, &[], &x, 1)?;
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
