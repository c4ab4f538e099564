//! It gives back the one that it holds.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (graph, object, x) = (p.graph()?, p.user_object()?, p.buffer("x", &[4])?);
    p.retain_object(graph, object)?;
    p.release_object(graph, object, 1)?;
    p.expect(&x, &[4])
}
