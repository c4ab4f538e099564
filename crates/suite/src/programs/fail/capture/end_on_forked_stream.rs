//! Ends the capture on the stream that joined it, not on the one where it began.
//!
//! On a GPU: STREAM_CAPTURE_UNMATCHED, both streams are left in a broken capture, and only an end on the first one frees
//! them.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, side, forked) = (p.stream()?, p.stream()?, p.event()?);
    let x = p.empty("x", 4)?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.record(forked, stream)?;
    p.wait(side, forked)?;
    p.set(side, &x, 1)?;
    let _ = p.end_capture(side);
    p.end_capture(stream)?;
    Ok(())
}
