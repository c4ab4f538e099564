//! What the interpreter promises, family by family: PTX text against references written in Rust.

mod harness;
mod kernels;
