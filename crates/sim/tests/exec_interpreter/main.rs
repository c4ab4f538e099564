//! What the interpreter promises, family by family: PTX text against references written in Rust.

mod corpus;
mod float;
mod hardware;
mod harness;
mod integer;
mod kernels;
mod ops;
