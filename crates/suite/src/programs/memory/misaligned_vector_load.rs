//! Loads four numbers at once from an address that is a multiple of 4 and not of 16: a view into the middle of an
//! array.
//!
//! On a GPU: MISALIGNED_ADDRESS from the next call that waits, and from every call after it.
//!
//! Near miss: the view begins at a multiple of 16 bytes.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, sum) = (p.stream()?, p.buffer("x", &[1, 2, 3, 4, 5, 6, 7, 8])?, p.empty("sum", 1)?);
    let sum_of_4 = p.kernel(kernels::SUM_OF_4, "sum_of_4")?;
    let offset = match p.way {
        Mistake => 4,
        NearMiss => 16,
    };
    p.launch(stream, sum_of_4, [1, 1], &[x.address() + offset, sum.address()])?;
    p.synchronize(stream)?;
    p.expect(&sum, &[26])
}
