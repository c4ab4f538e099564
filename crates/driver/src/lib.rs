//! The CUDA driver API as ONE table, and NVIDIA's driver behind it.
//!
//! Where to start: [`table`](for_each_call) holds a row for each symbol; [`Driver`] is that table as a trait;
//! [`Nvidia`] is NVIDIA's library behind it, [`Hooked`] puts a hook around every call of any driver.
//!
//! - No toolkit and no `libcuda` at build or link time: NVIDIA's library is opened at run time.
//! - Nothing here panics on what a driver answers: unknown codes survive as numbers.

mod api;
mod call;
mod declared;
mod error;
mod forward;
mod hook;
mod lawful;
mod nvidia;
mod result;
mod table;
pub mod types;

pub use api::Driver;
pub use call::{BesideCapturing, Call, Family, OnCapturing, PerThreadTwin};
pub use declared::{Declared, DeclaredMode, DeclaredOf, DeclaredSlice};
pub use error::{Check, DriverError};
pub use hook::{Argument, Breakable, CallCount, Count, Fault, Hook, Hooked, Notation, Rule, Trace, Which};
pub use lawful::{Effect, Lawful, Role, STICKY, Source, lawful, leaves_undone};
pub use nvidia::{LoadError, Nvidia};
pub use result::CUresult;
