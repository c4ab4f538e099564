//! The last bucket is not full, and nobody finishes it: its pieces would stay each rank's own.
//!
//! In NCCL: the last gradients are not reduced. Nothing is said.
//!
//! Near miss: the bucket is finished in the same recording.

use dacapo::Recorder;
use dacapo::collective::Reduce;

use super::{Mistake, NearMiss, Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let mut gradients = [p.device.buffer(&[1.0f32; 4])?, p.device.buffer(&[2.0f32; 4])?];
    let mut step = p.device.record(|r: &mut Recorder<'_>| {
        let mut buckets = p.comm.bucketed(64, Reduce::Average);
        gradients.iter_mut().try_for_each(|gradient| buckets.add(r, gradient))?;
        match p.way {
            Mistake => Ok(()),
            NearMiss => buckets.finish(r),
        }
    })?;
    step.launch(&p.stream)?;
    p.expect(&gradients[0], &[1.0; 4])?;
    p.expect(&gradients[1], &[2.0; 4])
}
