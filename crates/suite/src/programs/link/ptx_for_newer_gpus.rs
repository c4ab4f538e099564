//! Loads a fat binary whose only PTX is for a newer GPU than the device.
//!
//! On a GPU: NO_BINARY_FOR_GPU: the container says for whom a text is, and it is not looked at.
//!
//! Near miss: it has a text for an older one as well.

use crate::programs::link_kit::{Image, fat};
use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1, 2])?);
    let texts = [(120, kernels::ADD_ONE), (75, kernels::ADD_ONE)];
    let image = match p.way {
        Mistake => fat(&texts[..1], &[]),
        NearMiss => fat(&texts, &[]),
    };
    let add_one = p.function(p.load_image(&Image(image.as_ptr().cast()))?, "add_one")?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
