//! Forms: every way of recording and launching work that the library has, each a body over a `&Device`.
//!
//! - A form is written once and never asks which driver it is on: `cargo test` and `cargo xtask forms` run it on the
//!   software device over seeds, `dacapo-gpu forms` on a GPU.
//! - A form checks its data, that its graph has nodes, and, where order matters, the edges.
//! - After a form nothing is left: [`check`] holds the device's counters against those from before.
//! - On the software device no detector may have found anything but what the form is about, also not when the device
//!   was closed.

mod arenas;
mod async_launch;
mod buckets;
mod captures;
mod check;
mod compiled;
mod drops;
mod errors;
mod fills;
mod flow;
mod foreign_work;
mod into;
pub(crate) mod kernels;
mod library;
mod memory;
mod modules;
mod ops;
mod order;
mod pools;
mod products;
mod profiles;
mod randoms;
mod records;
mod rerecords;
mod scalars;
mod shapes;
mod slots;
mod streams;

pub use buckets::{RecordingOrder, Shared, eight_in_one_pool};
pub use check::{Failure, Outcome, check, on_software, on_software_of};
pub(crate) use check::{holds, refused, same};

use dacapo::Device;

/// One way of recording and launching.
#[derive(Clone, Copy)]
pub struct Form {
    /// `area/what`.
    pub name: &'static str,
    /// Does it, and checks what came of it.
    pub body: fn(&Device) -> Outcome,
    /// What the software device's detectors must find, by the word in brackets: a form may make a mistake on purpose.
    pub findings: &'static [&'static str],
}

impl Form {
    /// What this machine lacks, if that is why the body does nothing: such a form has not passed, and is not counted.
    pub fn lacks(&self) -> Option<&'static str> {
        let is_compiled = compiled::FORMS.iter().any(|form| form.name == self.name);
        (is_compiled && compiled::is_missing()).then_some("NVRTC")
    }
}

/// The forms of an area: functions of its file, called `area/function`, each with what it makes the detectors find.
macro_rules! forms {
    ($area:literal: $($body:ident $(=> $finding:literal)*),+ $(,)?) => {
        pub(super) const FORMS: &[$crate::forms::Form] = &[$($crate::forms::Form {
            name: concat!($area, "/", stringify!($body)),
            body: $body,
            findings: &[$($finding),*],
        }),+];
    };
}
use forms;

/// Every form, by area.
pub fn all() -> Vec<Form> {
    let areas = [
        ops::FORMS,
        memory::FORMS,
        arenas::FORMS,
        scalars::FORMS,
        slots::FORMS,
        fills::FORMS,
        order::FORMS,
        streams::FORMS,
        async_launch::FORMS,
        records::FORMS,
        rerecords::FORMS,
        into::FORMS,
        modules::FORMS,
        shapes::FORMS,
        pools::FORMS,
        profiles::FORMS,
        foreign_work::FORMS,
        products::FORMS,
        compiled::FORMS,
        captures::FORMS,
        randoms::FORMS,
        drops::FORMS,
    ];
    // Errors last: one of them takes all memory, and compute-sanitizer 2025.3 loses the next graph with conditional nodes.
    [areas.concat(), flow::AREAS.concat(), errors::FORMS.to_vec()].concat()
}
