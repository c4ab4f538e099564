//! Updates an executable graph from a graph with one node more.
//!
//! On a GPU: GRAPH_EXEC_UPDATE_FAILURE; the executable graph launches as before, so a program that does not look goes
//! on with the old work.
//!
//! Near miss: the new graph has the same nodes and edges, and other values.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.empty("x", 4)?, p.empty("y", 4)?);
    let (old, new) = (p.graph()?, p.graph()?);
    for (graph, value) in [(old, 1), (new, 2)] {
        let first = p.add_set(graph, &[], &x, value)?;
        if p.way == NearMiss || graph == new {
            p.add_set(graph, &[first], &y, value)?;
        }
    }
    let exec = p.instantiate(old)?;
    let _ = p.update(exec, new);
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    let value = match p.way {
        Mistake => 1,
        NearMiss => 2,
    };
    p.expect_both_ways(&x, &[value; 4])?;
    p.expect(&y, &[value; 4])
}
