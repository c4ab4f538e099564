//! Makes a texture of eight numbers over memory that holds four, and reads the sixth.
//!
//! On a GPU: the texture is made, and the kernel reads what lies behind the memory. Nothing is said.
//!
//! Near miss: the memory holds eight numbers.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let numbers: &[u32] = match p.way {
        Mistake => &[1, 2, 3, 4],
        NearMiss => &[1, 2, 3, 4, 5, 6, 7, 8],
    };
    let (stream, x, out) = (p.stream()?, p.buffer("x", numbers)?, p.empty("out", 1)?);
    let (fetch, texture) = (p.kernel(kernels::FETCH, "fetch")?, p.linear_texture(&x.with_len(8))?);
    p.launch(stream, fetch, [1, 1], &[texture, 5, out.address()])?;
    p.synchronize(stream)?;
    p.expect(&out, &[6])
}
