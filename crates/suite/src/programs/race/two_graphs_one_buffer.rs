//! Two executable graphs that set the same buffer are launched on two streams.
//!
//! On a GPU: which of the two numbers is left is luck. Nothing is said.
//!
//! Near miss: the host waits for the first launch before it makes the second.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, x) = (p.stream()?, p.stream()?, p.buffer("x", &[0; 4])?);
    let set_to = |value: u32| {
        let graph = p.graph()?;
        p.add_set(graph, &[], &x, value)?;
        p.instantiate(graph)
    };
    let (one, two) = (set_to(1)?, set_to(2)?);
    p.replay(one, first)?;
    let (launch, wait) = (|| p.replay(two, second), || p.synchronize(first));
    match p.way {
        Mistake => (launch()?, wait()?),
        NearMiss => (wait()?, launch()?),
    };
    p.synchronize(second)?;
    p.expect(&x, &[2; 4])
}
