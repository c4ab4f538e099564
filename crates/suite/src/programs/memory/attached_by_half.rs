//! Attaches half of a piece of managed memory to a stream.
//!
//! On a GPU: INVALID_VALUE: an allocation is attached as a whole.
//!
//! Near miss: attaches all of it.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.managed("x", 8)?);
    let part = match p.way {
        Mistake => x.with_len(4),
        NearMiss => x.clone(),
    };
    p.attach(stream, &part)?;
    p.set(stream, &x, 7)?;
    p.synchronize(stream)?;
    p.expect(&x, &[7; 8])
}
