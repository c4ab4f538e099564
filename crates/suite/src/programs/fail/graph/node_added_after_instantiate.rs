//! Adds a node to the graph and then changes that node in the executable graph, which was made before.
//!
//! On a GPU: INVALID_VALUE: an executable graph is a copy, and the node is not in it.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (graph, x, y) = (p.graph()?, p.empty("x", 4)?, p.empty("y", 4)?);
    p.add_set(graph, &[], &x, 1)?;
    let exec = p.instantiate(graph)?;
    let late = p.add_set(graph, &[], &y, 2)?;
    p.change_set(exec, late, &y, 3)
}
