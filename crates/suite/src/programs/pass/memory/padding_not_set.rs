//! The whole row is set.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, row) = (p.stream()?, p.empty("row", 8)?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.set(stream, &row, 0)?;
    p.launch(stream, add_one, [1, 32], &[row.address(), 8])?;
    p.synchronize(stream)?;
    p.expect(&row, &[1; 8])
}
