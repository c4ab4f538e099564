//! One rank reads the size of its buckets from a setting that the other does not have.
//!
//! In NCCL: waits for ever.
//!
//! Near miss: both have buckets of the same size.

use dacapo::Recorder;
use dacapo::collective::Reduce;

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let bytes = if p.errs(1) { 16 } else { 32 };
    let mut gradients = [p.device.buffer(&[1.0f32; 4])?, p.device.buffer(&[2.0f32; 4])?];
    let mut step = p.device.record(|r: &mut Recorder<'_>| {
        let mut buckets = p.comm.bucketed(bytes, Reduce::Sum);
        gradients.iter_mut().try_for_each(|gradient| buckets.add(r, gradient))?;
        buckets.finish(r)
    })?;
    step.launch(&p.stream)?;
    p.expect(&gradients[0], &[2.0; 4])?;
    p.expect(&gradients[1], &[4.0; 4])
}
