//! The kernels of `kernels/gpt2.cu` as methods.
//!
//! Sizes that follow from the lengths of what is given are not arguments, and `requires` says how the rest must fit: a wrong
//! buffer is an error with the lengths in it, before anything runs.

use dacapo::grid::{Grid, exact};
use dacapo::half::bf16;

use super::shape::HEAD;

/// The PTX of `kernels/gpt2.cu`.
pub const PTX: &str = include_str!("../../kernels/gpt2.ptx");

// As `gpt2.cu` has them.

/// Rows of a matrix that a warp has.
pub const ROWS: usize = 6;
/// Warps that share a row of a matrix as wide as a vector.
pub const STRIPS: usize = 3;
/// Times [`ROWS`], the rows of a block of `qkv_1`.
pub const QKV_GROUPS: usize = 3;
/// The same of `up_1`.
pub const UP_GROUPS: usize = 4;
/// Warps that share a row of `down_1`.
pub const DOWN_STRIPS: usize = 12;
/// Rows of a block of `attend_out_1`.
pub const ATTEND_ROWS: usize = 96;
/// Eights of rows of a block of `qkv_8` and `qkv_32`.
pub const QKV_TILES: usize = 3;
/// The same of `up_8` and `up_32`.
pub const UP_TILES: usize = 3;
/// Warps of their blocks.
pub const NORM_WARPS: usize = 8;
/// Warps of the blocks of `add_8` and `add_32`.
pub const ADD_WARPS: usize = 24;
/// Warps of the blocks of `attend_8`.
pub const ATTEND_WARPS_8: usize = 16;
/// Warps of the other blocks that attend, and of those that make logits and choose.
pub const WARPS: usize = 8;

