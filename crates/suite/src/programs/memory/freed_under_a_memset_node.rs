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
    // Only here: beside other memory the old one would stay mapped, and a GPU would not notice.
    let larger = if p.way == NearMiss { Some(p.empty("more counters", 8)?) } else { None };
    if let Some(larger) = &larger {
        p.change_set(exec, node, larger, 0)?;
    }
    p.free(&x)?;
    p.replay(exec, stream)?;
    let _ = p.synchronize(stream);
    p.empty("anything", 4)?;
    larger.map_or(Ok(()), |larger| p.expect(&larger, &[0; 8]))
}
