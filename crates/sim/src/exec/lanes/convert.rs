//! Conversions over lanes: the everyday ones as vector code, all others value by value.

use super::super::float::convert::convert;
use super::super::float::nan;
use super::super::op::{ConvertOp, Num, Round};
use super::Regs;

/// Runs one instruction.
#[inline(always)]
pub(crate) fn run(r: &mut Regs<'_>, op: &ConvertOp, mask: u32) {
    let ConvertOp { d, a, .. } = *op;
    let plain = !op.sat && !op.ftz;
    match (op.to, op.from, op.round) {
        (Num::S64, Num::S32, _) if plain && !op.a_wide => r.widen1(d, a, mask, |x| x as i32 as i64 as u64),
        (Num::U64 | Num::S64, Num::U32, _) if plain && !op.a_wide => r.widen1(d, a, mask, u64::from),
        (Num::U32 | Num::S32, Num::U64 | Num::S64, _) if plain && !op.d_wide => {
            let x = &r.r64[a as usize];
            let mut out = [0; 32];
            for lane in 0..32 {
                out[lane] = x[lane] as u32;
            }
            r.put32(d, &out, mask);
        }
        (Num::F32, Num::S32, Round::Nearest) if plain && !op.a_wide => {
            r.map1(d, a, mask, |x| (x as i32 as f32).to_bits());
        }
        (Num::F32, Num::U32, Round::Nearest) if plain && !op.a_wide => r.map1(d, a, mask, |x| (x as f32).to_bits()),
        // `as` clamps and gives 0 for NaN, which is the rule for 32-bit results of f32.
        (Num::S32, Num::F32, Round::Zero) if plain && !op.d_wide => {
            r.map1(d, a, mask, |x| f32::from_bits(x) as i32 as u32);
        }
        (Num::U32, Num::F32, Round::Zero) if plain && !op.d_wide => r.map1(d, a, mask, |x| f32::from_bits(x) as u32),
        // The everyday steps of `expf`, `floorf` and their kin.
        (Num::F32, Num::F32, _) if op.sat && !op.ftz && !op.integral => r.map1(d, a, mask, saturated),
        (Num::F32, Num::F32, Round::Nearest) if plain && op.integral => {
            r.map1(d, a, mask, |x| nan::f32_bits(f32::from_bits(x).round_ties_even()));
        }
        (Num::F32, Num::F32, Round::Down) if plain && op.integral => {
            r.map1(d, a, mask, |x| nan::f32_bits(f32::from_bits(x).floor()));
        }
        (Num::F32, Num::F32, Round::Zero) if plain && op.integral => {
            r.map1(d, a, mask, |x| nan::f32_bits(f32::from_bits(x).trunc()));
        }
        (Num::S32, Num::F32, Round::Nearest) if plain && !op.d_wide => {
            r.map1(d, a, mask, |x| f32::from_bits(x).round_ties_even() as i32 as u32);
        }
        (Num::F32, Num::S16, Round::Nearest) if plain && !op.a_wide => {
            r.map1(d, a, mask, |x| f32::from(x as i16).to_bits());
        }
        (Num::S16, Num::S8, _) if plain && !op.a_wide && !op.d_wide && op.d_short => {
            r.map1(d, a, mask, |x| u32::from(x as i8 as u16));
        }
        _ => general(r, op, mask),
    }
}

/// Between 0 and 1; a NaN becomes 0.
#[inline(always)]
pub(super) fn saturated(x: u32) -> u32 {
    let x = f32::from_bits(x);
    let x = if x > 0.0 { x } else { 0.0 };
    (if x < 1.0 { x } else { 1.0 }).to_bits()
}

#[inline(never)]
fn general(r: &mut Regs<'_>, op: &ConvertOp, mask: u32) {
    // A result in a register of 16 bits stands zero-extended in its column; the formats of 8 bits may be extended
    // with their sign into one, which the column then holds as 16 bits.
    let short = matches!(op.to, Num::U8 | Num::U16 | Num::S8 | Num::S16 | Num::F16 | Num::Bf16);
    let mut rest = mask;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let bits = if op.a_wide { r.r64[op.a as usize][lane] } else { r.r32[op.a as usize][lane].into() };
        let result = convert(op, bits);
        if op.d_wide {
            r.r64[op.d as usize][lane] = result;
        } else if short && op.d_short {
            r.r32[op.d as usize][lane] = result as u32 & 0xffff;
        } else {
            r.r32[op.d as usize][lane] = result as u32;
        }
    }
}
