//! Two streams capture, each on its own; the order between the two graphs is made when they are launched.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (first, second, done) = (p.stream()?, p.stream()?, p.event()?);
    let (x, y) = (p.empty("x", 4)?, p.empty("y", 4)?);
    p.begin_capture(first, Mode::Relaxed)?;
    p.begin_capture(second, Mode::Relaxed)?;
    p.set(first, &x, 1)?;
    p.copy(second, &y, &x)?;
    let (write, copy) = (p.instantiate(p.end_capture(first)?)?, p.instantiate(p.end_capture(second)?)?);
    p.replay(write, first)?;
    p.record(done, first)?;
    p.wait(second, done)?;
    p.replay(copy, second)?;
    p.synchronize(second)?;
    p.expect(&y, &[1; 4])
}
