//! f32 arithmetic over lanes.
//!
//! Rounding to nearest is the processor's own; other directions are emulated (`float::round`), except where AVX-512 has
//! them. `SET` says for which instruction set the code is compiled: without a fused multiply-add that too is emulated,
//! never `a * b + c`.

use super::super::float::{approx, nan, round};
use super::super::op::{Float, FloatOp, Round};
use super::Regs;
use super::dispatch::{AVX2, AVX512};
use super::steps::Cols;

/// Runs one instruction.
#[inline(always)]
pub(crate) fn run<const SET: u8>(r: &mut Regs<'_>, op: &FloatOp, mask: u32) {
    let (nearest, c) = (op.round == Round::Nearest, op.cols());
    match (op.code, op.ftz, op.sat) {
        (Float::Add, false, false) if nearest => two::<false>(r, c, mask, |x, y| x + y),
        (Float::Add, true, false) if nearest => two::<true>(r, c, mask, |x, y| x + y),
        (Float::Sub, false, false) if nearest => two::<false>(r, c, mask, |x, y| x - y),
        (Float::Sub, true, false) if nearest => two::<true>(r, c, mask, |x, y| x - y),
        (Float::Mul, false, false) if nearest => two::<false>(r, c, mask, |x, y| x * y),
        (Float::Mul, true, false) if nearest => flushing::<SET>(r, op, mask, |x, y, _| x * y),
        (Float::Fma, false, false) if nearest => three::<false>(r, c, mask, fma::<SET>),
        (Float::Fma, true, false) if nearest => flushing::<SET>(r, op, mask, fma::<SET>),
        (Float::Fma, false, false) if op.round == Round::Down => fma_down::<SET>(r, c, mask),
        (Float::Div, false, false) if nearest => two::<false>(r, c, mask, |x, y| x / y),
        (Float::Min, false, false) => r.map2(op.d, op.a, op.b, mask, least),
        (Float::Max, false, false) => r.map2(op.d, op.a, op.b, mask, greatest),
        (Float::Max, true, false) => {
            r.map2(op.d, op.a, op.b, mask, |x, y| greatest(flushed::<true>(x).to_bits(), flushed::<true>(y).to_bits()))
        }
        (Float::Rcp, false, false) if nearest => one_source::<false>(r, c, mask, |x| 1.0 / x),
        (Float::RcpApprox, false, false) => one_source::<false>(r, c, mask, |x| 1.0 / x),
        (Float::RcpApprox, true, false) => one_source::<true>(r, c, mask, |x| 1.0 / x),
        (Float::Sqrt, false, false) if nearest => one_source::<false>(r, c, mask, f32::sqrt),
        (Float::SqrtApprox, false, false) => one_source::<false>(r, c, mask, f32::sqrt),
        (Float::SqrtApprox, true, false) => one_source::<true>(r, c, mask, f32::sqrt),
        (Float::RsqrtApprox, false, false) => one_source::<false>(r, c, mask, rsqrt),
        (Float::RsqrtApprox, true, false) => one_source::<true>(r, c, mask, rsqrt),
        (Float::Ex2, false, false) => ex2::<false>(r, c, mask),
        (Float::Ex2, true, false) => ex2::<true>(r, c, mask),
        (Float::Neg, false, _) => r.map1(op.d, op.a, mask, negated),
        (Float::Abs, false, _) => r.map1(op.d, op.a, mask, |x| bits::<false>(f32::from_bits(x & 0x7fff_ffff))),
        _ => each::<SET>(r, op, mask),
    }
}

#[inline(always)]
fn flushed<const FTZ: bool>(x: u32) -> f32 {
    let x = f32::from_bits(x);
    if FTZ { round::flush(x) } else { x }
}

#[inline(always)]
fn bits<const FTZ: bool>(x: f32) -> u32 {
    nan::f32_bits(if FTZ { round::flush(x) } else { x })
}

#[inline(always)]
fn one_source<const FTZ: bool>(r: &mut Regs<'_>, c: Cols, mask: u32, f: impl Fn(f32) -> f32) {
    r.map1(c.d, c.a, mask, |x| bits::<FTZ>(f(flushed::<FTZ>(x))));
}

