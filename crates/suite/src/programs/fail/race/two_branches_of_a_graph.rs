//! Two nodes of a graph set the same buffer, and no edge orders them.
//!
//! On a GPU: which of the two numbers is left is luck. Nothing is said.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 4])?);
    let graph = p.graph()?;
    p.add_set(graph, &[], &x, 1)?;
    p.add_set(graph, &[], &x, 2)?;
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)
}
