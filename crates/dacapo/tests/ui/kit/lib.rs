//! What the programs that must not compile are written with: the library, and kernels to misuse.

#![allow(missing_docs, reason = "kernels to misuse: the programs say what they are for")]

pub use dacapo;
pub use dacapo::graph::*;
pub use dacapo::memory::*;
pub use dacapo::op::*;
pub use dacapo::port::*;
pub use dacapo::raw::*;
pub use dacapo::shapes::*;
pub use dacapo::*;

dacapo::kernels! {
    /// Kernels of a small network; never launched, only type-checked.
    pub unsafe struct Nn("") {
        fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
        fn scale(s: &f32, x: &[f32], y: &mut [f32]) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
        fn bump(s: &mut f32) { grid: exact([1, 1, 1], [1, 1, 1]); }
        fn relu(x: &mut [f32]) { default_grid: linear(x.len(), 256); }
        fn mse(y: &[f32], t: &[f32], dy: &mut [f32], loss: &mut f32) {
            requires: y.len() == t.len() && y.len() == dy.len();
            grid: exact([1, 1, 1], [256, 1, 1]);
        }
        fn window(offset: u32, x: &[f32], y: &mut [f32]) {
            requires: within(offset, y.len(), x.len());
            grid: linear(y.len(), 256);
        }
    }
}
