//! Adds an edge back to an earlier node, so that each of two nodes comes after the other.
//!
//! On a GPU: the edge is accepted; the graph is refused with INVALID_VALUE when it is instantiated.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (graph, x) = (p.graph()?, p.empty("x", 4)?);
    let first = p.add_set(graph, &[], &x, 1)?;
    let second = p.add_set(graph, &[first], &x, 2)?;
    p.add_edge(graph, second, first)?;
    p.instantiate(graph)?;
    Ok(())
}
