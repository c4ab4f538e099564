//! Allocates from a host function that a stream calls.
//!
//! On a GPU: every driver call from there answers NOT_PERMITTED. A wait for the function's own stream hangs.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let stream = p.stream()?;
    p.host_function(stream, |p| {
        let _ = p.empty("scratch", 4);
    })?;
    p.synchronize(stream)
}
