//! Reads an array of one row by an integer, as linear memory is read.
//!
//! On a GPU: every read gives 0, and nothing is said.
//!
//! Near miss: the texture is over linear memory.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, out) = (p.stream()?, p.buffer("x", &[1, 2, 3, 4])?, p.empty("out", 1)?);
    let fetch = p.kernel(kernels::FETCH, "fetch")?;
    let texture = match p.way {
        Mistake => p.texture(p.array(4, 0)?)?,
        NearMiss => p.linear_texture(&x)?,
    };
    p.launch(stream, fetch, [1, 1], &[texture, 2, out.address()])?;
    p.synchronize(stream)?;
    p.expect(&out, &[3])
}
