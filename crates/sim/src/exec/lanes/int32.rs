//! Integer arithmetic on 32-bit columns.

use super::super::op::{Carry, Int, IntOp};
use super::{Regs, lanes_where};

/// Runs one instruction; gives the lanes that divided by zero.
#[inline(always)]
pub(crate) fn run(r: &mut Regs<'_>, op: &IntOp, mask: u32) -> u32 {
    let IntOp { code, d, a, b, c, e, .. } = *op;
    match code {
        Int::Add => r.map2(d, a, b, mask, u32::wrapping_add),
        Int::Sub => r.map2(d, a, b, mask, u32::wrapping_sub),
        Int::Mul => r.map2(d, a, b, mask, u32::wrapping_mul),
        Int::MulHiS => r.map2(d, a, b, mask, mul_hi_s),
        Int::MulHiU => r.map2(d, a, b, mask, mul_hi_u),
        Int::Mad => r.map3(d, a, b, c, mask, |x, y, z| x.wrapping_mul(y).wrapping_add(z)),
        Int::MadHiS => r.map3(d, a, b, c, mask, |x, y, z| mul_hi_s(x, y).wrapping_add(z)),
        Int::MadHiU => r.map3(d, a, b, c, mask, |x, y, z| mul_hi_u(x, y).wrapping_add(z)),
        Int::AddSat => r.map2(d, a, b, mask, |x, y| (x as i32).saturating_add(y as i32) as u32),
        Int::SubSat => r.map2(d, a, b, mask, |x, y| (x as i32).saturating_sub(y as i32) as u32),
        Int::DivS | Int::DivU | Int::RemS | Int::RemU => return divide(r, op, mask),
        Int::MinS => r.map2(d, a, b, mask, |x, y| (x as i32).min(y as i32) as u32),
        Int::MinU => r.map2(d, a, b, mask, |x, y| x.min(y)),
        Int::MaxS => r.map2(d, a, b, mask, |x, y| (x as i32).max(y as i32) as u32),
        Int::MaxU => r.map2(d, a, b, mask, |x, y| x.max(y)),
        Int::And => r.map2(d, a, b, mask, |x, y| x & y),
        Int::Or => r.map2(d, a, b, mask, |x, y| x | y),
        Int::Xor => r.map2(d, a, b, mask, |x, y| x ^ y),
        Int::Not => r.map1(d, a, mask, |x| !x),
        Int::Cnot => r.map1(d, a, mask, |x| u32::from(x == 0)),
        // Amounts beyond the width clamp (PTX ISA, `shl`, `shr`).
        Int::Shl => r.map2(d, a, b, mask, |x, by| if by > 31 { 0 } else { x << (by & 31) }),
        Int::ShrU => r.map2(d, a, b, mask, |x, by| if by > 31 { 0 } else { x >> (by & 31) }),
        Int::ShrS => r.map2(d, a, b, mask, |x, by| ((x as i32) >> by.min(31)) as u32),
        Int::Neg => r.map1(d, a, mask, u32::wrapping_neg),
        Int::Abs => r.map1(d, a, mask, |x| (x as i32).wrapping_abs() as u32),
        Int::Popc => r.map1(d, a, mask, u32::count_ones),
        Int::Clz => r.map1(d, a, mask, u32::leading_zeros),
        Int::FindU => r.map1(d, a, mask, find),
        Int::FindS => r.map1(d, a, mask, |x| find(fold(x))),
        Int::FindShiftU => r.map1(d, a, mask, find_shift),
        Int::FindShiftS => r.map1(d, a, mask, |x| find_shift(fold(x))),
        Int::Brev => r.map1(d, a, mask, u32::reverse_bits),
        Int::SadS => r.map3(d, a, b, c, mask, |x, y, z| z.wrapping_add((x as i32).abs_diff(y as i32))),
        Int::SadU => r.map3(d, a, b, c, mask, |x, y, z| z.wrapping_add(x.abs_diff(y))),
        Int::BfeU => r.map3(d, a, b, c, mask, extract),
        Int::BfeS => r.map3(d, a, b, c, mask, extract_signed),
        Int::Bfi => {
            let lengths = r.r32[e as usize];
            let (x, y, position) = (&r.r32[a as usize], &r.r32[b as usize], &r.r32[c as usize]);
            let mut out = [0; 32];
            for lane in 0..32 {
                out[lane] = insert(x[lane], y[lane], position[lane], lengths[lane]);
            }
            r.put32(d, &out, mask);
        }
        Int::MulWideS => r.widen2(d, a, b, mask, |x, y| i64::from(x as i32).wrapping_mul(i64::from(y as i32)) as u64),
        Int::MulWideU => r.widen2(d, a, b, mask, |x, y| u64::from(x).wrapping_mul(u64::from(y))),
        Int::MadWideS => {
            wide_add(r, op, mask, |x, y| i64::from(x as i32).wrapping_mul(i64::from(y as i32)) as u64);
        }
        Int::MadWideU => wide_add(r, op, mask, |x, y| u64::from(x).wrapping_mul(u64::from(y))),
        Int::Lop3 => r.map3(d, a, b, c, mask, |x, y, z| lop3(x, y, z, e)),
        Int::ShfLeftWrap => r.map3(d, a, b, c, mask, |lo, hi, n| funnel_left(lo, hi, n & 31)),
        Int::ShfLeftClamp => r.map3(d, a, b, c, mask, |lo, hi, n| funnel_left(lo, hi, n.min(32))),
        Int::ShfRightWrap => r.map3(d, a, b, c, mask, |lo, hi, n| funnel_right(lo, hi, n & 31)),
        Int::ShfRightClamp => r.map3(d, a, b, c, mask, |lo, hi, n| funnel_right(lo, hi, n.min(32))),
        Int::Sext16 => r.map1(d, a, mask, |x| x as i16 as u32),
        Int::AddCarry(carry) => carried(r, op, mask, carry, |x, y, _, cin| u64::from(x) + u64::from(y) + cin),
        Int::SubCarry(carry) => {
            let borrow = lanes_of_borrow(r, op, carry, mask);
            if carry.writes {
                r.put_p(e, !borrow, mask);
            }
        }
        Int::MadLoCarry(carry) => {
            carried(r, op, mask, carry, |x, y, z, cin| u64::from(x.wrapping_mul(y)) + u64::from(z) + cin)
        }
        Int::MadHiUCarry(carry) => {
            carried(r, op, mask, carry, |x, y, z, cin| u64::from(mul_hi_u(x, y)) + u64::from(z) + cin)
        }
        Int::MadHiSCarry(carry) => {
            carried(r, op, mask, carry, |x, y, z, cin| u64::from(mul_hi_s(x, y)) + u64::from(z) + cin)
        }
    }
    0
}

