//! One rank was started with a number of ranks that is not the other's.
//!
//! In NCCL: waits for ever for those that nobody has started.
//!
//! Near miss: both know of two.

use dacapo::collective::{Communicator, Reduce};

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let size = if p.errs(1) { 3 } else { 2 };
    let metrics = Communicator::join(&p.device, &p.new_id()?, p.number(), size)?;
    let mut x = p.device.buffer(&[1.0f32; 4])?;
    p.stream.run(metrics.all_reduce_in_place(&mut x, Reduce::Sum))?;
    p.expect(&x, &[2.0; 4])
}
