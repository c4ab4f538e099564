//! Sets memory on a stream after destroying it.
//!
//! On a GPU: the driver follows the old handle and crashes, or the work lands on a stream that was created since.
//!
//! Near miss: destroys the stream right after its last work, and waits for that work by an event.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (old, done, x, y) = (p.stream()?, p.event()?, p.empty("x", 4)?, p.empty("y", 4)?);
    let work = || {
        p.set(old, &x, 1)?;
        p.record(done, old)
    };
    // Another stream then lies where the first one was.
    let replace = || {
        p.destroy_stream(old)?;
        p.stream()
    };
    let new = match p.way {
        Mistake => {
            let new = replace()?;
            work()?;
            new
        }
        NearMiss => {
            work()?;
            replace()?
        }
    };
    p.wait(new, done)?;
    p.copy(new, &y, &x)?;
    p.synchronize(new)?;
    p.expect(&y, &[1; 4])
}
