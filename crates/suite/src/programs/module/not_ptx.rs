//! Loads a text that is not PTX: the path of the file in place of what is in it.
//!
//! On a GPU: INVALID_IMAGE.
//!
//! Near miss: loads the PTX itself; a comment may stand before it.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let text = match p.way {
        Mistake => "kernels/add_one.ptx".to_string(),
        NearMiss => format!("// of the toolkit\n{}", kernels::ADD_ONE),
    };
    let add_one = p.kernel(&text, "add_one")?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
