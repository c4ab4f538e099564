//! Reads a surface at texel 1 of a row, where the byte is wanted.
//!
//! On a GPU: MISALIGNED_ADDRESS from the next call that waits, and from every call after it. Texel 4 would be the wrong
//! number without a word.
//!
//! Near miss: the coordinate counts bytes.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, array, out) = (p.stream()?, p.array(4, 4)?, p.empty("out", 1)?);
    p.fill_array(array, &[5, 6, 7, 8], 4, 1)?;
    let (pick, surface) = (p.kernel(kernels::PICK, "pick")?, p.surface(array)?);
    let x = match p.way {
        Mistake => 1,
        NearMiss => 4,
    };
    p.launch(stream, pick, [1, 1], &[surface, x, 0, out.address()])?;
    p.synchronize(stream)?;
    p.expect(&out, &[6])
}
