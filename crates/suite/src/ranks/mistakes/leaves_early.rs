//! One rank has fewer batches than the other: it ends, and drops its communicator, while the other takes one more step.
//!
//! In NCCL: the other waits for ever.
//!
//! Near miss: both take as many steps.

use dacapo::collective::Reduce;

use super::{Mistake, NearMiss, Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let batches = match p.way {
        Mistake => [3, 2][p.number()],
        NearMiss => 2,
    };
    let mut x = p.device.buffer(&[1.0f32; 4])?;
    for batch in 0..batches {
        p.stream.run(p.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        p.expect(&x, &[[2.0; 4], [4.0; 4]][batch.min(1)])?;
    }
    Ok(())
}
