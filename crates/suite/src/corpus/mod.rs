//! Kernels of `kernels/`, run with awkward shapes and awkward numbers, and what a GPU made of them.
//!
//! - A [`Case`] is a kernel, a shape and all its inputs; it is the same on every machine and in every run.
//! - [`run`] runs one on any driver; [`record`] runs all and keeps the bits; [`compare()`] holds outputs against a recording.
//! - Every output says how it is compared: bit for bit, or within a [`Bound`] derived from the PTX manual's bounds of
//!   the instructions that its kernel uses. A bound is never taken from a difference that was seen.
//! - A recording knows the hashes of the PTX and the inputs it was made with: a stale one is an error, not a comparison.
//! - Behind each buffer lies a guard band; a kernel that changes it has failed, whatever its outputs are.

mod bound;
mod case;
mod cases;
mod compare;
mod data;
mod modules;
mod recording;
mod run;

pub use bound::Bound;
pub use case::{Argument, Buffer, Case, Element, Output};
pub use cases::all;
pub use compare::{Verdict, compare};
pub(crate) use data::Random;
pub use modules::{AWAITED, MODULES, ptx};
pub use recording::{CaseOutputs, RECORDING_FILE, Recording, RecordingError, committed, record};
pub use run::{Failure, run};
