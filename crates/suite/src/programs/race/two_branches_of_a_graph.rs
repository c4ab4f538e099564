//! Two nodes of a graph set the same buffer, and no edge orders them.
//!
//! On a GPU: which of the two numbers is left is luck. Nothing is said.
//!
//! Near miss: an edge orders the two.

use crate::programs::{Answer, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 4])?);
    let graph = p.graph()?;
    let first = p.add_set(graph, &[], &x, 1)?;
    let second = p.add_set(graph, &[], &x, 2)?;
    if p.way == NearMiss {
        p.add_edge(graph, first, second)?;
    }
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])
}
