//! Loads four numbers at once from an address that is a multiple of 4 and not of 16: a view into the middle of an array.
//!
//! On a GPU: MISALIGNED_ADDRESS from the next call that waits, and from every call after it.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, sum) = (p.stream()?, p.buffer("x", &[1, 2, 3, 4, 5, 6, 7, 8])?, p.empty("sum", 1)?);
    let sum_of_4 = p.kernel(kernels::SUM_OF_4, "sum_of_4")?;
    p.launch(stream, sum_of_4, [1, 1], &[x.address() + 4, sum.address()])?;
    p.synchronize(stream)
}
