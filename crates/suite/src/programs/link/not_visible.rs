//! Links a text with the one that defines its function, where that one keeps the function to itself.
//!
//! On a GPU: cuLinkComplete finds no definition.
//!
//! Near miss: the function is `.visible`.

use crate::programs::link_kit::{CALLER, NEXT};
use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, link) = (p.stream()?, p.buffer("x", &[41])?, p.link()?);
    p.add_text(link, "caller.ptx", CALLER)?;
    let next = match p.way {
        Mistake => NEXT.replace(".visible .func", ".func"),
        NearMiss => NEXT.to_string(),
    };
    p.add_text(link, "next.ptx", &next)?;
    let caller = p.function(p.load_image(&p.complete(link)?)?, "caller")?;
    p.launch(stream, caller, [1, 1], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[42])
}
