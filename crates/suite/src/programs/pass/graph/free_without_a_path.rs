//! The free comes after the last use.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let graph = p.graph()?;
    let (allocated, x) = p.add_alloc(graph, &[], "x", 4)?;
    let used = p.add_set(graph, &[allocated], &x, 1)?;
    p.add_free(graph, &[used], &x)?;
    let exec = p.instantiate(graph)?;
    let (stream, y) = (p.stream()?, p.buffer("y", &[3; 4])?);
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&y, &[3; 4])
}
