//! Asks for 64 KiB of dynamic shared memory without having raised the kernel's limit.
//!
//! On a GPU: INVALID_VALUE, although the device has 227 KiB a block: more than 48 KiB must be asked for with
//! cuFuncSetAttribute first.
//!
//! Near miss: raises the kernel's limit first.

use crate::programs::{Answer, NearMiss, Program, kernels};

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 32)?);
    let neighbour = p.kernel(kernels::NEIGHBOUR, "neighbour")?;
    if p.way == NearMiss {
        p.allow_dynamic_shared(neighbour, 64 * 1024)?;
    }
    p.launch_with_shared(stream, neighbour, [1, 32], 64 * 1024, &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &(1..32).chain([99]).collect::<Vec<u32>>())
}
