//! The CUDA driver in software.
pub mod exec;
pub mod finding;
pub mod memory;
