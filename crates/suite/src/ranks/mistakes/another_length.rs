//! Seven rows are divided between two ranks, and each reduces as many as it has.
//!
//! In NCCL: waits for ever, or leaves wrong numbers.
//!
//! Near miss: both reduce as many as the larger part has.

use dacapo::collective::Reduce;

use super::{Mistake, NearMiss, Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let rows = match p.way {
        Mistake => [4, 3][p.number()],
        NearMiss => 4,
    };
    let mut x = p.device.buffer(&vec![1.0f32; rows])?;
    let mut step = p.device.record(p.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
    step.launch(&p.stream)?;
    p.expect(&x, &[2.0; 4])
}
