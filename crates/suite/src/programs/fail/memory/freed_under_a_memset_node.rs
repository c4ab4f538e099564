//! Frees memory that a memset node of a graph writes, and launches the graph.
//!
//! On a GPU: the launch is accepted; the wait answers LAUNCH_FAILED, and so does every call after it.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x) = (p.stream()?, p.graph()?, p.empty("counters", 4)?);
    p.add_set(graph, &[], &x, 0)?;
    let exec = p.instantiate(graph)?;
    p.free(&x)?;
    p.replay(exec, stream)?;
    let _ = p.synchronize(stream);
    p.empty("anything", 4)?;
    Ok(())
}
