//! One rank has no gradient in this step, skips the reduction, and loads its next data meanwhile.
//!
//! In NCCL: the other waits for as long as that takes, and then takes what is of the next step.
//!
//! Near miss: a rank without a gradient reduces zeros.

use dacapo::collective::Reduce;

use super::{Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let mut gradient = p.device.buffer(&[[1.0f32; 4], [0.0; 4]][p.number()])?;
    if p.errs(1) {
        p.does_something_else();
    }
    p.stream.run(p.comm.all_reduce_in_place(&mut gradient, Reduce::Sum))?;
    p.expect(&gradient, &[1.0; 4])
}
