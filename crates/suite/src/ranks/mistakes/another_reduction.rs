//! The last of three ranks takes the maximum where the others add.
//!
//! In NCCL: leaves other numbers on every rank.
//!
//! Near miss: all add.

use dacapo::collective::Reduce;

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let reduce = if p.errs(2) { Reduce::Max } else { Reduce::Sum };
    let mut x = p.device.buffer(&[1.0f32; 4])?;
    let mut step = p.device.record(p.comm.all_reduce_in_place(&mut x, reduce))?;
    step.launch(&p.stream)?;
    p.expect(&x, &[3.0; 4])
}
