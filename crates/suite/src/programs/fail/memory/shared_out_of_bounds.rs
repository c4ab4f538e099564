//! Each thread reads its right neighbour's number in shared memory; the last one has no neighbour.
//!
//! On a GPU: ILLEGAL_ADDRESS on an H200, from the next call that waits. Which thread, and which array, it does not say.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 32)?);
    let neighbour = p.kernel(kernels::NEIGHBOUR, "neighbour")?;
    p.launch_with_shared(stream, neighbour, [1, 32], 4 * 32, &[x.address()])?;
    p.synchronize(stream)
}
