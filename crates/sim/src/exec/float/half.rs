//! f16 and bf16: to f64, which holds both exactly, and back with one rounding.

use super::super::op::{Float, Round};
use super::{approx, nan, round};

/// Bits of the mantissa, and the exponent's bias.
#[inline(always)]
fn shape(brain: bool) -> (i32, i32) {
    if brain { (7, 127) } else { (10, 15) }
}

/// The value of a 16-bit float.
pub(crate) fn to_f64(bits: u16, brain: bool) -> f64 {
    let (mantissa_bits, bias) = shape(brain);
    let negative = bits & 0x8000 != 0;
    let biased = i32::from(bits & 0x7fff) >> mantissa_bits;
    let fraction = f64::from(i32::from(bits) & ((1 << mantissa_bits) - 1));
    let special = 0x7fff >> mantissa_bits;
    let magnitude = if biased == special {
        if fraction == 0.0 { f64::INFINITY } else { f64::NAN }
    } else if biased == 0 {
        fraction * power(1 - bias - mantissa_bits)
    } else {
        (fraction + power(mantissa_bits)) * power(biased - bias - mantissa_bits)
    };
    if negative { -magnitude } else { magnitude }
}

/// 2 to a power that an f64 has as a normal number.
fn power(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// Rounds to the nearest 16-bit float.
pub(crate) fn nearest(x: f64, brain: bool) -> u16 {
    from_f64(x, brain, Round::Nearest)
}

/// Rounds to a 16-bit float.
pub(crate) fn from_f64(x: f64, brain: bool, round: Round) -> u16 {
    let (mantissa_bits, bias) = shape(brain);
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let infinity: u32 = if brain { 0x7f80 } else { 0x7c00 };
    if x.is_nan() {
        return nan::HALF;
    }
    if x.is_infinite() {
        return sign | infinity as u16;
    }
    let a = x.abs();
    if a == 0.0 {
        return sign;
    }
    let away = match round {
        Round::Up => sign == 0,
        Round::Down => sign != 0,
        Round::Zero | Round::Nearest => false,
    };
    let exponent = (a.to_bits() >> 52) as i32 - 1023;
    let least = 1 - bias;
    // Nothing is lost by scaling: an f64 below 2^-1022 is far below every 16-bit float in any case.
    let exponent = exponent.max(least);
    let bits = if exponent > bias {
        // Beyond the largest power of two: overflow.
        infinity + 1
    } else {
        let scaled = a * power(mantissa_bits - exponent);
        let whole = scaled.floor();
        let rest = scaled - whole;
        let mut n = whole as u32;
        let up = match round {
            Round::Nearest => rest > 0.5 || (rest == 0.5 && n & 1 == 1),
            _ => rest > 0.0 && away,
        };
        n += u32::from(up);
        (((exponent + bias - 1) as u32) << mantissa_bits) + n
    };
    if bits >= infinity {
        return sign | if round == Round::Nearest || away { infinity } else { infinity - 1 } as u16;
    }
    sign | bits as u16
}

/// Modifiers of 16-bit arithmetic.
#[derive(Clone, Copy)]
pub(crate) struct Mode {
    pub(crate) brain: bool,
    pub(crate) ftz: bool,
    pub(crate) sat: bool,
    pub(crate) relu: bool,
    pub(crate) xorsign: bool,
}

/// Infinity becomes the largest finite number of its sign, if asked for.
pub(crate) fn finite_if(asked: bool, bits: u16, brain: bool) -> u16 {
    let infinity = if brain { 0x7f80 } else { 0x7c00 };
    if asked && bits & 0x7fff == infinity { bits - 1 } else { bits }
}

/// A subnormal f16 becomes a zero of its sign.
pub(crate) fn flush_f16(bits: u16) -> u16 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}

