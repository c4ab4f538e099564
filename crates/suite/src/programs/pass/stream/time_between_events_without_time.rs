//! The events keep time.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    let (start, end) = (p.event()?, p.event()?);
    p.record(start, stream)?;
    p.set(stream, &x, 1)?;
    p.record(end, stream)?;
    p.synchronize(stream)?;
    assert!(p.elapsed(start, end)? > 0.0);
    p.expect(&x, &[1; 4])
}
