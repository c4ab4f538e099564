//! Launches a kernel of a library that was unloaded.
//!
//! On a GPU: no answer is defined; the handle may name something else by then.
//!
//! Near miss: unloads the library when the kernel has finished.

use crate::programs::link_kit::{Image, PACKED};
use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0])?);
    let library = p.library(&Image(PACKED.as_ptr().cast()))?;
    let k = p.library_kernel(library, "k")?;
    let run = || {
        p.launch(stream, k, [1, 1], &[x.address()])?;
        p.synchronize(stream)
    };
    let unload = || p.unload_library(library);
    match p.way {
        Mistake => (unload()?, run()?),
        NearMiss => (run()?, unload()?),
    };
    p.expect(&x, &[7])
}
