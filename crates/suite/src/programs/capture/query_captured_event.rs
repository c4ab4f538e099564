//! Asks whether an event has happened that was recorded in a capture.
//!
//! On a GPU: CAPTURED_EVENT, and the capture is broken: nothing runs while one captures, so there is nothing to ask
//! about.
//!
//! Near miss: the graph records the event itself, so that after a launch it can be asked about.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, done, x) = (p.stream()?, p.event()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    match p.way {
        Mistake => {
            p.record(done, stream)?;
            let _ = p.query(done);
        }
        NearMiss => p.record_external(done, stream)?,
    }
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.query(done)?;
    p.expect(&x, &[1; 4])
}
