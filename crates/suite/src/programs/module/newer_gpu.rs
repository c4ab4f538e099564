//! Loads PTX that was compiled for a newer GPU than the device.
//!
//! On a GPU: INVALID_PTX. PTX runs on the architecture it names and on later ones, never on earlier ones.
//!
//! Near miss: PTX for an older GPU, compiled again for this one when it is loaded.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let target = match p.way {
        Mistake => "sm_100",
        NearMiss => "sm_52",
    };
    let add_one = p.kernel(&kernels::ADD_ONE.replace("sm_75", target), "add_one")?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
