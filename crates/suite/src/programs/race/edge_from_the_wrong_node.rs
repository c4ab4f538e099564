//! The last node of a graph comes after the node that sets another buffer than the one it changes.
//!
//! On a GPU: which of the two numbers is left is luck. Nothing is said.
//!
//! Near miss: the edge comes from the node that sets the same buffer.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[0; 4])?, p.buffer("y", &[0; 4])?);
    let graph = p.graph()?;
    let x_is_set = p.add_set(graph, &[], &x, 1)?;
    let y_is_set = p.add_set(graph, &[], &y, 2)?;
    let after = match p.way {
        Mistake => y_is_set,
        NearMiss => x_is_set,
    };
    p.add_set(graph, &[after], &x, 3)?;
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[3; 4])?;
    p.expect(&y, &[2; 4])
}
