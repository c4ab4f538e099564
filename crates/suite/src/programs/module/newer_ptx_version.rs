//! Loads PTX whose `.version` is newer than the driver.
//!
//! On a GPU: UNSUPPORTED_PTX_VERSION: the toolkit that made the PTX is newer than the driver that reads it.
//!
//! Near miss: PTX of the driver's own version.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let version = match p.way {
        Mistake => ".version 99.0",
        NearMiss => ".version 9.0",
    };
    let add_one = p.kernel(&kernels::ADD_ONE.replace(".version 8.4", version), "add_one")?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
