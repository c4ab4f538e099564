//! The kernels of `kernels/training.cu` as methods.
//!
//! Sizes follow from the lengths of what is given where they can, and `requires` says how these must fit. So a wrong buffer
//! is an error with the lengths in it, before anything runs.

/// The kernels' text, for those who launch them by other means.
pub const PTX: &str = include_str!("../kernels/training.ptx");

dacapo::kernels! {
    /// Training steps of a GRU and of a feed-forward network.
    ///
    /// Safe by: every kernel compares rows, columns and terms with the sizes below before it touches them, four columns at a
    /// time, of which there are a multiple of four; a GRU's units come in blocks of eight, of which there are whole ones.
    pub unsafe struct Kernels(PTX) {
        /// y ← x Wᵀ + b, a row of `x` for each row of `y`.
        fn linear(x: &[f32], w: &[f32], b: &[f32], y: &out [f32], m: u32 = per(y.len(), b.len()), n: u32 = b.len(),
                  k: u32 = per(w.len(), b.len())) {
            requires: fits(x.len(), [m, k]), fits(w.len(), [n, k]), fits(y.len(), [m, n]), fours([n, k]),
                      x.aligned(16), w.aligned(16), b.aligned(16), y.aligned(16);
            grid: exact(tiles(m, n, 1), [256, 1, 1]);
        }
        /// y ← gelu(x Wᵀ + b), and the slopes of gelu there.
        fn linear_gelu(x: &[f32], w: &[f32], b: &[f32], y: &out [f32], slopes: &out [f32],
                       m: u32 = per(y.len(), b.len()), n: u32 = b.len(), k: u32 = per(w.len(), b.len())) {
            requires: fits(x.len(), [m, k]), fits(w.len(), [n, k]), fits(y.len(), [m, n]), slopes.len() == y.len(),
                      fours([n, k]), x.aligned(16), w.aligned(16), b.aligned(16), y.aligned(16), slopes.aligned(16);
            grid: exact(tiles(m, n, 1), [256, 1, 1]);
        }
        /// The mean square distance of x Wᵀ + b from the targets, in parts, and its gradient; moves Adam's powers on.
        fn linear_loss(x: &[f32], w: &[f32], b: &[f32], targets: &[f32], dy: &out [f32], parts: &out [f32],
                       powers: &mut [f32], beta1: f32, beta2: f32, m: u32 = per(dy.len(), b.len()), n: u32 = b.len(),
                       k: u32 = per(w.len(), b.len())) {
            requires: fits(x.len(), [m, k]), fits(w.len(), [n, k]), fits(dy.len(), [m, n]), targets.len() == dy.len(),
                      parts.len() == blocks(tiles(m, n, 1)), powers.len() == 2, fours([n, k]), x.aligned(16),
                      w.aligned(16), b.aligned(16), targets.aligned(16), dy.aligned(16);
            grid: exact(tiles(m, n, 1), [256, 1, 1]);
        }
        /// The same of gelu(x Wᵀ + b), with the gradient before gelu.
        fn linear_gelu_loss(x: &[f32], w: &[f32], b: &[f32], targets: &[f32], dy: &out [f32], parts: &out [f32],
                            powers: &mut [f32], beta1: f32, beta2: f32, m: u32 = per(dy.len(), b.len()),
                            n: u32 = b.len(), k: u32 = per(w.len(), b.len())) {
            requires: fits(x.len(), [m, k]), fits(w.len(), [n, k]), fits(dy.len(), [m, n]), targets.len() == dy.len(),
                      parts.len() == blocks(tiles(m, n, 1)), powers.len() == 2, fours([n, k]), x.aligned(16),
                      w.aligned(16), b.aligned(16), targets.aligned(16), dy.aligned(16);
            grid: exact(tiles(m, n, 1), [256, 1, 1]);
        }
        /// dx ← (dy W) · slopes, for `m` rows.
        fn linear_gelu_backward(dy: &[f32], w: &[f32], slopes: &[f32], dx: &out [f32], m: u32,
                                n: u32 = per(dx.len(), m as usize), k: u32 = per(dy.len(), m as usize)) {
            requires: fits(dy.len(), [m, k]), fits(w.len(), [k, n]), fits(dx.len(), [m, n]), slopes.len() == dx.len(),
                      fours([n, k]), dy.aligned(16), w.aligned(16), slopes.aligned(16), dx.aligned(16);
            grid: exact(tiles(m, n, 1), [256, 1, 1]);
        }
        /// dW ← dyᵀ x and, behind it, db ← the sums of dy's columns, for layers of `m` outputs and `n` inputs.
        fn weight_gradient(dy: &[f32], x: &[f32], gradient: &out [f32], m: u32, n: u32,
                           k: u32 = per(dy.len(), layers(gradient.len(), m, n) * m as usize)) {
            requires: fits(gradient.len(), [layers(gradient.len(), m, n) as u32, m, n.saturating_add(1)]),
                      fits(dy.len(), [layers(gradient.len(), m, n) as u32, k, m]),
                      fits(x.len(), [layers(gradient.len(), m, n) as u32, k, n]), fours([m, n]), dy.aligned(16),
                      x.aligned(16), gradient.aligned(16);
            grid: exact(tiles(m, n, layers(gradient.len(), m, n)), [256, 1, 1]);
        }
        /// One step of a GRU: its next state, and its gates as the way back needs them.
        fn gru_forward(inputs: &[f32], h: &[f32], w: &[f32], b: &[f32], next: &out [f32], gates: &out [f32],
                       batch: u32 = per(h.len(), b.len() / 3), hidden: u32 = b.len() / 3) {
            requires: fits(inputs.len(), [batch, 3, hidden]), fits(h.len(), [batch, hidden]), fits(b.len(), [3, hidden]),
                      fits(w.len(), [3, hidden, hidden]), next.len() == h.len(), fits(gates.len(), [batch, 4, hidden]),
                      hidden.is_multiple_of(8), batch > 0, h.aligned(16), w.aligned(16);
            grid: exact(cells(batch, hidden), [256, 1, 1]);
        }
        /// One step of a GRU back: dh ← carry + dy W, the gradients of the gates, and what goes past them.
        fn gru_backward(dy: &[f32], w: &[f32], carry: &[f32], gates: &[f32], h: &[f32], dx_gates: &out [f32],
                        dh_gates: &out [f32], carried: &out [f32], batch: u32,
                        hidden: u32 = per(carry.len(), batch as usize), k: u32 = per(dy.len(), batch as usize)) {
            requires: fits(dy.len(), [batch, k]), fits(w.len(), [k, hidden]), fits(carry.len(), [batch, hidden]),
                      fits(gates.len(), [batch, 4, hidden]), h.len() == carry.len(), carried.len() == carry.len(),
                      fits(dx_gates.len(), [batch, 3, hidden]), dh_gates.len() == dx_gates.len(),
                      hidden.is_multiple_of(8), fours([k]), batch > 0, dy.aligned(16), w.aligned(16);
            grid: exact(cells(batch, hidden), [256, 1, 1]);
        }
        /// One step of Adam over all parameters; adds up the parts of the loss.
        fn adam(rate: f32, beta1: f32, beta2: f32, epsilon: f32, powers: &[f32], g: &[f32], parts: &[f32],
                p: &mut [f32], m: &mut [f32], v: &mut [f32], loss: &out f32, n: u32 = p.len(),
                parts_n: u32 = parts.len()) {
            requires: powers.len() == 2, g.len() == p.len(), m.len() == p.len(), v.len() == p.len(), fours([n]),
                      n < 1 << 30, g.aligned(16), p.aligned(16), m.aligned(16), v.aligned(16);
            grid: exact([n.div_ceil(1024) + 1, 1, 1], [256, 1, 1]);
        }
    }
}

