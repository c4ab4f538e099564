//! Two ranks want a second communicator, and one of them goes another way first.
//!
//! In NCCL: the other waits for ever; `Join::timeout` ends it.
//!
//! Near miss: both join.

use dacapo::collective::{Communicator, Reduce};

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let id = p.new_id()?;
    if p.errs(1) {
        return Ok(());
    }
    let metrics = Communicator::join(&p.device, &id, p.number(), 2)?;
    let mut x = p.device.buffer(&[1.0f32; 4])?;
    p.stream.run(metrics.all_reduce_in_place(&mut x, Reduce::Sum))?;
    p.expect(&x, &[2.0; 4])
}
