//! Loads PTX whose `.version` is newer than the driver.
//!
//! On a GPU: UNSUPPORTED_PTX_VERSION: the toolkit that made the PTX is newer than the driver that reads it.

use crate::programs::{Answer, Program, kernels};

pub fn program(p: &Program) -> Answer {
    p.load(&kernels::ADD_ONE.replace(".version 8.4", ".version 99.0"))?;
    Ok(())
}
