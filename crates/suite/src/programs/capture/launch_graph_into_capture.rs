//! Launches a graph into a stream that is capturing, to make it part of a larger graph.
//!
//! On a GPU: STREAM_CAPTURE_UNSUPPORTED, and the capture is broken. A graph launch never becomes a child node.
//!
//! Near miss: the larger graph takes the smaller one as a child node.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 4)?);
    let inner = p.graph()?;
    p.add_set(inner, &[], &x, 1)?;
    let outer = match p.way {
        Mistake => {
            p.begin_capture(stream, Mode::Relaxed)?;
            let _ = p.replay(p.instantiate(inner)?, stream);
            p.end_capture(stream)?
        }
        NearMiss => {
            let outer = p.graph()?;
            p.add_child(outer, &[], inner)?;
            outer
        }
    };
    p.replay(p.instantiate(outer)?, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])
}
