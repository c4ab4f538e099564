//! The kernels of `kernels/network.cu` as methods.
//!
//! Sizes are not arguments: they follow from the lengths of what is given, and `requires` says how these must fit. So a
//! wrong buffer is an error with the lengths in it, before anything runs.

dacapo::kernels! {
    /// One training step of a small network.
    ///
    /// Safe by: every kernel checks its thread's number against the sizes below, and reads and writes rows and columns of
    /// just these sizes; a label is checked before it is an index.
    pub unsafe struct Kernels(include_str!("../kernels/network.ptx")) {
        /// y ← x Wᵀ + b, a row of `x` for each row of `y`.
        fn linear_forward(x: &[f32], w: &[f32], b: &[f32], y: &out [f32], rows: u32 = per(y.len(), b.len()),
                          inputs: u32 = per(w.len(), b.len()), outputs: u32 = b.len()) {
            requires: matrix(x.len(), rows, inputs), matrix(w.len(), outputs, inputs), matrix(y.len(), rows, outputs);
            grid: linear(y.len(), 256);
        }
        /// dx ← dy W.
        fn linear_backward_input(dy: &[f32], w: &[f32], dx: &out [f32], rows: u32, inputs: u32 = per(dx.len(), rows as usize),
                                 outputs: u32 = per(dy.len(), rows as usize)) {
            requires: matrix(dy.len(), rows, outputs), matrix(w.len(), outputs, inputs), matrix(dx.len(), rows, inputs);
            grid: linear(dx.len(), 256);
        }
        /// dW ← dW + dyᵀ x.
        fn linear_backward_weight(dy: &[f32], x: &[f32], dw: &mut [f32], rows: u32, inputs: u32 = per(x.len(), rows as usize),
                                  outputs: u32 = per(dy.len(), rows as usize)) {
            requires: matrix(dy.len(), rows, outputs), matrix(x.len(), rows, inputs), matrix(dw.len(), outputs, inputs);
            grid: linear(dw.len(), 256);
        }
        /// db ← db + the sums of dy's columns.
        fn linear_backward_bias(dy: &[f32], db: &mut [f32], rows: u32 = per(dy.len(), db.len()), outputs: u32 = db.len()) {
            requires: matrix(dy.len(), rows, outputs);
            grid: linear(db.len(), 256);
        }
        /// y ← max(x, 0).
        fn relu(x: &[f32], y: &out [f32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
        /// dx ← dy where y > 0, else 0.
        fn relu_backward(y: &[f32], dy: &[f32], dx: &out [f32], n: u32 = dx.len()) {
            requires: y.len() == dx.len(), dy.len() == dx.len();
            grid: linear(dx.len(), 256);
        }
        /// The mean cross entropy of the rows' softmax and the labels, and its gradient.
        fn softmax_cross_entropy(logits: &[f32], labels: &[u32], dlogits: &out [f32], loss: &mut f32,
                                 rows: u32 = labels.len(), classes: u32 = per(logits.len(), labels.len())) {
            requires: matrix(logits.len(), rows, classes), matrix(dlogits.len(), rows, classes);
            grid: exact([1, 1, 1], [256, 1, 1]);
        }
        /// The powers of Adam's betas, one step on.
        fn adam_advance(powers: &mut [f32], beta1: f32, beta2: f32) {
            requires: powers.len() == 2;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// One step of Adam: value `p`, gradient `g`, means `m` and `v`.
        fn adam_step(rate: f32, beta1: f32, beta2: f32, epsilon: f32, powers: &[f32], g: &[f32], p: &mut [f32],
                     m: &mut [f32], v: &mut [f32], n: u32 = p.len()) {
            requires: powers.len() == 2, g.len() == p.len(), m.len() == p.len(), v.len() == p.len();
            grid: linear(p.len(), 256);
        }
    }
}

/// How many rows of `row` elements there are; none where a row has no elements. `requires` says that nothing was left over.
fn per(elements: usize, row: usize) -> usize {
    elements.checked_div(row).unwrap_or(0)
}

/// Whether a matrix of these sizes has `len` elements, and few enough for the kernels to count.
fn matrix(len: usize, rows: u32, columns: u32) -> bool {
    u64::from(rows) * u64::from(columns) == len as u64 && u32::try_from(len).is_ok()
}
