//! Six of the eight numbers of a padded row are set, and the kernel goes through all eight.
//!
//! On a GPU: the padding holds what was there before, often zero. Nothing is said.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, row) = (p.stream()?, p.empty("row", 8)?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.set(stream, &row.with_len(6), 0)?;
    p.launch(stream, add_one, [1, 32], &[row.address(), 8])?;
    p.synchronize(stream)
}
