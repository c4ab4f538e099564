//! One rank takes the other's numbers where that one reduces.
//!
//! In NCCL: waits for ever, or leaves wrong numbers.
//!
//! Near miss: both reduce.

use dacapo::Recorder;
use dacapo::collective::Reduce;

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let mut x = p.device.buffer(&[1.0f32; 4])?;
    let mut step = p.device.record(|r: &mut Recorder<'_>| match p.errs(1) {
        true => r.run(p.comm.broadcast(&mut x, 0)),
        false => r.run(p.comm.all_reduce_in_place(&mut x, Reduce::Sum)),
    })?;
    step.launch(&p.stream)?;
    p.expect(&x, &[2.0; 4])
}
