//! A kernel is launched with the address of memory that was freed the line before.
//!
//! On a GPU: memory is mapped in large pieces, and this one is still in use by a neighbour. Nothing is said; whoever
//! gets the memory next finds other numbers in it.
//!
//! Near miss: the memory is freed behind the kernel.

use crate::programs::{Answer, Mistake, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x, _neighbour) = (p.stream()?, p.buffer("x", &[1; 4])?, p.buffer("neighbour", &[1; 4])?);
    let add_one = p.kernel(kernels::ADD_ONE, "add_one")?;
    let free = || p.free(&x);
    let run = || {
        p.launch(stream, add_one, [1, 4], &[x.address(), 4])?;
        p.synchronize(stream)?;
        p.expect(&x, &[2; 4])
    };
    match p.way {
        Mistake => (free()?, run()?),
        NearMiss => (run()?, free()?),
    };
    Ok(())
}
