//! Launches a graph into a stream that is capturing, to make it part of a larger graph.
//!
//! On a GPU: STREAM_CAPTURE_UNSUPPORTED, and the capture is broken. A graph launch never becomes a child node.
//!
//! Near miss: the larger graph takes the smaller one as a child node.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.empty("x", 4)?, p.empty("y", 4)?);
    let begin = || p.begin_capture(stream, Mode::Relaxed);
    begin()?;
    p.set(stream, &x, 1)?;
    let inner = p.end_capture(stream)?;
    begin()?;
    p.set(stream, &y, 2)?;
    if p.way == Mistake {
        let _ = p.replay(p.instantiate(inner)?, stream);
    }
    let outer = p.end_capture(stream)?;
    if p.way == NearMiss {
        p.add_child(outer, &[], inner)?;
    }
    p.replay(p.instantiate(outer)?, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])?;
    p.expect(&y, &[2; 4])
}
