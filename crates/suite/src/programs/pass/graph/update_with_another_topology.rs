//! The new graph has the same nodes and edges, and other values.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.empty("x", 4)?, p.empty("y", 4)?);
    let (old, new) = (p.graph()?, p.graph()?);
    for (graph, value) in [(old, 1), (new, 2)] {
        let first = p.add_set(graph, &[], &x, value)?;
        p.add_set(graph, &[first], &y, value)?;
    }
    let exec = p.instantiate(old)?;
    p.update(exec, new)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])?;
    p.expect(&y, &[2; 4])
}
