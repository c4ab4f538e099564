//! Forms that occur seldom, one lane at a time.

use dacapo_ptx::ir::Mode;

use super::super::float::{eight, half};
use super::super::op::{Float, FloatOp, Rare, RareKind, Round};
use super::Regs;

/// Runs one instruction.
pub(crate) fn run(r: &mut Regs<'_>, op: &Rare, mask: u32) {
    let mut rest = mask;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let get = |col: u16| r.r32.get(col as usize).map_or(0, |c| c[lane]);
        let result = one(op.kind, get(op.a), get(op.b), get(op.c));
        r.r32[op.d as usize][lane] = result;
    }
}

fn one(kind: RareKind, a: u32, b: u32, c: u32) -> u32 {
    match kind {
        RareKind::PrmtDefault => permute(a, b, [c, c >> 4, c >> 8, c >> 12]),
        RareKind::Prmt(mode) => {
            let n = c & 3;
            // The selectors of the special modes (PTX ISA, `prmt`), lowest byte first.
            let pick = match mode {
                Mode::F4e => [n, n + 1, n + 2, n + 3],
                Mode::B4e => [n, n.wrapping_sub(1) & 7, n.wrapping_sub(2) & 7, n.wrapping_sub(3) & 7],
                Mode::Rc8 => [n; 4],
                Mode::Ecl => [n, n.max(1), n.max(2), 3],
                Mode::Ecr => [0, n.min(1), n.min(2), n],
                _ => {
                    let low = (n & 1) * 2;
                    [low, low + 1, low, low + 1]
                }
            };
            permute(a, b, pick)
        }
        RareKind::Fns => find_nth(a, b, c as i32),
        RareKind::Dp4a { a_signed, b_signed } => {
            let byte = |x: u32, n: u32, signed: bool| {
                let byte = (x >> (8 * n)) as u8;
                if signed { i32::from(byte as i8) } else { i32::from(byte) }
            };
            (0..4).fold(c, |sum, n| sum.wrapping_add((byte(a, n, a_signed) * byte(b, n, b_signed)) as u32))
        }
        RareKind::Dp2a { a_signed, b_signed, high } => {
            let half = |x: u32, n: u32| {
                let half = (x >> (16 * n)) as u16;
                if a_signed { i32::from(half as i16) } else { i32::from(half) }
            };
            let byte = |x: u32, n: u32| {
                let byte = (x >> (8 * (n + if high { 2 } else { 0 }))) as u8;
                if b_signed { i32::from(byte as i8) } else { i32::from(byte) }
            };
            (0..2).fold(c, |sum, n| sum.wrapping_add((half(a, n) * byte(b, n)) as u32))
        }
        RareKind::Mul24 { signed, high } => {
            let cut = |x: u32| if signed { i64::from((x << 8) as i32 >> 8) } else { i64::from(x & 0xff_ffff) };
            let product = cut(a) * cut(b);
            (if high { product >> 16 } else { product }) as u32
        }
        RareKind::BmskClamp => mask_of(a, b.min(32)),
        RareKind::BmskWrap => mask_of(a & 31, b & 31),
        RareKind::FlushF16 => half::flush_f16(a as u16).into(),
        RareKind::XorSign { least, nan, ftz } => {
            let code = match (least, nan) {
                (true, true) => Float::MinNan,
                (true, false) => Float::Min,
                (false, true) => Float::MaxNan,
                (false, false) => Float::Max,
            };
            let op = FloatOp { code, double: false, round: Round::Nearest, ftz, sat: false, d: 0, a: 0, b: 0, c: 0 };
            let magnitude =
                super::float32::one::<{ super::dispatch::BASELINE }>(&op, [a & 0x7fff_ffff, b & 0x7fff_ffff, 0]);
            if f32::from_bits(magnitude).is_nan() { magnitude } else { magnitude | (a ^ b) & 0x8000_0000 }
        }
        RareKind::ToEight { format, pair, relu } => {
            let (high, low) = match pair {
                true => (half::to_f64((a >> 16) as u16, false), half::to_f64(a as u16, false)),
                false => (f64::from(f32::from_bits(a)), f64::from(f32::from_bits(b))),
            };
            u32::from(eight::from_f64(high, format, relu)) << 8 | u32::from(eight::from_f64(low, format, relu))
        }
        RareKind::FromEight { format, relu } => {
            let part = |bits: u32| u32::from(eight::to_f16(bits as u8, format, relu));
            part(a >> 8) << 16 | part(a)
        }
        RareKind::Half { code, brain, pair, ftz, sat, relu, xorsign } => {
            let mode = half::Mode { brain, ftz, sat, relu, xorsign };
            let low = u32::from(half::arithmetic(code, mode, a as u16, b as u16, c as u16));
            if !pair {
                return low;
            }
            let high = half::arithmetic(code, mode, (a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16);
            low | u32::from(high) << 16
        }
    }
}

fn mask_of(position: u32, len: u32) -> u32 {
    let ones = if len > 31 { u32::MAX } else { (1 << len) - 1 };
    if position > 31 { 0 } else { ones << position }
}

fn permute(a: u32, b: u32, pick: [u32; 4]) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let mut out = 0;
    for (n, selector) in pick.into_iter().enumerate() {
        let mut byte = (bytes >> (8 * (selector & 7))) as u8;
        if selector & 8 != 0 {
            byte = if byte & 0x80 != 0 { 0xff } else { 0 };
        }
        out |= u32::from(byte) << (8 * n);
    }
    out
}

/// `fns`: the n-th set bit from `base`, upwards or downwards; all ones where there is none.
fn find_nth(bits: u32, base: u32, offset: i32) -> u32 {
    // Both as an H200 gives them: the least offset counts as found at 0, and a base beyond the word finds nothing.
    if offset == i32::MIN {
        return 0;
    }
    if base > 31 {
        return u32::MAX;
    }
    let base = base as i32;
    if offset == 0 {
        return if bits >> base & 1 == 1 { base as u32 } else { u32::MAX };
    }
    let step = offset.signum();
    let mut left = offset.unsigned_abs();
    let mut at = base;
    while (0..32).contains(&at) {
        if bits >> at & 1 == 1 {
            left -= 1;
            if left == 0 {
                return at as u32;
            }
        }
        at += step;
    }
    u32::MAX
}
