//! Completes a link that was destroyed.
//!
//! On a GPU: no answer is defined; NVIDIA's driver was seen to crash.
//!
//! Near miss: destroys it when the image has been loaded: the module does not need it any more.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, link) = (p.stream()?, p.buffer("x", &[1, 2])?, p.link()?);
    p.add_text(link, "add_one.ptx", kernels::ADD_ONE)?;
    let (load, destroy) = (|| p.load_image(&p.complete(link)?), || p.destroy_link(link));
    let module = match p.way {
        Mistake => (destroy()?, load()?).1,
        NearMiss => (load()?, destroy()?).0,
    };
    let add_one = p.function(module, "add_one")?;
    p.launch(stream, add_one, [1, 2], &[x.address(), 2])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2, 3])
}
