//! Waits for a stream that is capturing.
//!
//! On a GPU: the wait answers STREAM_CAPTURE_UNSUPPORTED and breaks the capture, in every mode. Most programs notice at
//! the end of the capture only, where the answer is STREAM_CAPTURE_INVALIDATED and says nothing of the wait.
//!
//! Near miss: waits for the stream after the capture has ended and its graph was launched.

use crate::programs::{Answer, Mistake, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    if p.way == Mistake {
        let _ = p.synchronize(stream);
    }
    let _ = p.set(stream, &x, 2);
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])
}
