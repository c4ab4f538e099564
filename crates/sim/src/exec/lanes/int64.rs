//! Integer arithmetic on 64-bit columns. Shift amounts, positions, lengths and counts are 32-bit columns.

use super::super::op::{Carry, Int, IntOp, NONE};
use super::{Regs, lanes_where};

/// Runs one instruction; gives the lanes that divided by zero.
#[inline(always)]
pub(crate) fn run(r: &mut Regs<'_>, op: &IntOp, mask: u32) -> u32 {
    let IntOp { code, d, a, b, c, e, .. } = *op;
    match code {
        Int::Add => r.wide2(d, a, b, mask, u64::wrapping_add),
        Int::Sub => r.wide2(d, a, b, mask, u64::wrapping_sub),
        Int::Mul => r.wide2(d, a, b, mask, u64::wrapping_mul),
        Int::MulHiS => r.wide2(d, a, b, mask, mul_hi_s),
        Int::MulHiU => r.wide2(d, a, b, mask, mul_hi_u),
        Int::Mad => r.wide3(d, a, b, c, mask, |x, y, z| x.wrapping_mul(y).wrapping_add(z)),
        Int::MadHiS => r.wide3(d, a, b, c, mask, |x, y, z| mul_hi_s(x, y).wrapping_add(z)),
        Int::MadHiU => r.wide3(d, a, b, c, mask, |x, y, z| mul_hi_u(x, y).wrapping_add(z)),
        Int::AddSat => r.wide2(d, a, b, mask, |x, y| (x as i64).saturating_add(y as i64) as u64),
        Int::SubSat => r.wide2(d, a, b, mask, |x, y| (x as i64).saturating_sub(y as i64) as u64),
        Int::DivS | Int::DivU | Int::RemS | Int::RemU => return divide(r, op, mask),
        Int::MinS => r.wide2(d, a, b, mask, |x, y| (x as i64).min(y as i64) as u64),
        Int::MinU => r.wide2(d, a, b, mask, |x, y| x.min(y)),
        Int::MaxS => r.wide2(d, a, b, mask, |x, y| (x as i64).max(y as i64) as u64),
        Int::MaxU => r.wide2(d, a, b, mask, |x, y| x.max(y)),
        Int::And => r.wide2(d, a, b, mask, |x, y| x & y),
        Int::Or => r.wide2(d, a, b, mask, |x, y| x | y),
        Int::Xor => r.wide2(d, a, b, mask, |x, y| x ^ y),
        Int::Not => r.wide1(d, a, mask, |x| !x),
        Int::Cnot => r.wide1(d, a, mask, |x| u64::from(x == 0)),
        Int::Shl => shift(r, op, mask, |x, by| if by > 63 { 0 } else { x << (by & 63) }),
        Int::ShrU => shift(r, op, mask, |x, by| if by > 63 { 0 } else { x >> (by & 63) }),
        Int::ShrS => shift(r, op, mask, |x, by| ((x as i64) >> by.min(63)) as u64),
        Int::Neg => r.wide1(d, a, mask, u64::wrapping_neg),
        Int::Abs => r.wide1(d, a, mask, |x| (x as i64).wrapping_abs() as u64),
        Int::Popc => count(r, op, mask, u64::count_ones),
        Int::Clz => count(r, op, mask, u64::leading_zeros),
        Int::FindU => count(r, op, mask, find),
        Int::FindS => count(r, op, mask, |x| find(fold(x))),
        Int::FindShiftU => count(r, op, mask, find_shift),
        Int::FindShiftS => count(r, op, mask, |x| find_shift(fold(x))),
        Int::Brev => r.wide1(d, a, mask, u64::reverse_bits),
        Int::SadS => r.wide3(d, a, b, c, mask, |x, y, z| z.wrapping_add((x as i64).abs_diff(y as i64))),
        Int::SadU => r.wide3(d, a, b, c, mask, |x, y, z| z.wrapping_add(x.abs_diff(y))),
        Int::BfeU | Int::BfeS | Int::Bfi => fields(r, op, mask),
        Int::AddCarry(carry) => carried(r, op, mask, carry, |x, y, _, cin| u128::from(x) + u128::from(y) + cin),
        Int::SubCarry(carry) => {
            // The flag is a carry: a borrow clears it, and is read from a clear one (settled on an H200).
            let flags = if carry.reads { !r.p[e as usize] } else { 0 };
            let (x, y) = (&r.r64[a as usize], &r.r64[b as usize]);
            let mut out = [0; 32];
            let mut borrows = 0;
            for lane in 0..32 {
                let borrow = u128::from(flags >> lane & 1);
                let difference = u128::from(x[lane]).wrapping_sub(u128::from(y[lane])).wrapping_sub(borrow);
                out[lane] = difference as u64;
                borrows |= ((difference >> 127) as u32) << lane;
            }
            r.put64(d, &out, mask);
            if carry.writes {
                r.put_p(e, !borrows, mask);
            }
        }
        Int::MadLoCarry(carry) => {
            carried(r, op, mask, carry, |x, y, z, cin| u128::from(x.wrapping_mul(y)) + u128::from(z) + cin)
        }
        Int::MadHiUCarry(carry) => {
            carried(r, op, mask, carry, |x, y, z, cin| u128::from(mul_hi_u(x, y)) + u128::from(z) + cin)
        }
        Int::MadHiSCarry(carry) => {
            carried(r, op, mask, carry, |x, y, z, cin| u128::from(mul_hi_s(x, y)) + u128::from(z) + cin)
        }
        Int::MulWideS
        | Int::MulWideU
        | Int::MadWideS
        | Int::MadWideU
        | Int::Lop3
        | Int::ShfLeftWrap
        | Int::ShfLeftClamp
        | Int::ShfRightWrap
        | Int::ShfRightClamp
        | Int::Sext16 => unreachable!("decoding gives {code:?} 32-bit sources"),
    }
    0
}

