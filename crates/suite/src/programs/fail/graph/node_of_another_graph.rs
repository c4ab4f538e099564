//! Adds a node that is to come after a node of another graph.
//!
//! On a GPU: INVALID_VALUE, and no node is added. A program that goes on has a graph without that work.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (one, other, x) = (p.graph()?, p.graph()?, p.empty("x", 4)?);
    let first = p.add_set(one, &[], &x, 1)?;
    p.add_set(other, &[first], &x, 2)?;
    Ok(())
}
