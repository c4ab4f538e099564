//! Launches an executable graph after destroying it.
//!
//! On a GPU: INVALID_VALUE, as long as nothing else was given the same handle.
//!
//! Near miss: destroys it right after its launch: the work goes on without it. Its template may go first.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x) = (p.stream()?, p.graph()?, p.empty("x", 4)?);
    p.add_set(graph, &[], &x, 1)?;
    let exec = p.instantiate(graph)?;
    p.destroy_graph(graph)?;
    let (launch, destroy) = (|| p.replay(exec, stream), || p.destroy_exec(exec));
    match p.way {
        Mistake => (destroy()?, launch()?),
        NearMiss => (launch()?, destroy()?),
    };
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
