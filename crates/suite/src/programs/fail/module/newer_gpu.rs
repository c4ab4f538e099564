//! Loads PTX that was compiled for a newer GPU than the device.
//!
//! On a GPU: INVALID_PTX. PTX runs on the architecture it names and on later ones, never on earlier ones.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    p.load(&kernels::ADD_ONE.replace("sm_75", "sm_100"))?;
    Ok(())
}
