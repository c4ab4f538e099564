//! Loads a fat binary that has machine code for another GPU, and nothing else.
//!
//! On a GPU: NO_BINARY_FOR_GPU.
//!
//! Near miss: it has PTX too, which is compiled for whatever GPU there is.

use crate::programs::link_kit::{Image, fat};
use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let image = match p.way {
        Mistake => fat(&[], &[80]),
        NearMiss => fat(&[(75, kernels::ADD_ONE)], &[80]),
    };
    let add_one = p.function(p.load_image(&Image(image.as_ptr().cast()))?, "add_one")?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
