//! Products of small matrices that the 32 lanes of a warp hold together: `mma.sync.m16n8k16` of bf16 with f32 sums.
//!
//! Which lane holds which element is the manual's (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type").
//! Products are exact, are added to the accumulator in double precision, and are rounded once, to the nearest. The order
//! and the precision in which a tensor core adds are left open by the manual, so results agree with a GPU up to rounding,
//! not to the bit. What one can rely on, of a sum s = c + a₀b₀ + .. + a₁₅b₁₅ and the sum m of the terms' magnitudes:
//!
//! - the result is the f32 that is nearest to s, but for 2^-48 m;
//! - sixteen additions in f32, in any order, rounded or cut off, are within 16 · 2^-23 m of it, and so should a GPU be;
//! - numbers too small to be normal are numbers like others, in a, b, c and d;
//! - a NaN anywhere, ∞ times 0, or ∞ less ∞ give the NaN of f32 arithmetic; ∞ and numbers beyond f32's range otherwise give ∞.
//!
//! Left open: what comes of a partial sum beyond f32's range that later terms bring back.
//!
//! Not here: other shapes and types, and `ldmatrix`. They are refused when the kernel is decoded.

use super::float::nan;
use super::lanes::Regs;
use super::op::Mma;

const ROWS: usize = 16;
const COLUMNS: usize = 8;
const DEPTH: usize = 16;

/// d ← a b + c. Every lane takes part: `aligned` says so, and the caller has seen to it.
pub(super) fn multiply(op: &Mma, regs: &mut Regs<'_>) {
    let (mut a, mut b) = ([[0.0; DEPTH]; ROWS], [[0.0; COLUMNS]; DEPTH]);
    for lane in 0..32 {
        let (group, member) = (lane / 4, lane % 4);
        for (part, &column) in op.a.iter().enumerate() {
            // a0 has the upper eight rows, a1 the lower; a2 and a3 the same eight columns on.
            let (row, depth) = (group + part % 2 * 8, member * 2 + part / 2 * 8);
            (a[row][depth], a[row][depth + 1]) = halves(regs.r32[column as usize][lane]);
        }
        for (part, &column) in op.b.iter().enumerate() {
            let depth = member * 2 + part * 8;
            (b[depth][group], b[depth + 1][group]) = halves(regs.r32[column as usize][lane]);
        }
    }
    let mut out = [[0_u32; 32]; 4];
    for (part, (out, &c)) in out.iter_mut().zip(&op.c).enumerate() {
        for (lane, out) in out.iter_mut().enumerate() {
            let (row, column) = (lane / 4 + part / 2 * 8, lane % 4 * 2 + part % 2);
            let start = f64::from(f32::from_bits(regs.r32[c as usize][lane]));
            let sum = (0..DEPTH).fold(start, |sum, k| sum + a[row][k] * b[k][column]);
            *out = nan::f32_bits(sum as f32);
        }
    }
    for (d, out) in op.d.iter().zip(&out) {
        regs.put32(*d, out, u32::MAX);
    }
}

/// The two bf16 numbers of a register, the lower half first.
fn halves(pair: u32) -> (f64, f64) {
    (f32::from_bits(pair << 16).into(), f32::from_bits(pair & 0xffff_0000).into())
}
