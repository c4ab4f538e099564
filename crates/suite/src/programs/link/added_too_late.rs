//! Adds a text to a link that is complete.
//!
//! On a GPU: INVALID_VALUE.
//!
//! Near miss: adds it first.

use crate::programs::link_kit::NEXT;
use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, link) = (p.stream()?, p.buffer("x", &[1, 2])?, p.link()?);
    p.add_text(link, "add_one.ptx", kernels::ADD_ONE)?;
    let add = || p.add_text(link, "next.ptx", NEXT);
    let image = match p.way {
        Mistake => {
            let image = p.complete(link)?;
            add()?;
            image
        }
        NearMiss => {
            add()?;
            p.complete(link)?
        }
    };
    let add_one = p.function(p.load_image(&image)?, "add_one")?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
