//! Gives an argument for each parameter; a kernel without parameters takes none.

use crate::programs::{Answer, Program, kernels};

const NOTHING: &str = ".version 8.4\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let (add_one, nothing) = (p.kernel(kernels::ADD_ONE, "add_one")?, p.kernel(NOTHING, "nothing")?);
    p.launch(stream, nothing, [1, 32], &[])?;
    p.launch(stream, add_one, [1, 32], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
