//! Says of PTX that it is a cubin.
//!
//! On a GPU: INVALID_IMAGE, and the link is over.
//!
//! Near miss: says that it is PTX.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};
use dacapo_driver::types::{CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_PTX};

pub fn program(p: &Program) -> Answer {
    let (stream, x, link) = (p.stream()?, p.buffer("x", &[1, 2])?, p.link()?);
    let kind = match p.way {
        Mistake => CU_JIT_INPUT_CUBIN,
        NearMiss => CU_JIT_INPUT_PTX,
    };
    p.add(link, kind, "add_one", format!("{}\0", kernels::ADD_ONE).as_bytes())?;
    let add_one = p.function(p.load_image(&p.complete(link)?)?, "add_one")?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
