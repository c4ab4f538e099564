//! The CUDA driver in software: memory, streams, events, capture, graphs, and an interpreter of PTX.
//!
//! Where to start: a [`Machine`] is made from [`Options`] and implements [`dacapo_driver::Driver`]. A driver call goes
//! through `driver` (the list of what is known) and `visit` (who calls, what captures forbid) to `calls` (a file a
//! family), which work on `model` (plain data). `schedule` moves work, [`exec`] runs kernels, [`memory`] holds bytes.
//!
//! **Invariant:** the simulator reads no clock and no environment but what [`Options`] hands it; that a rank of a communicator
//! does not come is the one thing that the wall clock decides.
//! **Invariant:** what is not known answers `NOT_SUPPORTED` and leaves a [`finding`]; no code is invented.
//! **Invariant:** no code of the program runs while the machine's lock is held.

mod breaking;
mod built;
mod calls;
mod census;
mod check;
pub mod detect;
mod devices;
mod driver;
mod enqueue;
pub mod exec;
pub mod fatbin;
pub mod finding;
mod foreign;
mod h200;
mod linked;
mod live;
mod machine;
pub mod memory;
mod model;
mod nccl;
mod options;
mod random;
mod rounds;
mod schedule;
mod sentences;
mod visit;

pub use built::{OPTIMISED, SLOW_BUILD};
pub use census::Census;
pub use check::Broken;
pub use detect::{Detectors, UnknownDetector};
pub use driver::IMPLEMENTED;
pub use exec::InstructionSet;
pub use finding::{Ending, Finding, FindingOp};
pub use linked::{check_text, is_ptx, linked_image};
pub use machine::{Machine, with_per_thread_default_stream};
pub use nccl::SoftwareNccl;
pub use options::{H200_BYTES, OnFinding, Options, Time};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
