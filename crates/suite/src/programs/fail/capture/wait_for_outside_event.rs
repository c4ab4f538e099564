//! A capturing stream waits for an event that was recorded on a stream outside the capture.
//!
//! On a GPU: STREAM_CAPTURE_ISOLATION, and the capture is broken: a replay could not wait for work that is long past.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, upload, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.set(upload, &x, 3)?;
    p.record(ready, upload)?;
    p.begin_capture(stream, Mode::Relaxed)?;
    let _ = p.wait(stream, ready);
    let _ = p.copy(stream, &y, &x);
    p.end_capture(stream)?;
    Ok(())
}
