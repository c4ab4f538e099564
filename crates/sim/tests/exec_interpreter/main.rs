//! What the interpreter promises, family by family: PTX text against references written in Rust.

mod apart;
mod control;
mod corpus;
mod edges;
mod float;
mod global_races;
mod hardware;
mod harness;
mod integer;
mod kernels;
mod matrix;
mod memory;
mod ops;
mod races;
mod sync;
mod undeclared;
mod used_bytes;
