//! Sets memory on a stream after destroying it.
//!
//! On a GPU: the driver follows the old handle and crashes, or the work lands on a stream that was created since.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (old, x) = (p.stream()?, p.empty("x", 4)?);
    p.destroy_stream(old)?;
    // Another stream now lies where the first one was.
    p.stream()?;
    p.set(old, &x, 1)
}
