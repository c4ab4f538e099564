//! Launches a kernel with two parameters and gives it none.
//!
//! On a GPU: INVALID_VALUE if `kernelParams` is null; if the array is only too short, whatever lies behind it is taken.
//!
//! Near miss: gives an argument for each parameter; a kernel without parameters takes none.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

const NOTHING: &str = ".version 8.4\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let (add_one, nothing) = (p.kernel(kernels::ADD_ONE, "add_one")?, p.kernel(NOTHING, "nothing")?);
    p.launch(stream, nothing, [1, 32], &[])?;
    let arguments: &[u64] = match p.way {
        Mistake => &[],
        NearMiss => &[x.address(), 2],
    };
    p.launch(stream, add_one, [1, 32], arguments)?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
