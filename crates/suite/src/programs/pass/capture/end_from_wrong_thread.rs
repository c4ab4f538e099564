//! A capture in relaxed mode may be ended by any thread.

use dacapo_driver::types::{CUgraph, CUstream};

use crate::programs::{Answer, Mode, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    p.begin_capture(stream, Mode::Relaxed)?;
    p.set(stream, &x, 1)?;
    let handle = stream.bits();
    let graph = p.on_another_thread(move |p| p.end_capture(CUstream::from_bits(handle)).map(|graph| graph.bits()))?;
    let exec = p.instantiate(CUgraph::from_bits(graph))?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
