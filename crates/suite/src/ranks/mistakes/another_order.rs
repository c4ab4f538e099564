//! One rank records the gradients of two layers from the last to the first, the other from the first to the last.
//!
//! In NCCL: waits for ever, or leaves wrong numbers.
//!
//! Near miss: both record them from the last to the first.

use dacapo::collective::Reduce;
use dacapo::{Op, Recorder};

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let order = if p.errs(1) { [0, 1] } else { [1, 0] };
    let mut layers = [p.device.buffer(&[1.0f32; 4])?, p.device.buffer(&[2.0f32; 8])?];
    let mut step = p.device.record(|r: &mut Recorder<'_>| {
        order.into_iter().try_for_each(|at| {
            let layer = &mut layers[at];
            r.run(p.comm.all_reduce_in_place(layer, Reduce::Sum).label(["first layer", "last layer"][at]))
        })
    })?;
    step.launch(&p.stream)?;
    p.expect(&layers[0], &[2.0; 4])?;
    p.expect(&layers[1], &[4.0; 8])
}
