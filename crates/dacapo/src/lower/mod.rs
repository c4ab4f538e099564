//! Lowering: driver objects of a plan.
//!
//! - [`run`] launches a recording on a stream, in recorded order.
//! - [`Built`] is an executable graph of explicit nodes, with what is needed to change them later.
//! - All driver calls that enqueue or describe work are here, and the addresses they take are those of memory that the
//!   caller holds.

mod branching;
mod building;
mod built;
mod calls;
mod declared;
mod eager;
mod estimate;
mod foreign;
mod guard;
mod params;
mod report;
mod run;
mod stamps;

pub(crate) use building::Parts;
pub(crate) use built::{Built, CapturedGraph, Rewritten, params_of, unpatched};
pub(crate) use declared::named_as;
pub(crate) use eager::run_recorded;
pub(crate) use estimate::{executable_bytes, executable_of};
pub(crate) use guard::{GUARDED, guard, unguard};
pub(crate) use params::{AsAllocated, Resolve};
pub(crate) use report::{Described, Wanted, report_of};
pub(crate) use run::{Aside, PutAside, expect_whole, launch_one, run, run_and_put_back, run_or, run_stamped, touched};
pub(crate) use stamps::{OpStamps, Stamps};
