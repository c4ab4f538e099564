//! One rank reduces whole numbers where the other has fractions: as many bytes, and another sum.
//!
//! In NCCL: leaves wrong numbers.
//!
//! Near miss: both have fractions.

use std::fmt::Debug;

use dacapo::collective::{Number, Reduce};

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    if p.errs(1) { step(p, 1i32, 2) } else { step(p, 1.0f32, 2.0) }
}

fn step<T: Number + PartialEq + Debug>(p: &Side<'_>, one: T, two: T) -> Result<()> {
    let (x, mut y) = (p.device.buffer(&[one; 4])?, p.device.buffer(&[one; 4])?);
    let mut step = p.device.record(p.comm.all_reduce(&x, &mut y, Reduce::Sum))?;
    step.launch(&p.stream)?;
    p.expect(&y, &[two; 4])
}
