//! Prefetches more of managed memory than there is.
//!
//! On a GPU: INVALID_VALUE, and nothing is prefetched: the driver knows the exact size of what it handed out.
//!
//! Near miss: prefetches all of it.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.managed("x", 4)?);
    let range = match p.way {
        Mistake => x.with_len(5),
        NearMiss => x.clone(),
    };
    p.set(stream, &x, 7)?;
    p.prefetch(stream, &range)?;
    p.synchronize(stream)?;
    p.expect(&x, &[7; 4])
}
