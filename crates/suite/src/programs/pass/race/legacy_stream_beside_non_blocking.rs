//! The stream is a blocking one: it waits for the legacy stream.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, legacy) = (p.blocking_stream()?, dacapo_driver::types::CUstream::NULL);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.set(legacy, &x, 2)?;
    p.copy(stream, &y, &x)?;
    p.synchronize(stream)?;
    p.expect(&y, &[2; 4])
}
