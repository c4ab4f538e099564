//! Launches a kernel of one device over memory of another one, as if a unified address were enough.
//!
//! On a GPU: ILLEGAL_ADDRESS, by the manual: an address is mapped on another device by cuCtxEnablePeerAccess alone. Not
//! asked of a machine with two GPUs.
//!
//! Near miss: access is enabled first, in the context that runs the kernel.

use crate::programs::kernels::ADD_ONE;
use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    p.go_to(1)?;
    let weights = p.buffer("weights", &[1, 2, 3, 4])?;
    p.go_to(0)?;
    let (stream, add_one) = (p.stream()?, p.kernel(ADD_ONE, "add_one")?);
    match p.way {
        Mistake => {}
        NearMiss => p.allow_access_to(1)?,
    }
    p.launch(stream, add_one, [1, 4], &[weights.address(), 4])?;
    p.synchronize(stream)?;
    p.expect(&weights, &[2, 3, 4, 5])
}
