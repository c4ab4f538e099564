//! A collective that a rank takes part in only if its own number is large enough: the device decides that, and the other rank's
//! device may decide otherwise.
//!
//! In NCCL: a rank whose device decides for it waits for ever for the other.
//!
//! Near miss: the collective is in front of the branch, and what each rank does with the sum is its own.

use dacapo::collective::Reduce;
use dacapo::flow::above;
use dacapo::{Recorder, baked, fill};

use super::{Mistake, NearMiss, Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let loss = p.device.scalar(p.number() as f32)?;
    let mut x = p.device.buffer(&[1.0f32; 4])?;
    let mut step = p.device.record(|r: &mut Recorder<'_>| {
        if p.way == NearMiss {
            r.run(p.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        }
        r.when(above(&loss, baked(0.5)), |r: &mut Recorder<'_>| match p.way {
            Mistake => r.run(p.comm.all_reduce_in_place(&mut x, Reduce::Max)),
            NearMiss => r.run(fill(&mut x, baked(9.0))),
        })?;
        Ok(())
    })?;
    step.launch(&p.stream)?;
    p.expect(&x, &[[2.0; 4], [9.0; 4]][p.number()])
}
