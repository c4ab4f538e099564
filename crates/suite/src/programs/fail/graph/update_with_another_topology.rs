//! Updates an executable graph from a graph with one node more.
//!
//! On a GPU: GRAPH_EXEC_UPDATE_FAILURE; the executable graph launches as before, so a program that does not look goes on
//! with the old work.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.empty("x", 4)?, p.empty("y", 4)?);
    let (old, new) = (p.graph()?, p.graph()?);
    p.add_set(old, &[], &x, 1)?;
    let exec = p.instantiate(old)?;
    let first = p.add_set(new, &[], &x, 2)?;
    p.add_set(new, &[first], &y, 2)?;
    let _ = p.update(exec, new);
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
