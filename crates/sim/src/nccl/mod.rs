//! The collectives of NCCL in software: [`SoftwareNccl`] implements [`dacapo_nccl::Nccl`] over machines.
//!
//! | file | holds |
//! |---|---|
//! | `api` | the calls, and the only unsafe code: pointers of the program |
//! | `group`, `work` | groups of calls; a piece of work on a stream or in a graph |
//! | `run`, `ranks` | what a machine does when a piece's turn comes; its ranks; who looks at the clock |
//! | `meeting`, `report` | where the ranks of a communicator meet; what goes wrong between them, in words |
//! | `transfer`, `element` | one call as data; how types are folded |
//! | `communicator` | a rank: how it reaches the others, what it has under way |
//! | `id`, `hub`, `join` | the id that ranks are given; the listener where they find each other; how one joins |
//! | `wire`, `remote` | frames between processes, with every length checked; a rank whose others are elsewhere |
//! | `refusal` | refused calls, and the last error of a thread |
//!
//! Ranks of one machine share its lock and its seed, so a program that drives all of them is reproduced by its seed. Ranks of
//! several machines, in one process or in several on one computer, meet in the process that made the id.
//!
//! **What a clock decides:** that a rank does not come (`Options::rank_patience`), and nothing else.

mod api;
mod communicator;
mod content;
mod element;
mod group;
mod hub;
mod id;
mod join;
mod meeting;
mod ranks;
mod refusal;
mod remote;
mod report;
mod run;
mod transfer;
mod wire;
mod work;

pub use api::SoftwareNccl;
pub(crate) use ranks::Ranks;
pub(crate) use work::{CollectiveWork, Run};
