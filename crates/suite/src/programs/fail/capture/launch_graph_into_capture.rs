//! Launches a graph into a stream that is capturing, to make it part of a larger graph.
//!
//! On a GPU: STREAM_CAPTURE_UNSUPPORTED, and the capture is broken. A graph launch never becomes a child node.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    let inner = p.instantiate(p.end_capture(stream)?)?;

    p.begin_capture(stream, Mode::Relaxed)?;
    let _ = p.replay(inner, stream);
    p.end_capture(stream)?;
    Ok(())
}
