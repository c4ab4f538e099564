//! Work on the legacy stream sets a buffer, and a stream made with `CU_STREAM_NON_BLOCKING` reads it: the legacy stream orders
//! itself with blocking streams only.
//!
//! On a GPU: the copy may come first. Nothing is said; the numbers depend on luck.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, legacy) = (p.stream()?, dacapo_driver::types::CUstream::NULL);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.set(legacy, &x, 2)?;
    p.copy(stream, &y, &x)?;
    p.synchronize(legacy)?;
    p.synchronize(stream)
}
