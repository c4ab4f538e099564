//! A decode step at GPT-2-small's sizes in bf16: weights, keys and values in bf16, sums in f32.
//!
//! Where to start: [`model`] is the step as one operation; [`shape`] says how large it is and how many bytes a step must read;
//! [`mod@reference`] is the same transformer in plain Rust; [`show`] runs and checks it for the program. The sizes, and what a
//! step does, are those of `crates/bench/anchors/torch_decode.py`, which is PyTorch's side.

pub mod kernels;
pub mod model;
pub mod reference;
pub mod shape;
pub mod show;

pub mod weights;

pub use kernels::Kernels;
pub use model::{Advance, Model, State, head_blocks};
pub use reference::Reference;
pub use shape::{HEAD, Shape};
pub use weights::Weights;
