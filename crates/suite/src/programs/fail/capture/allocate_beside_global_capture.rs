//! One thread captures in global mode; another one, which knows nothing of it, allocates.
//!
//! On a GPU: the allocation is refused with STREAM_CAPTURE_UNSUPPORTED, and the capture of the innocent thread is broken.

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Global)?;
    p.set(stream, &x, 1)?;
    let _ = p.on_another_thread(|p| p.empty("weights", 16));
    p.end_capture(stream)?;
    Ok(())
}
