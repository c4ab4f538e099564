//! Adds a node that is to come after a node of another graph.
//!
//! On a GPU: INVALID_VALUE, and no node is added. A program that goes on has a graph without that work.
//!
//! Near miss: the first graph becomes a child of the second, and the node comes after that.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (one, other, stream, x) = (p.graph()?, p.graph()?, p.stream()?, p.empty("x", 4)?);
    let set = p.add_set(one, &[], &x, 1)?;
    let first = match p.way {
        Mistake => set,
        NearMiss => p.add_child(other, &[], one)?,
    };
    p.add_set(other, &[first], &x, 2)?;
    let exec = p.instantiate(other)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])
}
