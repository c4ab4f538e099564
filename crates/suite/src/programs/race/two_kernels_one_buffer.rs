//! Two streams add to the same numbers, and nobody waits for anybody.
//!
//! On a GPU: an addition may be lost. Nothing is said.
//!
//! Near miss: the second stream waits for the first.

use crate::programs::{Answer, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (first, second, done, x) = (p.stream()?, p.stream()?, p.event()?, p.buffer("x", &[1; 4])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(first, add_one, [1, 4], &[x.address(), 4])?;
    if p.way == NearMiss {
        p.record(done, first)?;
        p.wait(second, done)?;
    }
    p.launch(second, add_one, [1, 4], &[x.address(), 4])?;
    p.synchronize(first)?;
    p.synchronize(second)?;
    p.expect(&x, &[3; 4])
}
