//! One thread captures in global mode; another one, which knows nothing of it, allocates.
//!
//! On a GPU: the allocation is refused with STREAM_CAPTURE_UNSUPPORTED, and the capture of the innocent thread is
//! broken.
//!
//! Near miss: a capture in thread-local mode is not concerned with what another thread allocates.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    let mode = match p.way {
        Mistake => Mode::Global,
        NearMiss => Mode::ThreadLocal,
    };
    p.begin_capture(stream, mode)?;
    p.set(stream, &x, 1)?;
    let _ = p.on_another_thread(|p| p.empty("weights", 16));
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
