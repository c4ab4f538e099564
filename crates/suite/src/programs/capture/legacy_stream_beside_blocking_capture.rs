//! Copies synchronously while a stream captures that was created without CU_STREAM_NON_BLOCKING.
//!
//! On a GPU: the copy runs on the legacy stream, which waits for every blocking stream; it is refused with
//! STREAM_CAPTURE_IMPLICIT and the capture is broken, in every mode and from every thread.
//!
//! Near miss: a non-blocking stream captures, and the two have nothing to do with each other.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let stream = match p.way {
        Mistake => p.blocking_stream()?,
        NearMiss => p.stream()?,
    };
    let x = p.buffer("x", &[5; 4])?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    let _ = p.read(&x);
    p.expect(&x, &[5; 4])?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
