//! The last of three ranks gathers the loss on rank 1, the others on rank 0.
//!
//! In NCCL: waits for ever, or leaves a sum that lacks a rank.
//!
//! Near miss: all name rank 0.

use dacapo::collective::Reduce;

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let root = if p.errs(2) { 1 } else { 0 };
    let (loss, mut total) = (p.device.buffer(&[1.0f32])?, p.device.zeros::<f32>(1)?);
    p.stream.run(p.comm.reduce(&loss, &mut total, Reduce::Sum, root))?;
    p.expect(&total, &[[3.0], [0.0], [0.0]][p.number()])
}