dacapo::kernels! {
    /// One decode step of a transformer in bf16.
    ///
    /// Safe by: every kernel checks its row, column and sequence against the sizes below, and reads and writes elements of
    /// just these; a position and a token are compared with how many there are before they are an index.
    pub unsafe struct Kernels(PTX) {
        /// Queries, keys and values of one sequence: W norm(x).
        fn gpt2_qkv_1(w: &[bf16], gain: &[bf16], x: &[f32], positions: &[u32], queries: &out [f32], keys: &mut [bf16],
                      values: &mut [bf16], context: u32,
                      dim: u32 = gain.len()) {
            requires: positions.len() == 1, vectors(x.len(), 1, dim), w.len() == 3 * x.len() * x.len(),
                queries.len() == x.len(), keys.len() == values.len(), keys.len() == context as usize * x.len(), w.aligned(16), x.aligned(16), gain.aligned(16);
            grid: rows(3 * x.len(), QKV_GROUPS * ROWS, QKV_GROUPS * STRIPS);
        }
        /// shares ← each head's share of W softmax(q Kᵀ) V, of one sequence.
        fn gpt2_attend_out_1(w: &[bf16], queries: &[f32], keys: &[bf16], values: &[bf16], positions: &[u32],
                             shares: &out [f32], context: u32,
                             dim: u32 = queries.len()) {
            requires: positions.len() == 1, vectors(queries.len(), 1, dim), w.len() == queries.len() * queries.len(),
                shares.len() == queries.len() / HEAD * queries.len(), keys.len() == values.len(),
                keys.len() == context as usize * queries.len(),
                w.aligned(16), queries.aligned(16), keys.aligned(16), values.aligned(16);
            grid: blocks([queries.len() / HEAD, queries.len().div_ceil(ATTEND_ROWS)], WARPS);
        }
        /// y ← x + the heads' shares; u ← gelu(W norm(y)), of one sequence.
        fn gpt2_up_1(w: &[bf16], gain: &[bf16], x: &[f32], shares: &[f32], y: &out [f32], u: &out [f32], heads: u32 = per(shares.len(), x.len()),
                     dim: u32 = gain.len(), hidden: u32 = u.len()) {
            requires: vectors(x.len(), 1, dim), w.len() == u.len() * x.len(), shares.len() == x.len() / HEAD * x.len(),
                y.len() == x.len(), w.aligned(16), gain.aligned(8), x.aligned(16),
                shares.aligned(16), y.aligned(16);
            grid: rows(u.len(), UP_GROUPS * ROWS, UP_GROUPS * STRIPS);
        }
        /// x ← y + W u, of one sequence.
        fn gpt2_down_1(w: &[bf16], u: &[f32], y: &[f32], x: &out [f32], dim: u32 = x.len(), hidden: u32 = u.len()) {
            requires: w.len() == u.len() * x.len(), y.len() == x.len(), u.len().is_multiple_of(8), fits(w.len()), w.aligned(16), u.aligned(16);
            grid: rows(x.len(), ROWS, DOWN_STRIPS);
        }
        /// logits ← W norm(x), of one sequence; best ← the best token that each block saw.
        fn gpt2_head_1(w: &[bf16], gain: &[bf16], x: &[f32], logits: &out [f32], best: &out [u64], dim: u32 = gain.len(),
                       vocabulary: u32 = logits.len()) {
            requires: vectors(x.len(), 1, dim), w.len() == logits.len() * x.len(), fits(w.len()), !best.is_empty(),
                w.aligned(16), gain.aligned(16), x.aligned(16);
            grid: blocks([best.len(), 1], WARPS);
        }
        /// Queries, keys and values of up to 8 sequences: W norm(x).
        fn gpt2_qkv_8(w: &[bf16], gain: &[bf16], x: &[bf16], positions: &[u32], queries: &out [f32], keys: &mut [bf16],
                      values: &mut [bf16],
                      batch: u32 = positions.len(), context: u32, dim: u32 = gain.len()) {
            requires: positions.len() <= 8, vectors(x.len(), positions.len(), dim), w.len() == 3 * gain.len() * gain.len(),
                queries.len() == x.len(), keys.len() == values.len(), keys.len() == context as usize * x.len(),
                fits(keys.len()), w.aligned(16), x.aligned(16), gain.aligned(16);
            grid: rows(3 * gain.len(), 8 * QKV_TILES, NORM_WARPS);
        }
        /// The same of up to 32.
        fn gpt2_qkv_32(w: &[bf16], gain: &[bf16], x: &[bf16], positions: &[u32], queries: &out [f32], keys: &mut [bf16],
                       values: &mut [bf16],
                       batch: u32 = positions.len(), context: u32, dim: u32 = gain.len()) {
            requires: positions.len() <= 32, vectors(x.len(), positions.len(), dim), w.len() == 3 * gain.len() * gain.len(),
                queries.len() == x.len(), keys.len() == values.len(), keys.len() == context as usize * x.len(),
                fits(keys.len()), w.aligned(16), x.aligned(16), gain.aligned(16);
            grid: rows(3 * gain.len(), 8 * QKV_TILES, NORM_WARPS);
        }
        /// out ← softmax(q Kᵀ) V of up to 8 sequences, head by head, rounded.
        fn gpt2_attend_8(queries: &[f32], keys: &[bf16], values: &[bf16], positions: &[u32], out: &out [bf16], context: u32,
                       dim: u32 = per(queries.len(), positions.len())) {
            requires: positions.len() <= 8, vectors(queries.len(), positions.len(), dim), out.len() == queries.len(), keys.len() == values.len(),
                keys.len() == positions.len() * context as usize * dim as usize, fits(keys.len()),
                queries.aligned(16), keys.aligned(16), values.aligned(16);
            grid: blocks([per(queries.len(), positions.len()) / HEAD, positions.len()], ATTEND_WARPS_8);
        }
        /// The same of up to 32.
        fn gpt2_attend_32(queries: &[f32], keys: &[bf16], values: &[bf16], positions: &[u32], out: &out [bf16], context: u32,
                       dim: u32 = per(queries.len(), positions.len())) {
            requires: positions.len() <= 32, vectors(queries.len(), positions.len(), dim), out.len() == queries.len(), keys.len() == values.len(),
                keys.len() == positions.len() * context as usize * dim as usize, fits(keys.len()),
                queries.aligned(16), keys.aligned(16), values.aligned(16);
            grid: blocks([per(queries.len(), positions.len()) / HEAD, positions.len()], WARPS);
        }
        /// x ← x + W v of up to 8 sequences, in f32 and rounded.
        fn gpt2_add_8(w: &[bf16], v: &[bf16], x: &mut [f32], rounded: &out [bf16], batch: u32, inputs: u32 = per(v.len(), batch as usize),
                      outputs: u32 = per(x.len(), batch as usize)) {
            requires: batch <= 8, matrices(w.len(), v.len(), x.len(), batch as usize), rounded.len() == x.len(), w.aligned(16), v.aligned(16);
            grid: rows(per(x.len(), batch as usize), 8, ADD_WARPS);
        }
        /// The same of up to 32.
        fn gpt2_add_32(w: &[bf16], v: &[bf16], x: &mut [f32], rounded: &out [bf16], batch: u32, inputs: u32 = per(v.len(), batch as usize),
                       outputs: u32 = per(x.len(), batch as usize)) {
            requires: batch <= 32, matrices(w.len(), v.len(), x.len(), batch as usize), rounded.len() == x.len(), w.aligned(16), v.aligned(16);
            grid: rows(per(x.len(), batch as usize), 8, ADD_WARPS);
        }
        /// u ← gelu(W norm(x)) of up to 8 sequences, rounded.
        fn gpt2_up_8(w: &[bf16], gain: &[bf16], x: &[bf16], u: &out [bf16], batch: u32, dim: u32 = gain.len(),
                     hidden: u32 = per(u.len(), batch as usize)) {
            requires: batch <= 8, vectors(x.len(), batch as usize, dim), matrices(w.len(), x.len(), u.len(), batch as usize), w.aligned(16), x.aligned(16), gain.aligned(16);
            grid: rows(per(u.len(), batch as usize), 8 * UP_TILES, NORM_WARPS);
        }
        /// The same of up to 32.
        fn gpt2_up_32(w: &[bf16], gain: &[bf16], x: &[bf16], u: &out [bf16], batch: u32, dim: u32 = gain.len(),
                      hidden: u32 = per(u.len(), batch as usize)) {
            requires: batch <= 32, vectors(x.len(), batch as usize, dim),
                matrices(w.len(), x.len(), u.len(), batch as usize), w.aligned(16), x.aligned(16), gain.aligned(16);
            grid: rows(per(u.len(), batch as usize), 8 * UP_TILES, NORM_WARPS);
        }
        /// logits ← W norm(x) of up to 8 sequences; best ← the best token of each sequence that each block saw.
        fn gpt2_head_8(w: &[bf16], gain: &[bf16], x: &[bf16], logits: &out [f32], best: &out [u64], batch: u32,
                       dim: u32 = gain.len(), vocabulary: u32 = per(logits.len(), batch as usize)) {
            requires: batch <= 8, vectors(x.len(), batch as usize, dim),
                matrices(w.len(), x.len(), logits.len(), batch as usize), whole(best.len(), batch as usize),
                w.aligned(16), x.aligned(16), gain.aligned(16);
            grid: blocks([per(best.len(), batch as usize), 1], WARPS);
        }
        /// The same of up to 32.
        fn gpt2_head_32(w: &[bf16], gain: &[bf16], x: &[bf16], logits: &out [f32], best: &out [u64], batch: u32,
                        dim: u32 = gain.len(), vocabulary: u32 = per(logits.len(), batch as usize)) {
            requires: batch <= 32, vectors(x.len(), batch as usize, dim),
                matrices(w.len(), x.len(), logits.len(), batch as usize), whole(best.len(), batch as usize),
                w.aligned(16), x.aligned(16), gain.aligned(16);
            grid: blocks([per(best.len(), batch as usize), 1], WARPS);
        }
        /// x ← the vectors of the tokens that the sequences stand at, in f32 and as they are.
        fn gpt2_embed(history: &[u32], positions: &[u32], table: &[bf16], x: &mut [f32], rounded: &mut [bf16],
                      context: u32 = per(history.len(), positions.len()), dim: u32 = per(x.len(), positions.len()),
                      vocabulary: u32 = per(table.len(), dim as usize)) {
            requires: whole(history.len(), positions.len()), whole(x.len(), positions.len()), rounded.len() == x.len(),
                whole(table.len(), dim as usize), fits(table.len());
            grid: blocks([positions.len(), 1], WARPS);
        }
        /// Every sequence one token on, and x ← its vector.
        fn gpt2_choose(best: &[u64], lengths: &[u32], positions: &mut [u32], history: &mut [u32], table: &[bf16],
                       x: &mut [f32], rounded: &mut [bf16],
                       candidates: u32 = per(best.len(), positions.len()),
                       context: u32 = per(history.len(), positions.len()),
                       dim: u32 = per(x.len(), positions.len()), vocabulary: u32 = per(table.len(), dim as usize), step: u32) {
            requires: whole(best.len(), positions.len()), lengths.len() == positions.len(),
                whole(history.len(), positions.len()), whole(x.len(), positions.len()), rounded.len() == x.len(),
                whole(table.len(), dim as usize), fits(table.len()), step <= 1;
            grid: blocks([positions.len(), 1], WARPS);
        }
    }
}

