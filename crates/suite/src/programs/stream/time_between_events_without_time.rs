//! Asks for the time between two events that were created with CU_EVENT_DISABLE_TIMING.
//!
//! On a GPU: INVALID_HANDLE, although both handles are good.
//!
//! Near miss: the events keep time.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    let event = || match p.way {
        Mistake => p.event_without_time(),
        NearMiss => p.event(),
    };
    let (start, end) = (event()?, event()?);
    p.record(start, stream)?;
    p.set(stream, &x, 1)?;
    p.record(end, stream)?;
    p.synchronize(stream)?;
    assert!(p.elapsed(start, end)? > 0.0);
    p.expect(&x, &[1; 4])
}
