//! Destroys an array, and then launches a kernel that reads it through a texture.
//!
//! On a GPU: the memory may still be mapped, and the kernel then reads what was there, or what somebody else has put there.
//!
//! Near miss: the array is destroyed after the kernel.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, array, out) = (p.stream()?, p.array(4, 4)?, p.empty("out", 1)?);
    p.fill_array(array, &[7; 16], 4, 4)?;
    let (sample, texture) = (p.kernel(kernels::SAMPLE, "sample")?, p.texture(array)?);
    let launch = || p.launch(stream, sample, [1, 1], &[texture, 1, 1, out.address()]);
    match p.way {
        Mistake => (p.destroy_array(array)?, launch()?),
        NearMiss => (launch()?, p.synchronize(stream)?),
    };
    p.synchronize(stream)?;
    p.expect(&out, &[7])
}
