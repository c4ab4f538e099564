//! Destroys a texture object before the kernel that reads through it is launched.
//!
//! On a GPU: the handle is a number of a table, and what the kernel reads depends on what that line of the table says by
//! then. Nothing is said.
//!
//! Near miss: the object is destroyed after the kernel.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, array, out) = (p.stream()?, p.array(4, 4)?, p.empty("out", 1)?);
    p.fill_array(array, &[7; 16], 4, 4)?;
    let (sample, texture) = (p.kernel(kernels::SAMPLE, "sample")?, p.texture(array)?);
    let launch = || p.launch(stream, sample, [1, 1], &[texture, 1, 1, out.address()]);
    match p.way {
        Mistake => (p.destroy_texture(texture)?, launch()?),
        NearMiss => (launch()?, p.synchronize(stream)?),
    };
    p.synchronize(stream)?;
    p.expect(&out, &[7])
}
