//! One rank records a step without any collective, so it does not take part when the others compare what they have recorded.
//!
//! In NCCL: the other waits for ever in its first replay.
//!
//! Near miss: both record the collective.

use dacapo::collective::Reduce;
use dacapo::{Recorder, baked, fill};

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let mut x = p.device.zeros::<f32>(4)?;
    let mut step = p.device.record(|r: &mut Recorder<'_>| {
        r.run(fill(&mut x, baked(1.0)))?;
        if p.errs(1) { Ok(()) } else { r.run(p.comm.all_reduce_in_place(&mut x, Reduce::Sum)) }
    })?;
    step.launch(&p.stream)?;
    p.expect(&x, &[2.0; 4])
}
