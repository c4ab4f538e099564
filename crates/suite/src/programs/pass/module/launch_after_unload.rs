//! Captures a launch before the module is unloaded: the graph keeps the kernel.

use crate::programs::{Answer, Mode, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let module = p.load(kernels::ADD_ONE)?;
    let add_one = p.function(module, "add_one")?;
    p.begin_capture(stream, Mode::Relaxed)?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    let exec = p.instantiate(p.end_capture(stream)?)?;
    p.unload(module)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
