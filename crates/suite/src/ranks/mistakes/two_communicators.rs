//! Two ranks have two communicators, and each begins with another one and waits for it.
//!
//! In NCCL: waits for ever.
//!
//! Near miss: both begin with the same one.

use dacapo::collective::Reduce;

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let order = if p.errs(1) { [&p.other, &p.comm] } else { [&p.comm, &p.other] };
    let mut x = p.device.buffer(&[1.0f32; 4])?;
    for (comm, sum) in order.into_iter().zip([2.0, 4.0]) {
        p.stream.run(comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        p.expect(&x, &[sum; 4])?;
    }
    Ok(())
}
