//! A capturing stream waits for an event that was recorded on a stream outside the capture.
//!
//! On a GPU: STREAM_CAPTURE_ISOLATION, and the capture is broken: a replay could not wait for work that is long past.
//!
//! Near miss: the stream waits for the event when it launches the graph, not while it captures.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, upload, ready) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    let wait = || p.wait(stream, ready);
    p.set(upload, &x, 3)?;
    p.record(ready, upload)?;
    p.begin_capture(stream, Mode::Relaxed)?;
    if p.way == Mistake {
        let _ = wait();
    }
    let _ = p.copy(stream, &y, &x);
    let exec = p.instantiate(p.end_capture(stream)?)?;
    if p.way == NearMiss {
        wait()?;
    }
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&y, &[3; 4])
}