#[inline(always)]
fn rsqrt(x: f32) -> f32 {
    (1.0 / f64::from(x).sqrt()) as f32
}

#[inline(always)]
pub(super) fn two<const FTZ: bool>(r: &mut Regs<'_>, c: Cols, mask: u32, f: impl Fn(f32, f32) -> f32) {
    r.map2(c.d, c.a, c.b, mask, |x, y| bits::<FTZ>(f(flushed::<FTZ>(x), flushed::<FTZ>(y))));
}

#[inline(always)]
pub(super) fn three<const FTZ: bool>(r: &mut Regs<'_>, c: Cols, mask: u32, f: impl Fn(f32, f32, f32) -> f32) {
    r.map3(c.d, c.a, c.b, c.c, mask, |x, y, z| bits::<FTZ>(f(flushed::<FTZ>(x), flushed::<FTZ>(y), flushed::<FTZ>(z))));
}

/// `.ftz` of a product: a result that became the smallest normal number by rounding is looked at again.
#[inline(always)]
fn flushing<const SET: u8>(r: &mut Regs<'_>, op: &FloatOp, mask: u32, f: impl Fn(f32, f32, f32) -> f32) {
    let none = [0; 32];
    let column = |col: u16| r.r32.get(col as usize).unwrap_or(&none);
    let (x, y, z) = (column(op.a), column(op.b), column(op.c));
    let mut out = [0; 32];
    for lane in 0..32 {
        out[lane] = bits::<true>(f(flushed::<true>(x[lane]), flushed::<true>(y[lane]), flushed::<true>(z[lane])));
    }
    if super::lanes_where(|lane| out[lane] & 0x7fff_ffff == 0x0080_0000) != 0 {
        for lane in 0..32 {
            out[lane] = one::<SET>(op, [x[lane], y[lane], z[lane]]);
        }
    }
    r.put32(op.d, &out, mask);
}

#[inline(always)]
pub(super) fn fma<const SET: u8>(x: f32, y: f32, z: f32) -> f32 {
    if SET >= AVX2 { x.mul_add(y, z) } else { round::fma_f32(x, y, z, Round::Nearest) }
}

#[inline(always)]
pub(super) fn negated(x: u32) -> u32 {
    bits::<false>(f32::from_bits(x ^ 0x8000_0000))
}

#[inline(always)]
pub(super) fn ex2<const FTZ: bool>(r: &mut Regs<'_>, c: Cols, mask: u32) {
    one_source::<FTZ>(r, c, mask, |x| approx::exp2(x.into()) as f32);
}

/// `fma.rm`, which every `expf` has.
#[inline(always)]
pub(super) fn fma_down<const SET: u8>(r: &mut Regs<'_>, c: Cols, mask: u32) {
    #[cfg(target_arch = "x86_64")]
    if SET >= AVX512 {
        return fma_down_512(r, c, mask);
    }
    three::<false>(r, c, mask, |x, y, z| round::fma_f32(x, y, z, Round::Down));
}

/// The same where the processor can do it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fma_down_512(r: &mut Regs<'_>, c: Cols, mask: u32) {
    use std::arch::x86_64::{
        _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEG_INF, _mm512_fmadd_round_ps, _mm512_loadu_ps, _mm512_storeu_ps,
    };
    let [x, y, z] = [c.a, c.b, c.c].map(|col| &r.r32[col as usize]);
    let mut out = [0u32; 32];
    for half in [0, 16] {
        // SAFETY: only code compiled for AVX-512 comes here, which runs only where the processor has it. Each half of a
        // column is 64 bytes, loads and stores are unaligned, and any bits are numbers.
        unsafe {
            let at = |column: &[u32; 32]| _mm512_loadu_ps(column[half..half + 16].as_ptr().cast());
            let sum = _mm512_fmadd_round_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(at(x), at(y), at(z));
            _mm512_storeu_ps(out[half..half + 16].as_mut_ptr().cast(), sum);
        }
    }
    for bits in &mut out {
        *bits = nan::f32_bits(f32::from_bits(*bits));
    }
    r.put32(c.d, &out, mask);
}

