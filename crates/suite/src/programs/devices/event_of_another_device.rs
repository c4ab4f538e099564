//! Records an event that was created while another device's context was current.
//!
//! On a GPU: INVALID_HANDLE, by the manual: an event and the stream that it is recorded on are of one context. Not asked of
//! a machine with two GPUs.
//!
//! Near miss: creates the event on the device of the stream; the other device may wait for it.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    p.go_to(1)?;
    let (first, x) = (p.stream()?, p.buffer("x", &[1, 2, 3, 4])?);
    match p.way {
        Mistake => p.go_to(0)?,
        NearMiss => {}
    }
    let done = p.event()?;
    p.go_to(0)?;
    let (second, y) = (p.stream()?, p.empty("y", 4)?);
    p.set(first, &x, 7)?;
    p.record(done, first)?;
    p.wait(second, done)?;
    p.copy(second, &y, &x)?;
    p.synchronize(second)?;
    p.expect(&y, &[7; 4])
}
