//! Allocates from a host function that a stream calls.
//!
//! On a GPU: every driver call from there answers NOT_PERMITTED. A wait for the function's own stream hangs.
//!
//! Near miss: the host function only writes a flag, and the next work of the stream comes after it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::programs::{Answer, Mistake, NearMiss, Program};

static CALLS: AtomicU32 = AtomicU32::new(0);

pub fn program(p: &Program) -> Answer {
    let (stream, scratch) = (p.stream()?, p.empty("scratch", 4)?);
    let before = CALLS.load(Ordering::Relaxed);
    p.host_function(stream, |p| match p.way {
        Mistake => drop(p.empty("more scratch", 4)),
        NearMiss => drop(CALLS.fetch_add(1, Ordering::Relaxed)),
    })?;
    p.set(stream, &scratch, 1)?;
    p.synchronize(stream)?;
    p.expect_number("the number of calls", CALLS.load(Ordering::Relaxed), before + 1);
    p.expect(&scratch, &[1; 4])
}
