//! A kernel adds to numbers that nobody has written.
//!
//! On a GPU: fresh memory often holds zeros, and then the program works, until the memory was used before.
//!
//! Near miss: the memory is set first.

use crate::programs::{Answer, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("histogram", 3)?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    if p.way == NearMiss {
        p.set(stream, &x, 0)?;
    }
    p.launch(stream, add_one, [1, 32], &[x.address(), 3])?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 3])
}
