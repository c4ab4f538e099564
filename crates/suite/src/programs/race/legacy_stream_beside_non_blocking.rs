//! Work on the legacy stream sets a buffer, and a stream made with `CU_STREAM_NON_BLOCKING` reads it: the legacy stream
//! orders itself with blocking streams only.
//!
//! On a GPU: the copy may come first. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the stream is a blocking one: it waits for the legacy stream.

use dacapo_driver::types::CUstream;

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let legacy = CUstream::NULL;
    let stream = match p.way {
        Mistake => p.stream()?,
        NearMiss => p.blocking_stream()?,
    };
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.set(legacy, &x, 2)?;
    p.copy(stream, &y, &x)?;
    p.synchronize(legacy)?;
    p.synchronize(stream)?;
    p.expect(&y, &[2; 4])
}
