//! Adds an edge back to an earlier node, so that each of two nodes comes after the other.
//!
//! On a GPU: the edge is accepted; the graph is refused with INVALID_VALUE when it is instantiated.
//!
//! Near miss: the edges all point one way.

use crate::programs::{Answer, Mistake, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x) = (p.stream()?, p.graph()?, p.empty("x", 4)?);
    let first = p.add_set(graph, &[], &x, 1)?;
    let second = p.add_set(graph, &[], &x, 2)?;
    p.add_edge(graph, first, second)?;
    if p.way == Mistake {
        p.add_edge(graph, second, first)?;
    }
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])
}
