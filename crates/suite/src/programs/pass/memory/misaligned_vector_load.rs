//! The view begins at a multiple of 16 bytes.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, sum) = (p.stream()?, p.buffer("x", &[1, 2, 3, 4, 5, 6, 7, 8])?, p.empty("sum", 1)?);
    let sum_of_4 = p.kernel(kernels::SUM_OF_4, "sum_of_4")?;
    p.launch(stream, sum_of_4, [1, 1], &[x.address() + 16, sum.address()])?;
    p.synchronize(stream)?;
    p.expect(&sum, &[26])
}
