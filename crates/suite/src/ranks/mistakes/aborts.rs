//! One rank has lost its data and gives up; the other goes on to its next step.
//!
//! In NCCL: the other waits for ever, until it asks for an error in the background.
//!
//! Near miss: the rank has its data, and both take the step.

use dacapo::collective::Reduce;

use super::{Mistake, Result, Side};

pub fn program(p: &Side<'_>) -> Result<()> {
    let mut x = p.device.buffer(&[1.0f32; 4])?;
    p.stream.run(p.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
    p.expect(&x, &[2.0; 4])?;
    if p.errs(1) {
        p.comm.abort("its data are gone");
    } else if p.way == Mistake {
        p.does_something_else();
    }
    p.stream.run(p.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
    p.expect(&x, &[2.0; 4])
}
