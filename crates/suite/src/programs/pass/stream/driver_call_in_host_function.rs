//! The memory is there before; the host function only writes a flag, and the next work of the stream comes after it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::programs::{Answer, Program};

static CALLS: AtomicU32 = AtomicU32::new(0);

pub fn program(p: &Program) -> Answer {
    let (stream, scratch) = (p.stream()?, p.empty("scratch", 4)?);
    let before = CALLS.load(Ordering::Relaxed);
    p.host_function(stream, |_| {
        CALLS.fetch_add(1, Ordering::Relaxed);
    })?;
    p.set(stream, &scratch, 1)?;
    p.synchronize(stream)?;
    assert_eq!(CALLS.load(Ordering::Relaxed), before + 1);
    p.expect(&scratch, &[1; 4])
}
