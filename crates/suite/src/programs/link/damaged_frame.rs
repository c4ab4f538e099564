//! Loads a fat binary whose compressed text was damaged on its way.
//!
//! On a GPU: UNKNOWN, of a frame of zstd.
//!
//! Near miss: loads it as it was made.

use crate::programs::link_kit::{Image, PACKED};
use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0])?);
    let mut image = PACKED.to_vec();
    match p.way {
        Mistake => image[120..160].fill(0xff),
        NearMiss => {}
    }
    let k = p.function(p.load_image(&Image(image.as_ptr().cast()))?, "k")?;
    p.launch(stream, k, [1, 1], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[7])
}
