//! Each thread reads its right neighbour's number in shared memory; the last one has no neighbour.
//!
//! On a GPU: ILLEGAL_ADDRESS on an H200, from the next call that waits. Which thread, and which array, it does not say.
//!
//! Near miss: the launch asks for one number more, which the first thread writes.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 32)?);
    let neighbour = p.kernel(kernels::NEIGHBOUR, "neighbour")?;
    let numbers = match p.way {
        Mistake => 32,
        NearMiss => 33,
    };
    p.launch_with_shared(stream, neighbour, [1, 32], 4 * numbers, &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &(1..32).chain([99]).collect::<Vec<u32>>())
}
