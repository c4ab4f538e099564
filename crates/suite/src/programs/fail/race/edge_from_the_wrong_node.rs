//! The last node of a graph comes after the node that sets another buffer than the one it changes.
//!
//! On a GPU: which of the two numbers is left is luck. Nothing is said.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[0; 4])?, p.buffer("y", &[0; 4])?);
    let graph = p.graph()?;
    p.add_set(graph, &[], &x, 1)?;
    let y_is_set = p.add_set(graph, &[], &y, 2)?;
    p.add_set(graph, &[y_is_set], &x, 3)?;
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)
}
