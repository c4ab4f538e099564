//! One rank has frozen its last layer, and does not reduce that layer's gradient.
//!
//! In NCCL: the other waits for ever, or meets the first collective of the next step.
//!
//! Near miss: both reduce all layers.

use dacapo::Recorder;
use dacapo::collective::Reduce;

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let trained = if p.errs(1) { 1 } else { 2 };
    let mut layers = [p.device.buffer(&[1.0f32; 4])?, p.device.buffer(&[2.0f32; 8])?];
    let mut step = p.device.record(|r: &mut Recorder<'_>| {
        let mut trained = layers.iter_mut().take(trained);
        trained.try_for_each(|layer| r.run(p.comm.all_reduce_in_place(layer, Reduce::Sum)))
    })?;
    step.launch(&p.stream)?;
    p.expect(&layers[0], &[2.0; 4])?;
    p.expect(&layers[1], &[4.0; 8])
}
