//! Records an event with CU_EVENT_RECORD_EXTERNAL on a stream that does not capture.
//!
//! On a GPU: ILLEGAL_STATE, and the event is not recorded; whoever waits for it then waits for nothing.
//!
//! Near miss: a plain record outside a capture, and the reader waits for it.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, reader, done) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.set(stream, &x, 1)?;
    match p.way {
        Mistake => p.record_external(done, stream)?,
        NearMiss => p.record(done, stream)?,
    }
    p.wait(reader, done)?;
    p.copy(reader, &y, &x)?;
    p.synchronize(reader)?;
    p.expect(&y, &[1; 4])
}
