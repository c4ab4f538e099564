//! The branch is joined before the copy.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (main, side, forked, joined) = (p.stream()?, p.stream()?, p.event()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.begin_capture(main, Mode::Relaxed)?;
    p.record(forked, main)?;
    p.wait(side, forked)?;
    p.set(side, &x, 2)?;
    p.record(joined, side)?;
    p.wait(main, joined)?;
    p.copy(main, &y, &x)?;
    let exec = p.instantiate(p.end_capture(main)?)?;
    p.replay(exec, main)?;
    p.synchronize(main)?;
    p.expect(&y, &[2; 4])
}
