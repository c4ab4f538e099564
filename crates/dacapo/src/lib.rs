//! GPU work as values: run it now, or record it once and replay it as a CUDA graph.

pub mod inspect;
mod plan;