#[inline(always)]
fn mul_hi_s(x: u64, y: u64) -> u64 {
    (i128::from(x as i64).wrapping_mul(i128::from(y as i64)) >> 64) as u64
}

#[inline(always)]
fn mul_hi_u(x: u64, y: u64) -> u64 {
    (u128::from(x).wrapping_mul(u128::from(y)) >> 64) as u64
}

fn fold(x: u64) -> u64 {
    x ^ ((x as i64) >> 63) as u64
}

fn find(x: u64) -> u32 {
    if x == 0 { u32::MAX } else { 63 - x.leading_zeros() }
}

fn find_shift(x: u64) -> u32 {
    if x == 0 { u32::MAX } else { x.leading_zeros() }
}

#[inline(always)]
fn shift(r: &mut Regs<'_>, op: &IntOp, mask: u32, f: impl Fn(u64, u32) -> u64) {
    let (x, by) = (&r.r64[op.a as usize], &r.r32[op.b as usize]);
    let mut out = [0; 32];
    for lane in 0..32 {
        out[lane] = f(x[lane], by[lane]);
    }
    r.put64(op.d, &out, mask);
}

#[inline(always)]
fn count(r: &mut Regs<'_>, op: &IntOp, mask: u32, f: impl Fn(u64) -> u32) {
    let x = &r.r64[op.a as usize];
    let mut out = [0; 32];
    for lane in 0..32 {
        out[lane] = f(x[lane]);
    }
    r.put32(op.d, &out, mask);
}

/// Positions and lengths count with all their bits here, where the 32-bit forms take the low eight (settled on an H200).
fn fields(r: &mut Regs<'_>, op: &IntOp, mask: u32) {
    let x = r.r64[op.a as usize];
    let mut out = [0; 32];
    if op.code == Int::Bfi {
        let (y, position, len) = (&r.r64[op.b as usize], &r.r32[op.c as usize], &r.r32[op.e as usize]);
        for lane in 0..32 {
            let (position, len) = (position[lane], len[lane]);
            out[lane] = if position > 63 || len == 0 {
                y[lane]
            } else {
                let field = if len > 63 { u64::MAX } else { (1u64 << len) - 1 } << position;
                y[lane] & !field | (x[lane] << position) & field
            };
        }
    } else {
        let (position, len) = (&r.r32[op.b as usize], &r.r32[op.c as usize]);
        for lane in 0..32 {
            let (x, position, len) = (x[lane], position[lane], len[lane]);
            out[lane] = if len == 0 {
                0
            } else if op.code == Int::BfeU {
                let shifted = if position > 63 { 0 } else { x >> position };
                if len > 63 { shifted } else { shifted & ((1u64 << len) - 1) }
            } else {
                let shifted = ((x as i64) >> position.min(63)) as u64;
                if position.saturating_add(len) > 63 {
                    shifted
                } else {
                    let up = 64 - len;
                    ((shifted << up) as i64 >> up) as u64
                }
            };
        }
    }
    r.put64(op.d, &out, mask);
}

#[inline(always)]
fn carried(r: &mut Regs<'_>, op: &IntOp, mask: u32, carry: Carry, f: impl Fn(u64, u64, u64, u128) -> u128) {
    let flags = if carry.reads { r.p[op.e as usize] } else { 0 };
    let zero = [0; 32];
    let (x, y) = (&r.r64[op.a as usize], &r.r64[op.b as usize]);
    let z = if op.c == NONE { &zero } else { &r.r64[op.c as usize] };
    let mut out = [0; 32];
    let mut carries = 0;
    for lane in 0..32 {
        let sum = f(x[lane], y[lane], z[lane], u128::from(flags >> lane & 1));
        out[lane] = sum as u64;
        carries |= ((sum >> 64) as u32) << lane;
    }
    r.put64(op.d, &out, mask);
    if carry.writes {
        r.put_p(op.e, carries, mask);
    }
}

/// As for 32 bits: all ones where the divisor is zero.
fn divide(r: &mut Regs<'_>, op: &IntOp, mask: u32) -> u32 {
    let (x, y) = (r.r64[op.a as usize], r.r64[op.b as usize]);
    let mut out = [0; 32];
    for lane in 0..32 {
        let (x, y) = (x[lane], y[lane]);
        out[lane] = match (op.code, y) {
            (Int::DivS | Int::DivU, 0) => u64::MAX,
            (_, 0) => u64::MAX,
            (Int::DivS, _) => (x as i64).wrapping_div(y as i64) as u64,
            (Int::DivU, _) => x / y,
            (Int::RemS, _) => (x as i64).wrapping_rem(y as i64) as u64,
            (_, _) => x % y,
        };
    }
    r.put64(op.d, &out, mask);
    lanes_where(|lane| y[lane] == 0) & mask
}
