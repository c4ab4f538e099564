//! A free node of a graph comes after nothing, and so may run before its allocation.
//!
//! On a GPU: the graph is instantiated and nothing is said.
//!
//! Near miss: the free comes after the last use.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let graph = p.graph()?;
    let (allocated, x) = p.add_alloc(graph, &[], "x", 4)?;
    let used = p.add_set(graph, &[allocated], &x, 1)?;
    let after: &[_] = match p.way {
        Mistake => &[],
        NearMiss => &[used],
    };
    p.add_free(graph, after, &x)?;
    let exec = p.instantiate(graph)?;
    if p.way == NearMiss {
        let (stream, y) = (p.stream()?, p.buffer("y", &[3; 4])?);
        p.replay(exec, stream)?;
        p.synchronize(stream)?;
        p.expect(&y, &[3; 4])?;
    }
    Ok(())
}
