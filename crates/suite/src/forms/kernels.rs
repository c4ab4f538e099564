//! The kernels that forms launch, and what they do, again on the host.

/// Where the kernels are.
pub(crate) const PTX: &str = include_str!("../../kernels/forms.ptx");

/// A struct of the suite's own that a kernel takes by value.
#[derive(Clone, Copy, Debug, PartialEq, dacapo::Pod)]
#[repr(C)]
pub(crate) struct Affine {
    pub(crate) scale: f32,
    pub(crate) shift: f32,
    /// The first elements that become 0 instead.
    pub(crate) skip: u32,
}

dacapo::kernels! {
    /// One small kernel for each kind of parameter, condition and geometry.
    pub(crate) unsafe struct Kernels(PTX) {
        /// y ← a·x + y
        fn saxpy(n: u32 = y.len(), a: f32, x: &[f32], y: &mut [f32]) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 32);
        }
        /// y ← x + by
        fn add(n: u32 = y.len(), x: &[f32], by: f32, y: &out [f32]) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 32);
        }
        /// z ← x·y
        fn multiply(n: u32 = z.len(), x: &[f32], y: &[f32], z: &out [f32]) {
            requires: x.len() == z.len(), y.len() == z.len();
            grid: linear(z.len(), 32);
        }
        /// y ← y + by, with any geometry
        fn add_stride(n: u32 = y.len(), by: f32, y: &mut [f32]) {
            default_grid: linear(y.len(), 32);
        }
        /// y\[..count\] ← y\[..count\] + 1
        fn increment_first(count: u32, y: &mut [u32]) {
            requires: within(0u32, count as usize, y.len());
            grid: linear(count as usize, 32);
        }
        /// y ← x\[offset..\]
        fn window(n: u32 = y.len(), offset: u32, x: &[u32], y: &out [u32]) {
            requires: within(offset, y.len(), x.len());
            grid: linear(y.len(), 32);
        }
        /// y ← y·s, a number in device memory
        fn scale_by(n: u32 = y.len(), s: &f32, y: &mut [f32]) {
            grid: linear(y.len(), 32);
        }
        /// total ← Σx
        fn sum(n: u32 = x.len(), x: &[f32], total: &out f32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// total ← total + by
        fn add_to(by: &f32, total: &mut f32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// y ← p.scale·x + p.shift, and 0 before p.skip
        fn affine(n: u32 = y.len(), p: Affine, x: &[f32], y: &out [f32]) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 32);
        }
        /// y ← 2y
        fn double_f16(n: u32 = y.len(), y: &mut [dacapo::half::f16]) {
            grid: linear(y.len(), 32);
        }
        /// y ← 2y
        fn double_bf16(n: u32 = y.len(), y: &mut [dacapo::half::bf16]) {
            grid: linear(y.len(), 32);
        }
        /// `rounds` steps of a linear congruence: work that takes a while
        fn churn(n: u32 = y.len(), rounds: u32, y: &mut [u32]) {
            grid: linear(y.len(), 32);
        }
        /// out ← how often this kernel ran since its module was loaded
        fn count_call(out: &out u32) {
            state: calls;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// y ← x + 1, four at once
        fn add_one_by_four(n: u32 = y.len(), x: &[f32], y: &out [f32]) {
            requires: x.len() == y.len(), y.len().is_multiple_of(4), x.aligned(16), y.aligned(16);
            grid: linear(y.len() / 4, 32);
        }
        /// y ← each 32 elements of y in reverse
        fn reverse_blocks(y: &mut [f32]) {
            requires: y.len().is_multiple_of(32);
            grid: linear(y.len(), 32).shared(128);
        }
    }
}

/// What `churn` makes of a number.
pub(crate) fn churned(mut value: u32, rounds: u32) -> u32 {
    for _ in 0..rounds {
        value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    value
}

/// 0, 1, 2, ..
pub(crate) fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}
