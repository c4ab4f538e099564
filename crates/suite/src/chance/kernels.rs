//! The kernels that random programs are made of: u32 with wrapping arithmetic, so that a model on the host is exact.

dacapo::kernels! {
    /// Small kernels over `u32`, each with another kind of argument or condition.
    pub unsafe struct Kernels(include_str!("kernels.ptx")) {
        /// y ← a + b
        fn add(n: u32 = y.len(), a: &[u32], b: &[u32], y: &out [u32]) {
            requires: a.len() == y.len(), b.len() == y.len();
            grid: linear(y.len(), 32);
        }
        /// y ← 3y + x
        fn mix(n: u32 = y.len(), x: &[u32], y: &mut [u32]) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 32);
        }
        /// y ← y·by, a number in device memory
        fn scale(n: u32 = y.len(), by: &u32, y: &mut [u32]) {
            grid: linear(y.len(), 32);
        }
        /// y ← Σx
        fn sum(n: u32 = x.len(), x: &[u32], y: &out u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// y\[..count\] ← y\[..count\] + 1; a count of 0 leaves no block to run
        fn first(count: u32, y: &mut [u32]) {
            requires: count as usize <= y.len();
            grid: linear(count as usize, 32);
        }
        /// y ← x\[offset..\]
        fn window(n: u32 = y.len(), offset: u32, x: &[u32], y: &out [u32]) {
            requires: within(offset, y.len(), x.len());
            grid: linear(y.len(), 32);
        }
        /// y ← value
        fn put(n: u32 = y.len(), value: u32, y: &out [u32]) {
            grid: linear(y.len(), 32);
        }
        /// y ← y + 1
        fn bump(y: &mut u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}
