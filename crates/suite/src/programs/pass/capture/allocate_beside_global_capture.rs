//! One thread captures in thread-local mode; what another one allocates meanwhile does not concern it.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::ThreadLocal)?;
    p.set(stream, &x, 1)?;
    p.on_another_thread(|p| p.empty("weights", 16).map(|_| ()))?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
