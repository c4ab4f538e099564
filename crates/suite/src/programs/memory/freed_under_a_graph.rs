//! Frees memory that a captured kernel uses, and launches the graph once more.
//!
//! On a GPU: nothing checks a graph's pointers. This very program ends without an error on an H200: the kernel has
//! changed whatever lies there now. It faults if one is lucky.
//!
//! Near miss: the memory lives until the last launch has been waited for.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("activations", &[1, 2, 3])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.launch(stream, add_one, [1, 32], &[x.address(), 3])?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    let replay = || {
        p.replay(exec, stream)?;
        p.synchronize(stream)
    };
    let free = || p.free(&x);
    replay()?;
    if p.way == Mistake {
        free()?;
    }
    let other = p.buffer("someone else's", &[7, 7, 7])?;
    replay()?;
    p.expect(&x, &[3, 4, 5])?;
    p.expect(&other, &[7, 7, 7])?;
    if p.way == NearMiss {
        free()?;
    }
    Ok(())
}
