//! One thread begins a capture in global mode, another one ends it.
//!
//! On a GPU: STREAM_CAPTURE_WRONG_THREAD, and the capture is over all the same: the thread that began it is then told
//! ILLEGAL_STATE, as if it had never begun.

use dacapo_driver::types::CUstream;

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Global)?;
    p.set(stream, &x, 1)?;
    let handle = stream.bits();
    let _ = p.on_another_thread(move |p| p.end_capture(CUstream::from_bits(handle)).map(|_| ()));
    p.end_capture(stream)?;
    Ok(())
}
