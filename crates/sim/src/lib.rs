//! The CUDA driver in software.
pub mod finding;
