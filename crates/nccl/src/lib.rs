//! The collectives of NCCL as ONE table, and NVIDIA's library behind it.
//!
//! Where to start: [`table`](for_each_nccl_call) holds a row for each symbol; [`Nccl`] is that table as a trait;
//! [`NvidiaNccl`] is NVIDIA's library behind it, [`HookedNccl`] puts a hook around every call of any library.
//!
//! - Nothing is linked: whoever opens the library hands over its symbols.
//! - Nothing here panics on what a library answers: unknown codes survive as numbers.
//! - The table holds what is the same from NCCL 2.14 (which brought calls that do not block) to 2.32.

mod api;
mod call;
mod forward;
mod hook;
mod nvidia;
mod result;
mod table;
pub mod types;

pub use api::Nccl;
pub use call::{NcclCall, NcclRole};
pub use hook::{CountNccl, FaultNccl, HookedNccl, NcclHook};
pub use nvidia::{MissingSymbol, NvidiaNccl};
pub use result::ncclResult;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
