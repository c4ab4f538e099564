//! The library under every lawful fault of every driver call it makes.
//!
//! A [`Scenario`] is a small program over a device. [`calls_of`] runs it once and writes down its driver calls;
//! [`inject`] runs it again with one fault ([`dacapo_driver::lawful`]) at one of them, and says what came of it. What must
//! hold after it, each time:
//!
//! - no panic that the scenario does not mean, and no hang;
//! - the error, if there is one, is the library's and names the call, or is of a kind that stands for it; without an error
//!   the results are right;
//! - nothing is left: the device's counters are as before, and when the device is closed the machine has nothing of the
//!   program's in it, no value of the user's is held, and the thread's capture mode is what it was;
//! - no stream is left capturing;
//! - the software driver, all its detectors on, has found nothing;
//! - where memory is what there is none of, the error says how much was wanted and how much is free;
//! - the scenario then succeeds: on the same device, or on a new one if the context was lost, which the old device says
//!   to every call.

mod arenas;
mod captures;
mod check;
mod edges;
mod flow;
mod inject;
mod launches;
mod memory;
mod opening;
mod products;
mod profiles;
mod recordings;
mod shapes;
mod steps;

pub(crate) use check::names_the_call;
pub use check::{Verdict, calls_of, inject, starve};
pub use inject::{Injected, TAKES_MEMORY};

use std::sync::Arc;

use dacapo::{Device, Error, Stream};
use dacapo_driver::Driver;

use crate::forms::kernels::Kernels;

/// A small program over a device.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// `area/what`.
    pub name: &'static str,
    /// Does it, and checks what came of it.
    pub(crate) body: fn(&Bench) -> dacapo::Result<()>,
}

/// What a scenario is given. What it makes itself, it makes under faults.
pub(crate) struct Bench {
    pub(crate) device: Device,
    pub(crate) stream: Stream,
    pub(crate) k: Kernels,
    /// The driver below the device, faults and all: for another library's calls, and for more devices on it.
    pub(crate) driver: Arc<dyn Driver>,
    /// What a scenario keeps somewhere must be let go in the end.
    pub(crate) token: Arc<()>,
}

/// The scenarios of an area: functions of its file.
macro_rules! scenarios {
    ($area:literal: $($body:ident),+ $(,)?) => {
        pub(super) const SCENARIOS: &[$crate::faults::Scenario] = &[$($crate::faults::Scenario {
            name: concat!($area, "/", stringify!($body)),
            body: $body,
        }),+];
    };
}
use scenarios;

/// Every scenario, by area.
pub fn all() -> Vec<Scenario> {
    let areas = [
        opening::SCENARIOS,
        memory::SCENARIOS,
        arenas::SCENARIOS,
        recordings::SCENARIOS,
        launches::SCENARIOS,
        captures::SCENARIOS,
        products::SCENARIOS,
        profiles::SCENARIOS,
        steps::SCENARIOS,
        shapes::SCENARIOS,
        flow::SCENARIOS,
        edges::SCENARIOS,
    ];
    areas.concat()
}

/// Results must be right whenever there are any.
fn right<A: PartialEq<B> + std::fmt::Debug, B: std::fmt::Debug>(what: &str, got: A, want: B) -> dacapo::Result<()> {
    if got == want { Ok(()) } else { Err(Error::msg(format!("WRONG: {what}: got {got:?}, expected {want:?}"))) }
}
