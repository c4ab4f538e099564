//! One rank launches its graph one time more than the other, and waits.
//!
//! In NCCL: waits for ever.
//!
//! Near miss: both launch it as often.

use dacapo::collective::Reduce;
use dacapo::{Op, Recorder, Slot, fill};

use super::{Mistake, NearMiss, Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let launches = match p.way {
        Mistake => [3, 2][p.number()],
        NearMiss => 2,
    };
    let (value, mut x) = (Slot::new(0.0f32), p.device.zeros::<f32>(4)?);
    let mut step = p.device.record(|r: &mut Recorder<'_>| {
        r.run(fill(&mut x, &value))?;
        r.run(p.comm.all_reduce_in_place(&mut x, Reduce::Sum).label("gradients"))
    })?;
    for launch in 0..launches {
        value.set(launch as f32);
        step.launch(&p.stream)?;
        p.expect(&x, &[2.0 * launch as f32; 4])?;
    }
    Ok(())
}
