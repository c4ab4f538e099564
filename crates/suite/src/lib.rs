//! Test bodies over a driver, each written once, run on both drivers.
//!
//! Where to start: [`session`] opens a device on any driver; [`corpus`] runs kernels from `kernels/` and compares
//! their outputs with what a GPU gave; [`replay`] captures, replays and updates a small graph; [`programs`] make one
//! mistake each, or just not; [`conformance`] writes down what a driver answers and compares it with a GPU's answers.
//!
//! A body is handed a `&dyn Driver` and never asks which one it is.

pub mod chance;
pub mod conformance;
pub mod corpus;
pub mod cublaslt;
pub mod device;
pub mod digest;
#[cfg(doctest)]
mod documents;
pub mod edges;
pub mod faults;
pub mod footprint;
pub mod forms;
pub mod mazes;
pub mod nccl;
pub mod one_rank;
pub mod programs;
pub mod ranks;
pub mod replay;
pub mod scenes;
pub mod session;
pub mod single;
pub mod table;
pub mod traffic;
