//! Links a text whose function another one defines, and forgets that one.
//!
//! On a GPU: cuLinkComplete says INVALID_SOURCE; an error log, where the program asked for one, names the function.
//!
//! Near miss: links both.

use crate::programs::link_kit::{CALLER, NEXT};
use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, link) = (p.stream()?, p.buffer("x", &[41])?, p.link()?);
    p.add_text(link, "caller.ptx", CALLER)?;
    match p.way {
        Mistake => {}
        NearMiss => p.add_text(link, "next.ptx", NEXT)?,
    }
    let caller = p.function(p.load_image(&p.complete(link)?)?, "caller")?;
    p.launch(stream, caller, [1, 1], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[42])
}
