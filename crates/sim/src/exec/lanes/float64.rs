//! f64 arithmetic over lanes.

use super::super::float::{approx, nan, round};
use super::super::op::{Float, FloatOp, Round};
use super::Regs;
use super::steps::Cols;

/// Runs one instruction.
#[inline(always)]
pub(crate) fn run(r: &mut Regs<'_>, op: &FloatOp, mask: u32) {
    let nearest = op.round == Round::Nearest;
    match op.code {
        Float::Add if nearest => two(r, op, mask, |x, y| x + y),
        Float::Sub if nearest => two(r, op, mask, |x, y| x - y),
        Float::Mul if nearest => two(r, op, mask, |x, y| x * y),
        Float::Fma if nearest => fma(r, op.cols(), mask),
        Float::Neg => r.wide1(op.d, op.a, mask, |x| signed(x, x ^ 1 << 63)),
        Float::Abs => r.wide1(op.d, op.a, mask, |x| signed(x, x & !(1 << 63))),
        _ => each(r, op, mask),
    }
}

/// Rounded to nearest.
#[inline(always)]
pub(super) fn fma(r: &mut Regs<'_>, c: Cols, mask: u32) {
    r.wide3(c.d, c.a, c.b, c.c, mask, |x, y, z| {
        let [x, y, z] = [x, y, z].map(f64::from_bits);
        nan::f64_bits(x.mul_add(y, z), [y, z, x])
    });
}

#[inline(always)]
fn two(r: &mut Regs<'_>, op: &FloatOp, mask: u32, f: impl Fn(f64, f64) -> f64) {
    r.wide2(op.d, op.a, op.b, mask, |x, y| {
        let (x, y) = (f64::from_bits(x), f64::from_bits(y));
        nan::f64_bits(f(x, y), [y, x, 0.0])
    });
}

/// The result of a change of sign: a NaN keeps its own.
#[inline(always)]
fn signed(x: u64, changed: u64) -> u64 {
    if f64::from_bits(x).is_nan() { nan::quiet(x) } else { changed }
}

#[inline(never)]
fn each(r: &mut Regs<'_>, op: &FloatOp, mask: u32) {
    let mut rest = mask;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let get = |col: u16| r.r64.get(col as usize).map_or(0, |c| c[lane]);
        let result = one(op, [get(op.a), get(op.b), get(op.c)]);
        r.r64[op.d as usize][lane] = result;
    }
}

/// One value of any instruction.
fn one(op: &FloatOp, sources: [u64; 3]) -> u64 {
    let [x, y, z] = sources.map(f64::from_bits);
    let result = match op.code {
        Float::Add => round::add_f64(x, y, op.round),
        Float::Sub => round::add_f64(x, -y, op.round),
        Float::Mul => round::mul_f64(x, y, op.round),
        Float::Fma => round::fma_f64(x, y, z, op.round),
        Float::Div => round::div_f64(x, y, op.round),
        Float::Rcp => round::div_f64(1.0, x, op.round),
        Float::Sqrt => round::sqrt_f64(x, op.round),
        Float::Min | Float::Max => return extreme(op.code == Float::Min, x, y),
        Float::MinNan | Float::MaxNan if x.is_nan() || y.is_nan() => f64::NAN,
        Float::MinNan | Float::MaxNan => return extreme(op.code == Float::MinNan, x, y),
        Float::Neg => return signed(sources[0], sources[0] ^ 1 << 63),
        Float::Abs => return signed(sources[0], sources[0] & !(1 << 63)),
        Float::CopySign => return sources[0] & 1 << 63 | sources[1] & !(1 << 63),
        Float::RcpApprox => return approx::rcp_f64(sources[0]),
        Float::RsqrtApprox if op.ftz => return approx::rsqrt_ftz_f64(sources[0]),
        Float::RsqrtApprox => 1.0 / x.sqrt(),
        // No other approximation exists for f64; decoding accepts what the table of forms accepts.
        Float::SqrtApprox => x.sqrt(),
        Float::DivApprox | Float::DivFull => x / y,
        Float::Ex2 => approx::exp2(x),
        Float::Lg2 => approx::log2(x),
        Float::Sin => approx::sin(x),
        Float::Cos => approx::cos(x),
        Float::Tanh => approx::tanh(x),
    };
    let operands = match op.code {
        Float::Fma => [y, z, x],
        Float::Add | Float::Sub | Float::Mul | Float::MinNan | Float::MaxNan => [y, x, 0.0],
        Float::Div => [x, y, 0.0],
        _ => [x, 0.0, 0.0],
    };
    nan::f64_bits(result, operands)
}

fn extreme(smaller: bool, x: f64, y: f64) -> u64 {
    let result = match (x.is_nan(), y.is_nan()) {
        (true, true) => return nan::quiet(y.to_bits()),
        (true, false) => y,
        (false, true) => x,
        (false, false) => {
            let less = x < y || (x == y && x.is_sign_negative());
            if less == smaller { x } else { y }
        }
    };
    result.to_bits()
}
