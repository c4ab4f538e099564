//! Two streams capture, each on its own; one waits for an event of the other.
//!
//! On a GPU: STREAM_CAPTURE_MERGE, and both captures are broken.
//!
//! Near miss: the order between the two graphs is made when they are launched.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, done) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    let order = || {
        p.record(done, first)?;
        p.wait(second, done)
    };
    for stream in [first, second] {
        p.begin_capture(stream, Mode::Relaxed)?;
    }
    p.set(first, &x, 1)?;
    if p.way == Mistake {
        let _ = order();
    }
    let _ = p.copy(second, &y, &x);
    let (write, copy) = (p.end_capture(first), p.end_capture(second));
    p.replay(p.instantiate(write?)?, first)?;
    if p.way == NearMiss {
        order()?;
    }
    p.replay(p.instantiate(copy?)?, second)?;
    p.synchronize(second)?;
    p.expect(&y, &[1; 4])
}
