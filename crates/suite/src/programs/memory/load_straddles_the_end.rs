//! Loads four numbers at once at the last one of five: only the first of them is in the array.
//!
//! On a GPU: the other three are read from whatever lies behind it, because memory is mapped in large pieces. Nothing is
//! said.
//!
//! Near miss: the array is as long as the last load reaches.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let numbers: &[u32] = match p.way {
        Mistake => &[1, 2, 3, 4, 5],
        NearMiss => &[1, 2, 3, 4, 5, 6, 7, 8],
    };
    let (stream, x, sum) = (p.stream()?, p.buffer("x", numbers)?, p.empty("sum", 1)?);
    let sum_of_4 = p.kernel(kernels::SUM_OF_4, "sum_of_4")?;
    p.launch(stream, sum_of_4, [1, 1], &[x.address() + 16, sum.address()])?;
    p.synchronize(stream)?;
    p.expect(&sum, &[26])
}
