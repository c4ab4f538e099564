//! Both processes of a machine take the rank on that machine for their rank among all.
//!
//! In NCCL: waits for ever, or says `invalid usage` on one of them.
//!
//! Near miss: each has a rank of its own.

use dacapo::collective::{Communicator, Reduce};

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let rank = if p.errs(1) { 0 } else { p.number() };
    let metrics = Communicator::join(&p.device, &p.new_id()?, rank, 2)?;
    let mut x = p.device.buffer(&[1.0f32; 4])?;
    p.stream.run(metrics.all_reduce_in_place(&mut x, Reduce::Sum))?;
    p.expect(&x, &[2.0; 4])
}
