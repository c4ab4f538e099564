//! The second stream waits for the first.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (first, second, done, x) = (p.stream()?, p.stream()?, p.event()?, p.buffer("x", &[1; 4])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.launch(first, add_one, [1, 4], &[x.address(), 4])?;
    p.record(done, first)?;
    p.wait(second, done)?;
    p.launch(second, add_one, [1, 4], &[x.address(), 4])?;
    p.synchronize(second)?;
    p.expect(&x, &[3; 4])
}
