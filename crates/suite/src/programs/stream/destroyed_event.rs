//! Records an event after destroying it.
//!
//! On a GPU: the driver follows the old handle and crashes, or records whatever lies there now.
//!
//! Near miss: destroys the event when a stream already waits for it: the wait stays.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, done) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    let order = || {
        p.record(done, first)?;
        p.wait(second, done)
    };
    let destroy = || p.destroy_event(done);
    p.set(first, &x, 1)?;
    match p.way {
        Mistake => (destroy()?, order()?),
        NearMiss => (order()?, destroy()?),
    };
    p.copy(second, &y, &x)?;
    p.synchronize(second)?;
    p.expect(&y, &[1; 4])
}
