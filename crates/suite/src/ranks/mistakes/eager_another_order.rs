//! One rank reduces its loss and then takes the weights, the other takes the weights first.
//!
//! In NCCL: waits for ever, or leaves wrong numbers.
//!
//! Near miss: both reduce the loss first.

use dacapo::collective::Reduce;

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let (mut loss, mut weights) = (p.device.buffer(&[1.0f32])?, p.device.buffer(&[p.number() as f32; 4])?);
    let mut reduce = || {
        p.stream.run(p.comm.all_reduce_in_place(&mut loss, Reduce::Average))?;
        p.expect(&loss, &[1.0])
    };
    let mut take = || {
        p.stream.run(p.comm.broadcast(&mut weights, 0))?;
        p.expect(&weights, &[0.0; 4])
    };
    match p.errs(1) {
        true => take().and_then(|()| reduce()),
        false => reduce().and_then(|()| take()),
    }
}
