//! One rank passes memory of the other rank's device.
//!
//! In NCCL: an illegal address, or a rank that reads over the bus what it should have had at home.
//!
//! Near miss: each passes memory of its own device.

use dacapo::collective::Reduce;

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let device = if p.errs(1) { &p.devices[0] } else { &p.device };
    let mut x = device.buffer(&[1.0f32; 4])?;
    p.stream.run(p.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
    p.expect(&x, &[2.0; 4])
}
