//! Ends the capture on the stream that joined it, not on the one where it began.
//!
//! On a GPU: STREAM_CAPTURE_UNMATCHED, both streams are left in a broken capture, and only an end on the first one
//! frees them.
//!
//! Near miss: the stream where the capture began waits for the other one, and ends it.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, side, forked, joined) = (p.stream()?, p.stream()?, p.event()?, p.event()?);
    let x = p.empty("x", 4)?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.record(forked, stream)?;
    p.wait(side, forked)?;
    p.set(side, &x, 1)?;
    match p.way {
        Mistake => drop(p.end_capture(side)),
        NearMiss => {
            p.record(joined, side)?;
            p.wait(stream, joined)?;
        }
    }
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, side)?;
    p.synchronize(side)?;
    p.expect(&x, &[1; 4])
}
