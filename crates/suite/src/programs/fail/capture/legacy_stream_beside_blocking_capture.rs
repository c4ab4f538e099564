//! Copies synchronously while a stream captures that was created without CU_STREAM_NON_BLOCKING.
//!
//! On a GPU: the copy runs on the legacy stream, which waits for every blocking stream; it is refused with
//! STREAM_CAPTURE_IMPLICIT and the capture is broken, in every mode and from every thread.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.blocking_stream()?, p.buffer("x", &[5; 4])?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    let _ = p.read(&x);
    p.end_capture(stream)?;
    Ok(())
}
