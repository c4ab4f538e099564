//! Six of the eight numbers of a padded row are set, and the kernel goes through all eight.
//!
//! On a GPU: the padding holds what was there before, often zero. Nothing is said.
//!
//! Near miss: the whole row is set.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, row) = (p.stream()?, p.empty("row", 8)?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let len = match p.way {
        Mistake => 6,
        NearMiss => 8,
    };
    p.set(stream, &row.with_len(len), 0)?;
    p.launch(stream, add_one, [1, 32], &[row.address(), 8])?;
    p.synchronize(stream)?;
    p.expect(&row, &[1; 8])
}
