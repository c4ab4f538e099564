//! Asks for the time between two events that were created with CU_EVENT_DISABLE_TIMING.
//!
//! On a GPU: INVALID_HANDLE, although both handles are good.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    let (start, end) = (p.event_without_time()?, p.event_without_time()?);
    p.record(start, stream)?;
    p.set(stream, &x, 1)?;
    p.record(end, stream)?;
    p.synchronize(stream)?;
    p.elapsed(start, end)?;
    Ok(())
}
