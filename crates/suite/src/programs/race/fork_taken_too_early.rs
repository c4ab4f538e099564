//! In a capture the second stream forks off in front of the work that it needs: in the graph the two are branches.
//!
//! On a GPU: the copy may come first, in every replay anew. Nothing is said; the numbers depend on luck.
//!
//! Near miss: the second stream forks off behind the work that it needs.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, side, forked, joined) = (p.stream()?, p.stream()?, p.event()?, p.event()?);
    let (x, y) = (p.buffer("x", &[1; 4])?, p.buffer("y", &[0; 4])?);
    p.begin_capture(stream, Mode::Relaxed)?;
    let set = || p.set(stream, &x, 2);
    let fork = || {
        p.record(forked, stream)?;
        p.wait(side, forked)
    };
    match p.way {
        Mistake => (fork()?, set()?),
        NearMiss => (set()?, fork()?),
    };
    p.copy(side, &y, &x)?;
    p.record(joined, side)?;
    p.wait(stream, joined)?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&y, &[2; 4])
}
