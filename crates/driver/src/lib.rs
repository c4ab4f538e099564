//! The CUDA driver API as ONE table, and NVIDIA's driver behind it.
//!
//! Where to start: [`table`](for_each_call) holds a row for each symbol; [`Driver`] is that table as a trait.
//!
//! - No toolkit and no `libcuda` at build or link time: NVIDIA's library is opened at run time.
//! - Nothing here panics on what a driver answers: unknown codes survive as numbers.

mod api;
mod call;
mod result;
mod table;
pub mod types;

pub use api::Driver;
pub use call::{BesideCapturing, Call, Family, OnCapturing, PerThreadTwin};
pub use result::CUresult;
