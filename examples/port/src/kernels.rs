//! The kernels of `kernels/port.cu` as methods.

dacapo::kernels! {
    /// The small program's kernels. Safe by: each thread checks its number against `n`, which is every slice's length.
    pub unsafe struct Kernels(include_str!("../kernels/port.ptx")) {
        /// y ← a·x + y, `a` by value: a [`Slot`](dacapo::Slot) or `baked`.
        fn axpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
        /// y ← a·x + y, `a` in device memory: a [`Scalar`](dacapo::Scalar).
        fn axpy_at(a: &f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
        /// out ← a·x.
        fn scale(a: &f32, x: &[f32], out: &out [f32], n: u32 = out.len()) {
            requires: x.len() == out.len();
            grid: linear(out.len(), 256);
        }
        /// out ← x + y.
        fn add(x: &[f32], y: &[f32], out: &out [f32], n: u32 = out.len()) {
            requires: x.len() == out.len(), y.len() == out.len();
            grid: linear(out.len(), 256);
        }
    }
}
