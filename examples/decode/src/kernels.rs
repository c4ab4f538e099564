//! The kernels of `kernels/decode.cu` as methods.
//!
//! Sizes that follow from the lengths of what is given are not arguments, and `requires` says how the rest must fit: a wrong
//! buffer is an error with the lengths in it, before anything runs.

dacapo::kernels! {
    /// One decode step of a small transformer.
    ///
    /// Safe by: every kernel checks its thread's number against the sizes below, and reads and writes rows of just these
    /// sizes; a sequence, a position and a token are compared with how many there are before they are an index.
    pub unsafe struct Kernels(include_str!("../kernels/decode.ptx")) {
        /// x ← the vectors of the tokens that the rows' sequences stand at; zeros for padding.
        fn embed(rows: &[u32], positions: &[u32], limits: &[u32], history: &[u32], table: &[f32], x: &out [f32],
                 sequences: u32 = positions.len(), context: u32, vocabulary: u32 = per(table.len(), dim), dim: u32) {
            requires: limits.len() == positions.len(), product(history.len(), [sequences, context.saturating_add(1)]),
                product(table.len(), [vocabulary, dim]), x.len() == rows.len() * dim as usize;
            grid: linear(rows.len() * 256, 256);
        }
        /// y ← x / √(mean of x² + ε) · gain, row by row.
        fn rms_norm(x: &[f32], gain: &[f32], y: &out [f32], dim: u32 = gain.len(), epsilon: f32) {
            requires: x.len() == y.len(), !gain.is_empty(), x.len().is_multiple_of(gain.len());
            grid: linear(x.len() / gain.len() * 256, 256);
        }
        /// y ← x Wᵀ, one row at a time.
        fn linear_1(x: &[f32], w: &[f32], y: &out [f32], rows: u32, inputs: u32 = per(x.len(), rows),
                    outputs: u32 = per(y.len(), rows)) {
            requires: matrices(x.len(), w.len(), y.len(), rows), x.aligned(16), w.aligned(16);
            grid: warps(outputs, rows, 1);
        }
        /// y ← x Wᵀ, two rows at a time.
        fn linear_2(x: &[f32], w: &[f32], y: &out [f32], rows: u32, inputs: u32 = per(x.len(), rows),
                    outputs: u32 = per(y.len(), rows)) {
            requires: matrices(x.len(), w.len(), y.len(), rows), x.aligned(16), w.aligned(16);
            grid: warps(outputs, rows, 2);
        }
        /// y ← x Wᵀ, four rows at a time.
        fn linear_4(x: &[f32], w: &[f32], y: &out [f32], rows: u32, inputs: u32 = per(x.len(), rows),
                    outputs: u32 = per(y.len(), rows)) {
            requires: matrices(x.len(), w.len(), y.len(), rows), x.aligned(16), w.aligned(16);
            grid: warps(outputs, rows, 4);
        }
        /// y ← x Wᵀ, eight rows at a time.
        fn linear_8(x: &[f32], w: &[f32], y: &out [f32], rows: u32, inputs: u32 = per(x.len(), rows),
                    outputs: u32 = per(y.len(), rows)) {
            requires: matrices(x.len(), w.len(), y.len(), rows), x.aligned(16), w.aligned(16);
            grid: warps(outputs, rows, 8);
        }
        /// y ← y + x Wᵀ, one row at a time.
        fn linear_add_1(x: &[f32], w: &[f32], y: &mut [f32], rows: u32, inputs: u32 = per(x.len(), rows),
                        outputs: u32 = per(y.len(), rows)) {
            requires: matrices(x.len(), w.len(), y.len(), rows), x.aligned(16), w.aligned(16);
            grid: warps(outputs, rows, 1);
        }
        /// y ← y + x Wᵀ, two rows at a time.
        fn linear_add_2(x: &[f32], w: &[f32], y: &mut [f32], rows: u32, inputs: u32 = per(x.len(), rows),
                        outputs: u32 = per(y.len(), rows)) {
            requires: matrices(x.len(), w.len(), y.len(), rows), x.aligned(16), w.aligned(16);
            grid: warps(outputs, rows, 2);
        }
        /// y ← y + x Wᵀ, four rows at a time.
        fn linear_add_4(x: &[f32], w: &[f32], y: &mut [f32], rows: u32, inputs: u32 = per(x.len(), rows),
                        outputs: u32 = per(y.len(), rows)) {
            requires: matrices(x.len(), w.len(), y.len(), rows), x.aligned(16), w.aligned(16);
            grid: warps(outputs, rows, 4);
        }
        /// y ← y + x Wᵀ, eight rows at a time.
        fn linear_add_8(x: &[f32], w: &[f32], y: &mut [f32], rows: u32, inputs: u32 = per(x.len(), rows),
                        outputs: u32 = per(y.len(), rows)) {
            requires: matrices(x.len(), w.len(), y.len(), rows), x.aligned(16), w.aligned(16);
            grid: warps(outputs, rows, 8);
        }
        /// Turns queries and keys by their position, and puts keys and values into the cache.
        fn rope_append(qkv: &mut [f32], turns: &[f32], rows: &[u32], positions: &[u32], limits: &[u32], keys: &mut [f32],
                       values: &mut [f32], batch: u32 = rows.len(), sequences: u32 = positions.len(), context: u32,
                       dim: u32 = per(qkv.len(), batch.saturating_mul(3)), head: u32) {
            requires: limits.len() == positions.len(), heads(dim, head), product(qkv.len(), [batch.saturating_mul(3), dim]),
                product(turns.len(), [context, head]), keys.len() == values.len(),
                keys.len() == positions.len() * context as usize * dim as usize,
                qkv.aligned(8), turns.aligned(8), keys.aligned(8), values.aligned(8);
            grid: linear(rows.len() * (dim / 2) as usize, 256);
        }
        /// out ← softmax(q Kᵀ · scale) V, head by head, over what the cache has of each row's sequence.
        fn attend(qkv: &[f32], keys: &[f32], values: &[f32], rows: &[u32], positions: &[u32], limits: &[u32],
                  out: &out [f32], sequences: u32 = positions.len(), context: u32, dim: u32 = per(out.len(), rows.len() as u32),
                  head: u32, scale: f32) {
            requires: limits.len() == positions.len(), heads(dim, head), product(qkv.len(), [(rows.len() as u32).saturating_mul(3), dim]),
                product(out.len(), [rows.len() as u32, dim]), keys.len() == values.len(), context <= 8192,
                keys.len() == positions.len() * context as usize * dim as usize, qkv.aligned(16), keys.aligned(16);
            grid: linear(rows.len() * (dim / head) as usize * 256, 256).shared(4 * (context.min(8192) + 256));
        }
        /// y ← gate · σ(gate) · up.
        fn swiglu(gated: &[f32], y: &out [f32], n: u32 = y.len(), hidden: u32) {
            requires: gated.len() == 2 * y.len(), hidden > 0, y.len().is_multiple_of(hidden as usize);
            grid: linear(y.len(), 256);
        }
        /// next ← a token for each row by its logits.
        fn sample(logits: &[f32], noise: &[f32], rows: &[u32], next: &out [u32], temperature: f32, top_k: u32,
                  sequences: u32 = noise.len(), vocabulary: u32 = per(logits.len(), rows.len() as u32)) {
            requires: next.len() == rows.len(), vocabulary > 0, product(logits.len(), [rows.len() as u32, vocabulary]);
            grid: linear(rows.len() * 256, 256);
        }
        /// Every sequence of the batch, one token on.
        fn advance(rows: &[u32], next: &[u32], lengths: &[u32], limits: &[u32], positions: &mut [u32], history: &mut [u32],
                   batch: u32 = rows.len(), sequences: u32 = positions.len(), context: u32) {
            requires: next.len() == rows.len(), lengths.len() == positions.len(), limits.len() == positions.len(),
                product(history.len(), [sequences, context.saturating_add(1)]);
            grid: linear(rows.len(), 64);
        }
        /// Every sequence of the batch, one token on; one that chose the end token ends there. running ← how many have not
        /// ended.
        fn advance_until(rows: &[u32], next: &[u32], lengths: &[u32], limits: &mut [u32], positions: &mut [u32],
                         history: &mut [u32], running: &out u32, end_token: u32, batch: u32 = rows.len(),
                         sequences: u32 = positions.len(), context: u32) {
            requires: next.len() == rows.len(), lengths.len() == positions.len(), limits.len() == positions.len(),
                product(history.len(), [sequences, context.saturating_add(1)]);
            grid: exact([1, 1, 1], [256, 1, 1]);
        }
    }
}

