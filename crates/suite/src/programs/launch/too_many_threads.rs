//! Launches blocks of 2048 threads.
//!
//! On a GPU: INVALID_VALUE, which does not say that 1024 is the most. The kernel does not run, and no later call knows.
//!
//! Near miss: launches twice as many blocks of 1024 threads.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1; 2048])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let shape = match p.way {
        Mistake => [1, 2048],
        NearMiss => [2, 1024],
    };
    p.launch(stream, add_one, shape, &[x.address(), 2048])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 2048])
}
