//! The kernels of `kernels/solve.cu` as methods, and the one grid that they have.
//!
//! Sizes follow from the lengths of what is given, and `requires` says how these must fit.

/// The kernels' PTX.
pub const PTX: &str = include_str!("../kernels/solve.ptx");

/// Threads of a block.
pub const THREADS: usize = 128;
/// The most blocks: beyond, a thread takes more than one point, and adding up the parts stays cheap.
const BLOCKS_MAX: usize = 1024;

dacapo::kernels! {
    /// Conjugate gradients with the five-point stencil.
    ///
    /// Safe by: every kernel compares a point with the number of points and a part with the number of parts; a block
    /// writes the part with its own number, and there are as many parts as blocks. A neighbour is read only if the point's
    /// row and column say that there is one.
    pub unsafe struct Kernels(PTX) {
        /// x ← 0, r ← b, p ← b, and the parts of r · r.
        fn begin(b: &[f32], x: &out [f32], r: &out [f32], p: &out [f32], parts: &out [f32], n: u32 = b.len()) {
            requires: n < 1 << 30, x.len() == b.len(), r.len() == b.len(), p.len() == b.len(),
                      parts.len() == blocks(b.len());
            grid: exact(grid(b.len()), [THREADS as u32, 1, 1]);
        }
        /// residual ← the sum of the parts of r · r, limit ← tolerance² of it, rounds ← 0.
        fn measure(parts: &[f32], tolerance: f32, residual: &out f32, limit: &out f32, rounds: &out u32,
                   count: u32 = parts.len()) {
            grid: exact([1, 1, 1], [THREADS as u32, 1, 1]);
        }
        /// q ← A p, the parts of p · q, and before ← residual.
        fn apply(p: &[f32], residual: &f32, q: &out [f32], parts: &out [f32], before: &out f32,
                 side: u32 = p.len().isqrt()) {
            requires: side < 1 << 15, p.len() == side as usize * side as usize, q.len() == p.len(),
                      parts.len() == blocks(p.len());
            grid: exact(grid(p.len()), [THREADS as u32, 1, 1]);
        }
        /// α ← before / p · q, x ← x + α p, r ← r - α q, and the parts of the new r · r.
        fn advance(p: &[f32], q: &[f32], pq_parts: &[f32], before: &f32, x: &mut [f32], r: &mut [f32],
                   parts: &out [f32], n: u32 = x.len(), count: u32 = pq_parts.len()) {
            requires: n < 1 << 30, p.len() == x.len(), q.len() == x.len(), r.len() == x.len(),
                      parts.len() == blocks(x.len());
            grid: exact(grid(x.len()), [THREADS as u32, 1, 1]);
        }
        /// residual ← the new r · r, β ← that over before, p ← r + β p, rounds ← rounds + 1.
        fn turn(r: &[f32], rr_parts: &[f32], before: &f32, p: &mut [f32], residual: &out f32, rounds: &mut u32,
                n: u32 = p.len(), count: u32 = rr_parts.len()) {
            requires: n < 1 << 30, r.len() == p.len();
            grid: exact(grid(p.len()), [THREADS as u32, 1, 1]);
        }
    }
}

/// Blocks for so many points, and so the parts of a dot product. At least one: it writes the scalars.
pub fn blocks(points: usize) -> usize {
    points.div_ceil(THREADS).clamp(1, BLOCKS_MAX)
}

fn grid(points: usize) -> [u32; 3] {
    [blocks(points) as u32, 1, 1]
}
