//! Records an event with CU_EVENT_RECORD_EXTERNAL on a stream that does not capture.
//!
//! On a GPU: ILLEGAL_STATE, and the event is not recorded; whoever waits for it then waits for nothing.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, done) = (p.stream()?, p.event()?);
    p.record_external(done, stream)
}