/// The smaller one; -0 is smaller than +0, and a NaN loses against a number.
#[inline(always)]
pub(super) fn least(x: u32, y: u32) -> u32 {
    let (a, b) = (f32::from_bits(x), f32::from_bits(y));
    let both = if a < b || (a == b && x >> 31 == 1) { x } else { y };
    let result = if a.is_nan() {
        y
    } else if b.is_nan() {
        x
    } else {
        both
    };
    nan::f32_bits(f32::from_bits(result))
}

#[inline(always)]
pub(super) fn greatest(x: u32, y: u32) -> u32 {
    let (a, b) = (f32::from_bits(x), f32::from_bits(y));
    let both = if a > b || (a == b && x >> 31 == 0) { x } else { y };
    let result = if a.is_nan() {
        y
    } else if b.is_nan() {
        x
    } else {
        both
    };
    nan::f32_bits(f32::from_bits(result))
}

/// Everything else, one lane at a time.
#[inline(never)]
fn each<const SET: u8>(r: &mut Regs<'_>, op: &FloatOp, mask: u32) {
    let mut rest = mask;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let get = |col: u16| r.r32.get(col as usize).map_or(0, |c| c[lane]);
        let result = one::<SET>(op, [get(op.a), get(op.b), get(op.c)]);
        r.r32[op.d as usize][lane] = result;
    }
}

/// One value of any instruction.
pub(crate) fn one<const SET: u8>(op: &FloatOp, sources: [u32; 3]) -> u32 {
    let [x, y, z] = sources.map(|bits| if op.ftz { round::flush(f32::from_bits(bits)) } else { f32::from_bits(bits) });
    let wide = |f: fn(f64) -> f64| f(x.into()) as f32;
    let result = match op.code {
        Float::Add => round::add_f32(x, y, op.round),
        Float::Sub => round::add_f32(x, -y, op.round),
        Float::Mul => round::mul_f32(x, y, op.round),
        Float::Fma if SET >= AVX2 && op.round == Round::Nearest => x.mul_add(y, z),
        Float::Fma => round::fma_f32(x, y, z, op.round),
        Float::Div => round::div_f32(x, y, op.round),
        Float::Rcp => round::div_f32(1.0, x, op.round),
        Float::Sqrt => round::sqrt_f32(x, op.round),
        Float::Min => f32::from_bits(least(x.to_bits(), y.to_bits())),
        Float::Max => f32::from_bits(greatest(x.to_bits(), y.to_bits())),
        Float::MinNan | Float::MaxNan if x.is_nan() || y.is_nan() => f32::NAN,
        Float::MinNan => f32::from_bits(least(x.to_bits(), y.to_bits())),
        Float::MaxNan => f32::from_bits(greatest(x.to_bits(), y.to_bits())),
        Float::Neg => return nan::f32_bits(-x),
        Float::Abs => return nan::f32_bits(x.abs()),
        // The sign of the first, the magnitude of the second (PTX ISA, `copysign`).
        Float::CopySign => return sources[0] & 0x8000_0000 | sources[1] & 0x7fff_ffff,
        Float::DivApprox => approx::div_f32(x, y),
        Float::DivFull => x / y,
        Float::RcpApprox => 1.0 / x,
        Float::SqrtApprox => x.sqrt(),
        Float::RsqrtApprox => rsqrt(x),
        Float::Ex2 => wide(approx::exp2),
        Float::Lg2 => wide(approx::log2),
        Float::Sin => wide(approx::sin),
        Float::Cos => wide(approx::cos),
        Float::Tanh => wide(approx::tanh),
    };
    let tiny = |a: f32, b: f32, c: f32| result.abs() == f32::MIN_POSITIVE && round::is_tiny(a, b, c, op.round);
    let flushes = match op.code {
        Float::Mul => tiny(x, y, 0.0),
        Float::Fma => tiny(x, y, z),
        _ => false,
    };
    let mut result = match op.ftz {
        true if flushes => 0f32.copysign(result),
        true => round::flush(result),
        false => result,
    };
    if op.sat {
        // NaN becomes +0, and so does -0 (PTX ISA, `.sat`).
        result = if result > 0.0 { result.min(1.0) } else { 0.0 };
    }
    nan::f32_bits(result)
}
