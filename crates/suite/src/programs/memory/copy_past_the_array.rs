//! Copies five rows into an array that has four.
//!
//! On a GPU: INVALID_VALUE, and nothing is copied.
//!
//! Near miss: copies as many rows as the array has.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, array, out) = (p.stream()?, p.array(4, 4)?, p.empty("out", 1)?);
    let rows = match p.way {
        Mistake => 5,
        NearMiss => 4,
    };
    p.fill_array(array, &[7; 20], 4, rows)?;
    let (sample, texture) = (p.kernel(kernels::SAMPLE, "sample")?, p.texture(array)?);
    p.launch(stream, sample, [1, 1], &[texture, 3, 3, out.address()])?;
    p.synchronize(stream)?;
    p.expect(&out, &[7])
}