/// How many elements each of `rows` rows has. `requires` says that nothing was left over.
fn per(elements: usize, rows: u32) -> usize {
    elements.checked_div(rows as usize).unwrap_or(0)
}

/// Whether a tensor of these sizes has `len` elements, and few enough for the kernels to count.
fn product(len: usize, sizes: [u32; 2]) -> bool {
    u64::from(sizes[0]) * u64::from(sizes[1]) == len as u64 && u32::try_from(len).is_ok()
}

/// Whether `x`, W and `y` are [rows, inputs], [outputs, inputs] and [rows, outputs], with inputs that are read four at a time.
fn matrices(x: usize, w: usize, y: usize, rows: u32) -> bool {
    let (inputs, outputs) = (per(x, rows), per(y, rows));
    let whole = inputs * rows as usize == x && outputs * rows as usize == y;
    whole
        && inputs.is_multiple_of(4)
        && inputs.checked_mul(outputs) == Some(w)
        && u32::try_from(w.max(x).max(y)).is_ok()
}

/// Whether `attend` can do heads of this size.
fn heads(dim: u32, head: u32) -> bool {
    [8, 16, 32, 64, 128].contains(&head) && dim.is_multiple_of(head)
}

/// A warp for each output and each `at_once` rows, eight warps a block.
fn warps(outputs: u32, rows: u32, at_once: u32) -> dacapo::grid::Grid {
    dacapo::grid::exact([outputs.div_ceil(8), rows.div_ceil(at_once), 1], [256, 1, 1])
}
