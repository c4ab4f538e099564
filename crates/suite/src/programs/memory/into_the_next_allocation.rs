//! A kernel is given the length of two arrays together, and goes on into the one that lies behind the first.
//!
//! On a GPU: the other array is changed. Nothing is said, and a redzone between the two is jumped over by some threads.
//!
//! Near miss: the kernel is given the length of its own array.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[1; 100])?, p.buffer("y", &[1; 100])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let len = match p.way {
        Mistake => x.len() + y.len(),
        NearMiss => x.len(),
    };
    p.launch(stream, add_one, [7, 32], &[x.address(), len as u64])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 100])?;
    p.expect(&y, &[1; 100])
}
