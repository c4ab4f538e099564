//! What the interpreter promises, family by family: PTX text against references written in Rust.

mod corpus;
mod harness;
mod kernels;
