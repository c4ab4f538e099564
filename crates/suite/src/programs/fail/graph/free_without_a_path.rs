//! A free node of a graph comes after nothing, and so may run before its allocation.
//!
//! On a GPU: the graph is instantiated and nothing is said.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let graph = p.graph()?;
    let (allocated, x) = p.add_alloc(graph, &[], "x", 4)?;
    p.add_set(graph, &[allocated], &x, 1)?;
    p.add_free(graph, &[], &x)?;
    p.instantiate(graph).map(|_| ())
}
