//! Frees memory that a memset node of a graph writes, and launches the graph.
//!
//! On a GPU: the launch is accepted; the wait answers LAUNCH_FAILED, and so does every call after it.
//!
//! Near miss: the node is given the new memory before the old one is freed.

use crate::programs::{Answer, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x) = (p.stream()?, p.graph()?, p.empty("counters", 4)?);
    let node = p.add_set(graph, &[], &x, 0)?;
    let exec = p.instantiate(graph)?;
    let larger = p.empty("more counters", 8)?;
    if p.way == NearMiss {
        p.change_set(exec, node, &larger, 0)?;
    }
    p.free(&x)?;
    p.replay(exec, stream)?;
    let _ = p.synchronize(stream);
    p.empty("anything", 4)?;
    p.expect(&larger, &[0; 8])
}