#[inline(always)]
fn mul_hi_s(x: u32, y: u32) -> u32 {
    (i64::from(x as i32).wrapping_mul(i64::from(y as i32)) >> 32) as u32
}

#[inline(always)]
fn mul_hi_u(x: u32, y: u32) -> u32 {
    (u64::from(x).wrapping_mul(u64::from(y)) >> 32) as u32
}

/// For `bfind` of signed values: the bits that differ from the sign.
#[inline(always)]
fn fold(x: u32) -> u32 {
    x ^ ((x as i32) >> 31) as u32
}

#[inline(always)]
fn find(x: u32) -> u32 {
    if x == 0 { u32::MAX } else { 31 - x.leading_zeros() }
}

#[inline(always)]
fn find_shift(x: u32) -> u32 {
    if x == 0 { u32::MAX } else { x.leading_zeros() }
}

/// Position and length are taken from the low 8 bits (PTX ISA, `bfe`).
#[inline(always)]
fn extract(x: u32, position: u32, len: u32) -> u32 {
    let (position, len) = (position & 0xff, len & 0xff);
    let shifted = if position > 31 { 0 } else { x >> (position & 31) };
    if len > 31 { shifted } else { shifted & ((1u32 << (len & 31)) - 1) }
}

#[inline(always)]
fn extract_signed(x: u32, position: u32, len: u32) -> u32 {
    let (position, len) = (position & 0xff, len & 0xff);
    if len == 0 {
        return 0;
    }
    // Bits beyond the top are copies of the sign bit of the value.
    let shifted = ((x as i32) >> position.min(31)) as u32;
    if position + len > 31 {
        return shifted;
    }
    let up = 32 - len;
    ((shifted << up) as i32 >> up) as u32
}

#[inline(always)]
fn insert(x: u32, y: u32, position: u32, len: u32) -> u32 {
    let (position, len) = (position & 0xff, len & 0xff);
    if position > 31 || len == 0 {
        return y;
    }
    let field = if len > 31 { u32::MAX } else { (1u32 << len) - 1 } << position;
    y & !field | (x << position) & field
}

