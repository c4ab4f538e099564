//! An IF node asks a condition that has no default and that no kernel sets.
//!
//! On a GPU: whatever lies there chooses. Nothing is said.
//!
//! Near miss: the condition has a default.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 4])?);
    let graph = p.graph()?;
    let opt_default = match p.way {
        Mistake => None,
        NearMiss => Some(1),
    };
    let condition = p.condition(graph, opt_default)?;
    let body = p.add_if(graph, &[], condition)?;
    p.add_set(body, &[], &x, 1)?;
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