/// How many elements each of `rows` rows has. `requires` says that nothing was left over.
fn per(elements: usize, rows: usize) -> usize {
    elements.checked_div(rows).unwrap_or(0)
}

/// Whether so many elements are rows of the same length, at least one element each.
fn whole(elements: usize, rows: usize) -> bool {
    per(elements, rows) > 0 && per(elements, rows) * rows == elements
}

/// Whether the kernels can count so many elements.
fn fits(elements: usize) -> bool {
    u32::try_from(elements).is_ok()
}

/// Whether these are `count` vectors of heads, as long as the kernels can hold.
fn vectors(elements: usize, count: usize, dim: u32) -> bool {
    whole(elements, count) && elements == count * dim as usize && dim <= 768 && dim.is_multiple_of(HEAD as u32)
}

/// Whether W, `x` and `y` are [outputs, inputs], [batch, inputs] and [batch, outputs], with inputs that are read eight at a
/// time.
fn matrices(w: usize, x: usize, y: usize, batch: usize) -> bool {
    let (inputs, outputs) = (per(x, batch), per(y, batch));
    whole(x, batch) && whole(y, batch) && inputs.is_multiple_of(8) && inputs.checked_mul(outputs) == Some(w) && fits(w)
}

/// As many blocks of so many warps as take all rows, `at_once` each.
fn rows(rows: usize, at_once: usize, warps: usize) -> Grid {
    blocks([rows.div_ceil(at_once), 1], warps)
}

/// So many blocks of so many warps.
fn blocks(count: [usize; 2], warps: usize) -> Grid {
    exact([count[0] as u32, count[1] as u32, 1], [32 * warps as u32, 1, 1])
}
