//! Destroys the executable graph right after its launch: the work goes on without it. Its template may go first.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x) = (p.stream()?, p.graph()?, p.empty("x", 4)?);
    p.add_set(graph, &[], &x, 1)?;
    let exec = p.instantiate(graph)?;
    p.destroy_graph(graph)?;
    p.replay(exec, stream)?;
    p.destroy_exec(exec)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
