//! One stream launches a graph, another one copies what the graph changes.
//!
//! On a GPU: the copy may see old numbers, or some of each. Nothing is said.
//!
//! Near miss: the stream of the copy waits for the launch.

use crate::programs::{Answer, Mode, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (compute, transfer, done, x) = (p.stream()?, p.stream()?, p.event()?, p.buffer("x", &[1; 4])?);
    let (y, add_one) = (p.buffer("y", &[0; 4])?, p.kernel(kernels::ADD_ONE, "add_one")?);
    p.begin_capture(compute, Mode::Relaxed)?;
    p.launch(compute, add_one, [1, 4], &[x.address(), 4])?;
    let exec = p.instantiate(p.end_capture(compute)?)?;
    p.replay(exec, compute)?;
    if p.way == NearMiss {
        p.record(done, compute)?;
        p.wait(transfer, done)?;
    }
    p.copy(transfer, &y, &x)?;
    p.synchronize(compute)?;
    p.synchronize(transfer)?;
    p.expect(&y, &[2; 4])
}
