//! Links two texts that both define a function for everyone.
//!
//! On a GPU: cuLinkAddData refuses the second one, and cuLinkComplete fails as well.
//!
//! Near miss: the second one says `.weak`, and gives way.

use crate::programs::link_kit::{CALLER, NEXT};
use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x, link) = (p.stream()?, p.buffer("x", &[41])?, p.link()?);
    p.add_text(link, "caller.ptx", CALLER)?;
    p.add_text(link, "next.ptx", NEXT)?;
    let again = match p.way {
        Mistake => NEXT.to_string(),
        NearMiss => NEXT.replace(".visible", ".weak"),
    };
    p.add_text(link, "also.ptx", &again)?;
    let caller = p.function(p.load_image(&p.complete(link)?)?, "caller")?;
    p.launch(stream, caller, [1, 1], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[42])
}
