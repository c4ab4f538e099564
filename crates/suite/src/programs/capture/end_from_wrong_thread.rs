//! One thread begins a capture in global mode, another one ends it.
//!
//! On a GPU: STREAM_CAPTURE_WRONG_THREAD, and the capture is over all the same: the thread that began it is then told
//! ILLEGAL_STATE, as if it had never begun.
//!
//! Near miss: a capture in relaxed mode may be ended by any thread.

use dacapo_driver::types::{CUgraph, CUstream};

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    let mode = match p.way {
        Mistake => Mode::Global,
        NearMiss => Mode::Relaxed,
    };
    p.begin_capture(stream, mode)?;
    p.set(stream, &x, 1)?;
    // Handles cross to another thread as numbers.
    let handle = stream.bits();
    let ended = p.on_another_thread(move |p| p.end_capture(CUstream::from_bits(handle)).map(|graph| graph.bits()));
    let graph = match ended {
        Ok(graph) => CUgraph::from_bits(graph),
        Err(_) => p.end_capture(stream)?,
    };
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
