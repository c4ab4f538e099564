//! The node is given the new memory before the old one is freed.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x) = (p.stream()?, p.graph()?, p.empty("counters", 4)?);
    let node = p.add_set(graph, &[], &x, 0)?;
    let exec = p.instantiate(graph)?;
    let larger = p.empty("more counters", 8)?;
    p.change_set(exec, node, &larger, 0)?;
    p.free(&x)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&larger, &[0; 8])
}
