//! The kernels of the demonstration, as methods.

dacapo::kernels! {
    /// What a step of a small network needs.
    ///
    /// Safe by: every kernel compares its thread's number with the sizes it is given, and touches rows and columns of
    /// just these sizes; `requires` says that the slices have them.
    pub unsafe struct Kernels(include_str!("../../kernels/network.ptx")) {
        /// y ← x Wᵀ + b, for each row of `x`.
        fn linear_forward(x: &[f32], w: &[f32], b: &[f32], y: &out [f32], rows: u32 = quotient(y.len(), b.len()),
                          inputs: u32 = quotient(w.len(), b.len()), outputs: u32 = b.len()) {
            requires: fits(x.len(), rows, inputs), fits(w.len(), outputs, inputs), fits(y.len(), rows, outputs);
            grid: linear(y.len(), 256);
        }
        /// dx ← dy W.
        fn linear_backward_input(dy: &[f32], w: &[f32], dx: &out [f32], rows: u32,
                                 inputs: u32 = quotient(dx.len(), rows as usize),
                                 outputs: u32 = quotient(dy.len(), rows as usize)) {
            requires: fits(dy.len(), rows, outputs), fits(w.len(), outputs, inputs), fits(dx.len(), rows, inputs);
            grid: linear(dx.len(), 256);
        }
        /// dW ← dW + dyᵀ x.
        fn linear_backward_weight(dy: &[f32], x: &[f32], dw: &mut [f32], rows: u32,
                                  inputs: u32 = quotient(x.len(), rows as usize),
                                  outputs: u32 = quotient(dy.len(), rows as usize)) {
            requires: fits(dy.len(), rows, outputs), fits(x.len(), rows, inputs), fits(dw.len(), outputs, inputs);
            grid: linear(dw.len(), 256);
        }
        /// db ← db + the sums of dy's columns.
        fn linear_backward_bias(dy: &[f32], db: &mut [f32], rows: u32 = quotient(dy.len(), db.len()),
                                outputs: u32 = db.len()) {
            requires: fits(dy.len(), rows, outputs);
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
        /// p ← p - rate g.
        fn sgd(rate: f32, g: &[f32], p: &mut [f32], n: u32 = p.len()) {
            requires: g.len() == p.len();
            grid: linear(p.len(), 256);
        }
    }
}

/// How often `part` goes into `whole`; 0 where there is no part. What is left over fails a condition.
fn quotient(whole: usize, part: usize) -> usize {
    whole.checked_div(part).unwrap_or(0)
}

/// Whether a matrix of these sizes has `len` elements, and few enough for the kernels to count.
fn fits(len: usize, rows: u32, columns: u32) -> bool {
    u64::from(rows) * u64::from(columns) == len as u64 && u32::try_from(len).is_ok()
}
