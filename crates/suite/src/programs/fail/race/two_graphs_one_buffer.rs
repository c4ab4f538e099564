//! Two executable graphs that set the same buffer are launched on two streams.
//!
//! On a GPU: which of the two numbers is left is luck. Nothing is said.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, x) = (p.stream()?, p.stream()?, p.buffer("x", &[0; 4])?);
    let set_to = |value: u32| {
        let graph = p.graph()?;
        p.add_set(graph, &[], &x, value)?;
        p.instantiate(graph)
    };
    let (one, two) = (set_to(1)?, set_to(2)?);
    p.replay(one, first)?;
    p.replay(two, second)?;
    p.synchronize(first)?;
    p.synchronize(second)
}
