//! Sets memory of a pool of host memory that the device was given no access to.
//!
//! On a GPU: INVALID_VALUE: such a pool is the host's alone until `cuMemPoolSetAccess` says otherwise.
//!
//! Near miss: the device is given access first.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, pool) = (p.stream()?, p.host_pool()?);
    match p.way {
        Mistake => {}
        NearMiss => p.give_access(pool)?,
    }
    let x = p.pooled_from(pool, stream, "x", 4)?;
    p.set(stream, &x, 7)?;
    p.synchronize(stream)?;
    p.expect_number("the first number", p.read_on_host(&x), 7);
    Ok(())
}