/// One 16-bit float operation, rounded once to nearest.
pub(crate) fn arithmetic(code: Float, mode: Mode, a: u16, b: u16, c: u16) -> u16 {
    let flush = |bits: u16| {
        let exponent = if mode.brain { 0x7f80 } else { 0x7c00 };
        if mode.ftz && bits & exponent == 0 { bits & 0x8000 } else { bits }
    };
    let (a, b, c) = (flush(a), flush(b), flush(c));
    let value = |bits| to_f64(bits, mode.brain);
    if mode.xorsign {
        let plain = Mode { xorsign: false, ..mode };
        let magnitude = arithmetic(code, plain, a & 0x7fff, b & 0x7fff, 0);
        return if to_f64(magnitude, mode.brain).is_nan() { magnitude } else { magnitude | (a ^ b) & 0x8000 };
    }
    let (x, y, z) = (value(a), value(b), value(c));
    let sum = |x: f64, y: f64| {
        let s = x + y;
        if s.is_finite() { round::odd(s, round::two_sum_error(x, y, s)) } else { s }
    };
    let result = match code {
        Float::Neg | Float::Abs if x.is_nan() => return nan::HALF,
        Float::Neg => return a ^ 0x8000,
        Float::Abs => return a & 0x7fff,
        Float::Min | Float::Max | Float::MinNan | Float::MaxNan => {
            let propagate = matches!(code, Float::MinNan | Float::MaxNan);
            let smaller = matches!(code, Float::Min | Float::MinNan);
            match (x.is_nan(), y.is_nan()) {
                (true, true) => f64::NAN,
                (true, false) | (false, true) if propagate => f64::NAN,
                (true, false) => y,
                (false, true) => x,
                (false, false) => {
                    let less = x < y || (x == y && x.is_sign_negative());
                    if less == smaller { x } else { y }
                }
            }
        }
        Float::Add => sum(x, y),
        Float::Sub => sum(x, -y),
        Float::Mul => x * y,
        Float::Fma => sum(x * y, z),
        Float::Ex2 => approx::exp2(x),
        _ => approx::tanh(x),
    };
    let mut result = result;
    if mode.sat {
        // NaN becomes +0, and so does -0 (PTX ISA, `.sat`).
        result = if result > 0.0 { result.min(1.0) } else { 0.0 };
    }
    if mode.relu && !result.is_nan() && result <= 0.0 {
        result = 0.0;
    }
    // What only rounding to a subnormal brings up to the smallest normal number is flushed too: it is below it when
    // rounded to 11 bits as if exponents had no end (settled on an H200).
    if mode.ftz && !mode.brain && result != 0.0 && result.abs() < power(-14) - power(-26) {
        return if result < 0.0 { 0x8000 } else { 0 };
    }
    flush(from_f64(result, mode.brain, Round::Nearest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_the_way_there_and_back() {
        for brain in [false, true] {
            for bits in 0..=u16::MAX {
                let value = to_f64(bits, brain);
                let back = from_f64(value, brain, Round::Nearest);
                if value.is_nan() {
                    assert_eq!(back, nan::HALF);
                } else {
                    for round in [Round::Nearest, Round::Zero, Round::Up, Round::Down] {
                        assert_eq!(from_f64(value, brain, round), bits, "{value} {brain}");
                    }
                }
            }
        }
    }

    /// Another's conversions, for every value and at, below and above every tie between two.
    #[test]
    fn conversions_agree_with_those_of_another_crate() {
        for bits in 0..=u16::MAX {
            let (f16, bf16) = (::half::f16::from_bits(bits), ::half::bf16::from_bits(bits));
            for (ours, theirs) in [(to_f64(bits, false), f16.to_f64()), (to_f64(bits, true), bf16.to_f64())] {
                assert!(ours == theirs || (ours.is_nan() && theirs.is_nan()), "{bits:x}");
            }
            for (brain, value, next) in [
                (false, f16.to_f64(), ::half::f16::from_bits(bits.wrapping_add(1)).to_f64()),
                (true, bf16.to_f64(), ::half::bf16::from_bits(bits.wrapping_add(1)).to_f64()),
            ] {
                let tie = (value + next) / 2.0;
                if !tie.is_finite() {
                    continue;
                }
                // The other crate looks at the upper 32 bits of an f64 only, so the neighbours of a tie are not too near.
                for x in [tie, tie * (1.0 + power(-18)), tie * (1.0 - power(-18))] {
                    let theirs = match brain {
                        false => ::half::f16::from_f64_const(x).to_bits(),
                        true => ::half::bf16::from_f64_const(x).to_bits(),
                    };
                    assert_eq!(from_f64(x, brain, Round::Nearest), theirs, "{x:e} {brain}");
                }
            }
        }
    }

    #[test]
    fn bf16_is_the_upper_half_of_f32() {
        for bits in 0..=u16::MAX {
            let value = to_f64(bits, true);
            let wide = f64::from(f32::from_bits(u32::from(bits) << 16));
            assert!(value == wide || (value.is_nan() && wide.is_nan()), "{bits:x}");
        }
    }

    #[test]
    fn halfway_goes_to_even_and_overflow_to_infinity() {
        assert_eq!(from_f64(2049.0, false, Round::Nearest), from_f64(2048.0, false, Round::Nearest));
        assert_eq!(from_f64(2051.0, false, Round::Nearest), from_f64(2052.0, false, Round::Nearest));
        assert_eq!(from_f64(65519.0, false, Round::Nearest), 0x7bff);
        assert_eq!(from_f64(65520.0, false, Round::Nearest), 0x7c00);
        assert_eq!(from_f64(1e9, false, Round::Zero), 0x7bff);
        assert_eq!(from_f64(-1e9, false, Round::Up), 0xfbff);
        assert_eq!(from_f64(1e-9, false, Round::Up), 1);
    }
}