#[inline(always)]
fn lop3(x: u32, y: u32, z: u32, table: u16) -> u32 {
    let mut out = 0;
    for bit in 0..8 {
        if table & (1 << bit) != 0 {
            let a = if bit & 4 != 0 { x } else { !x };
            let b = if bit & 2 != 0 { y } else { !y };
            let c = if bit & 1 != 0 { z } else { !z };
            out |= a & b & c;
        }
    }
    out
}

#[inline(always)]
fn funnel_left(lo: u32, hi: u32, n: u32) -> u32 {
    let both = u64::from(hi) << 32 | u64::from(lo);
    ((both << n) >> 32) as u32
}

#[inline(always)]
fn funnel_right(lo: u32, hi: u32, n: u32) -> u32 {
    let both = u64::from(hi) << 32 | u64::from(lo);
    (both >> n) as u32
}

#[inline(always)]
fn wide_add(r: &mut Regs<'_>, op: &IntOp, mask: u32, f: impl Fn(u32, u32) -> u64) {
    let (x, y, z) = (&r.r32[op.a as usize], &r.r32[op.b as usize], &r.r64[op.c as usize]);
    let mut out = [0; 32];
    for lane in 0..32 {
        out[lane] = f(x[lane], y[lane]).wrapping_add(z[lane]);
    }
    r.put64(op.d, &out, mask);
}

#[inline(always)]
fn carried(r: &mut Regs<'_>, op: &IntOp, mask: u32, carry: Carry, f: impl Fn(u32, u32, u32, u64) -> u64) {
    let flags = if carry.reads { r.p[op.e as usize] } else { 0 };
    let zero = [0; 32];
    let (x, y) = (&r.r32[op.a as usize], &r.r32[op.b as usize]);
    let z = if op.c == super::super::op::NONE { &zero } else { &r.r32[op.c as usize] };
    let mut out = [0; 32];
    let mut flag = [0u32; 32];
    for lane in 0..32 {
        let sum = f(x[lane], y[lane], z[lane], u64::from(flags >> lane & 1));
        out[lane] = sum as u32;
        flag[lane] = (sum >> 32) as u32;
    }
    r.put32(op.d, &out, mask);
    if carry.writes {
        r.put_p(op.e, lanes_where(|lane| flag[lane] != 0), mask);
    }
}

/// Subtracts; gives the lanes that borrow. The flag is a carry: a borrow clears it, and is read from a clear one.
#[inline(always)]
fn lanes_of_borrow(r: &mut Regs<'_>, op: &IntOp, carry: Carry, mask: u32) -> u32 {
    let flags = if carry.reads { !r.p[op.e as usize] } else { 0 };
    let (x, y) = (&r.r32[op.a as usize], &r.r32[op.b as usize]);
    let mut out = [0; 32];
    let mut borrows = 0;
    for lane in 0..32 {
        let borrow = u64::from(flags >> lane & 1);
        let difference = u64::from(x[lane]).wrapping_sub(u64::from(y[lane])).wrapping_sub(borrow);
        out[lane] = difference as u32;
        borrows |= ((difference >> 63) as u32) << lane;
    }
    r.put32(op.d, &out, mask);
    borrows
}

/// Quotient and remainder are all ones where the divisor is zero: what an H200 gives, though PTX leaves it open.
///
/// The quotient is that of doubles, which vector code has. Cut off it is exact: a quotient of such numbers that is not
/// whole is farther from the next whole number than a double rounds.
#[inline(always)]
pub(super) fn divide(r: &mut Regs<'_>, op: &IntOp, mask: u32) -> u32 {
    let (signed, remainder) = (matches!(op.code, Int::DivS | Int::RemS), matches!(op.code, Int::RemS | Int::RemU));
    let (x, y) = (&r.r32[op.a as usize], &r.r32[op.b as usize]);
    let mut out = [0; 32];
    if signed {
        for lane in 0..32 {
            let quotient = f64::from(x[lane] as i32) / f64::from(y[lane] as i32);
            // The least number by -1 is beyond all others, and wraps.
            out[lane] = if y[lane] == u32::MAX { x[lane].wrapping_neg() } else { quotient as i32 as u32 };
        }
    } else {
        for lane in 0..32 {
            out[lane] = (f64::from(x[lane]) / f64::from(y[lane])) as u32;
        }
    }
    for lane in 0..32 {
        let rest = x[lane].wrapping_sub(out[lane].wrapping_mul(y[lane]));
        let result = if remainder { rest } else { out[lane] };
        out[lane] = if y[lane] == 0 { u32::MAX } else { result };
    }
    let zeros = lanes_where(|lane| y[lane] == 0) & mask;
    r.put32(op.d, &out, mask);
    zeros
}
