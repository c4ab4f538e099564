//! Waits, in a second capture, for an event that was last recorded in a first one that is over.
//!
//! On a GPU: INVALID_VALUE, and the second capture is broken.
//!
//! Near miss: the event is recorded anew in the second capture before anyone waits for it.

use crate::programs::{Answer, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, done, x) = (p.stream()?, p.event()?, p.empty("x", 4)?);
    let capture = |body: &dyn Fn() -> Answer| {
        p.begin_capture(stream, Mode::Relaxed)?;
        body()?;
        p.end_capture(stream)
    };
    let work = |value| {
        p.set(stream, &x, value)?;
        p.record(done, stream)
    };
    capture(&|| work(1))?;
    let second = capture(&|| {
        if p.way == NearMiss {
            work(2)?;
        }
        let _ = p.wait(stream, done);
        Ok(())
    })?;
    p.replay(p.instantiate(second)?, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 4])
}
