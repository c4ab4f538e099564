//! Launches an executable graph after destroying it.
//!
//! On a GPU: INVALID_VALUE, as long as nothing else was given the same handle.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x) = (p.stream()?, p.graph()?, p.empty("x", 4)?);
    p.add_set(graph, &[], &x, 1)?;
    let exec = p.instantiate(graph)?;
    p.destroy_exec(exec)?;
    p.replay(exec, stream)
}
