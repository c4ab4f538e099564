//! Loads a text that is not PTX: the path of the file in place of what is in it.
//!
//! On a GPU: INVALID_IMAGE.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    p.load("kernels/add_one.ptx")?;
    Ok(())
}
