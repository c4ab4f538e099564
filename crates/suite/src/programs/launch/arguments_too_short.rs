//! The arguments are given in one buffer, and its size leaves out the last one.
//!
//! On a GPU: what is not given reads as zero. Nothing is said; here the kernel has nothing to do.
//!
//! Near miss: the size is that of all arguments.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let bytes = match p.way {
        Mistake => 8,
        NearMiss => 12,
    };
    p.launch_with_buffer(stream, add_one, &[x.address(), 1], bytes)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2])
}
