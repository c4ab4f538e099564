//! The launch asks for one number more, which the first thread writes.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 32)?);
    let neighbour = p.kernel(kernels::NEIGHBOUR, "neighbour")?;
    p.launch_with_shared(stream, neighbour, [1, 32], 4 * 33, &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &std::array::from_fn::<u32, 32, _>(|lane| if lane < 31 { lane as u32 + 1 } else { 99 }))
}
