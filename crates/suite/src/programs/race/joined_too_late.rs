//! A captured branch is joined behind the copy that needs what it made.
//!
//! On a GPU: the copy may come first at each launch. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the branch is joined before the copy.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (main, side, forked, joined) = (p.stream()?, p.stream()?, p.event()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.begin_capture(main, Mode::Relaxed)?;
    p.record(forked, main)?;
    p.wait(side, forked)?;
    p.set(side, &x, 2)?;
    p.record(joined, side)?;
    let (copy, join) = (|| p.copy(main, &y, &x), || p.wait(main, joined));
    match p.way {
        Mistake => (copy()?, join()?),
        NearMiss => (join()?, copy()?),
    };
    let exec = p.instantiate(p.end_capture(main)?)?;
    p.replay(exec, main)?;
    p.synchronize(main)?;
    p.expect(&y, &[2; 4])
}