/// How many rows of `row` elements there are; none where a row has no elements. `requires` says that nothing was left over.
fn per(elements: usize, row: usize) -> usize {
    elements.checked_div(row).unwrap_or(0)
}

/// Whether an array of these sizes has `len` elements, and few enough for the kernels to count.
fn fits<const N: usize>(len: usize, sizes: [u32; N]) -> bool {
    let product = sizes.iter().try_fold(1_u64, |product, size| product.checked_mul(u64::from(*size)));
    product == Some(len as u64) && len < 1 << 30
}

/// Whether all of these can be taken four at a time.
fn fours<const N: usize>(sizes: [u32; N]) -> bool {
    sizes.iter().all(|size| size.is_multiple_of(4))
}

/// Layers of `m` outputs and `n` inputs that have so many parameters.
fn layers(parameters: usize, m: u32, n: u32) -> usize {
    per(parameters, m as usize * (n as usize + 1))
}

/// Blocks of a product.
fn tiles(m: u32, n: u32, layers: usize) -> [u32; 3] {
    [n.div_ceil(32), m.div_ceil(32), u32::try_from(layers).unwrap_or(u32::MAX)]
}

/// How many blocks that are.
fn blocks(grid: [u32; 3]) -> usize {
    grid.iter().map(|size| *size as usize).product()
}

/// Blocks of a step of a GRU.
fn cells(batch: u32, hidden: u32) -> [u32; 3] {
    [hidden / 8, batch.div_ceil(8), 1]
}

#[cfg(test)]
mod tests {
    use dacapo::{Device, ErrorKind, baked};

    use super::*;

    #[test]
    fn sizes_that_nothing_fits_are_refused() {
        let device = Device::software().unwrap();
        let (k, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
        let (dy, x, mut gradient) =
            (device.zeros(64).unwrap(), device.zeros(64).unwrap(), device.zeros::<f32>(72).unwrap());
        stream.run(k.weight_gradient(&dy, &x, &mut gradient, baked(8), baked(8))).unwrap();
        for (m, n) in [(8, u32::MAX), (u32::MAX, 8), (u32::MAX, u32::MAX), (8, 4), (0, 0)] {
            let refused = stream.run(k.weight_gradient(&dy, &x, &mut gradient, baked(m), baked(n))).unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::Requires { .. }), "{m} x {n}: {refused:?}");
        }
    }
}
