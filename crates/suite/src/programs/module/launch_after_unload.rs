//! Launches a kernel after its module was unloaded.
//!
//! On a GPU: INVALID_HANDLE, as long as nothing else was given the same handle.
//!
//! Near miss: captures the launch before the module is unloaded: the graph keeps the kernel.

use crate::programs::{Answer, Mistake, Mode, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let module = p.load(kernels::ADD_ONE)?;
    let add_one = p.function(module, "add_one")?;
    let launch = || p.launch(stream, add_one, [1, 2], &[x.address(), 2]);
    match p.way {
        Mistake => {
            p.unload(module)?;
            launch()?;
        }
        NearMiss => {
            p.begin_capture(stream, Mode::Relaxed)?;
            launch()?;
            let exec = p.instantiate(p.end_capture(stream)?)?;
            p.unload(module)?;
            p.replay(exec, stream)?;
        }
    }
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
