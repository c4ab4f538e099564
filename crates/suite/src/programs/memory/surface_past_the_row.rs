//! Reads a surface behind the last number of a row.
//!
//! On a GPU: ILLEGAL_ADDRESS from the next call that waits, and from every call after it: `.trap` is what compilers write
//! unless they are told otherwise.
//!
//! Near miss: reads the last number.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, array, out) = (p.stream()?, p.array(4, 4)?, p.empty("out", 1)?);
    p.fill_array(array, &[5, 6, 7, 8], 4, 1)?;
    let (pick, surface) = (p.kernel(kernels::PICK, "pick")?, p.surface(array)?);
    let x = match p.way {
        Mistake => 16,
        NearMiss => 12,
    };
    p.launch(stream, pick, [1, 1], &[surface, x, 0, out.address()])?;
    p.synchronize(stream)?;
    p.expect(&out, &[8])
}
