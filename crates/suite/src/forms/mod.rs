//! Forms: every way of recording and launching work that the library has, each a body over a `&Device`.
//!
//! - A form is written once and never asks which driver it is on: `cargo test` and `cargo xtask forms` run it on the
//!   software device over seeds, `dacapo-gpu forms` on a GPU.
//! - A form checks its data, that its graph has nodes, and, where order matters, the edges.
//! - After a form nothing is left: [`check`] holds the device's counters against those from before.
//! - On the software device no detector may have found anything, also not when the device was closed.

mod check;
mod fills;
mod kernels;
mod memory;
mod ops;
mod order;
mod scalars;
mod slots;
mod streams;

pub use check::{Failure, Outcome, check, on_software};

use dacapo::Device;

/// One way of recording and launching.
#[derive(Clone, Copy)]
pub struct Form {
    /// `area/what`.
    pub name: &'static str,
    /// Does it, and checks what came of it.
    pub body: fn(&Device) -> Outcome,
}

/// The forms of an area: functions of its file, called `area/function`.
macro_rules! forms {
    ($area:literal: $($body:ident),+ $(,)?) => {
        pub(super) const FORMS: &[$crate::forms::Form] =
            &[$($crate::forms::Form { name: concat!($area, "/", stringify!($body)), body: $body }),+];
    };
}
use forms;

/// Every form, by area.
pub fn all() -> Vec<Form> {
    let areas = [ops::FORMS, memory::FORMS, scalars::FORMS, slots::FORMS, fills::FORMS, order::FORMS, streams::FORMS];
    areas.concat()
}
