//! The `.approx` family: computed in f64 by polynomials of our own, rounded once.
//!
//! The results lie inside the bounds that the PTX manual gives for each instruction, and are the same on every
//! machine. They are not the bits that a GPU gives: the manual leaves those open.

use std::f64::consts::{FRAC_PI_2, LN_2, LOG2_E, PI};

/// 2 to the power `x`, for results that f32 and 16-bit floats can hold; without branches, for vector code.
#[inline(always)]
pub(crate) fn exp2(x: f64) -> f64 {
    // Beyond these the result is zero or infinite in every format that asks. NaN passes.
    let x = if x < -400.0 { -400.0 } else { x };
    let x = if x > 400.0 { 400.0 } else { x };
    // Adding this number rounds to an integer and leaves it in the low bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let shifted = x + MAGIC;
    let n = shifted - MAGIC;
    let t = (x - n) * LN_2;
    // exp(t) for |t| <= 0.35 by its series; the first term left out is below 1e-16.
    const C: [f64; 12] = [
        1.0,
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
    ];
    let mut sum = 1.0 / 479_001_600.0;
    for c in C.iter().rev() {
        sum = sum * t + c;
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// Logarithm to base 2.
pub(crate) fn log2(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x.is_infinite() {
        return x;
    }
    // f32 arguments are normal numbers of f64.
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits((bits & ((1 << 52) - 1)) | 1023 << 52);
    if m > std::f64::consts::SQRT_2 {
        m /= 2.0;
        exponent += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let mut sum = 0.0;
    let mut k = 23.0;
    while k > 0.0 {
        sum = sum * s2 + 1.0 / k;
        k -= 2.0;
    }
    exponent as f64 + 2.0 * s * sum * LOG2_E
}

/// Sine and cosine.
fn sin_cos(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    // The manual bounds the error only up to 100 pi; far outside, the remainder keeps the reduction finite.
    let x = if x.abs() > 1e6 { x % (2.0 * PI) } else { x };
    let quarter = (x / FRAC_PI_2).round_ties_even();
    // pi/2 in two pieces: the first has few enough bits that its multiple is exact.
    const FIRST: f64 = 1.570_796_326_734_125_6;
    const SECOND: f64 = 6.077_100_506_506_192e-11;
    let r = (x - quarter * FIRST) - quarter * SECOND;
    let r2 = r * r;
    let (mut sine, mut cosine) = (1.0, 1.0);
    let mut k = 9.0;
    while k > 0.0 {
        sine = 1.0 - sine * r2 / ((2.0 * k) * (2.0 * k + 1.0));
        cosine = 1.0 - cosine * r2 / ((2.0 * k - 1.0) * (2.0 * k));
        k -= 1.0;
    }
    let sine = sine * r;
    match (quarter as i64).rem_euclid(4) {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// Sine.
pub(crate) fn sin(x: f64) -> f64 {
    if x == 0.0 { x } else { sin_cos(x).0 }
}

/// Cosine.
pub(crate) fn cos(x: f64) -> f64 {
    sin_cos(x).1
}

/// Hyperbolic tangent.
pub(crate) fn tanh(x: f64) -> f64 {
    if x.is_nan() || x == 0.0 {
        return x;
    }
    let a = x.abs();
    let t = if a < 0.01 {
        // The quotient below would cancel; the series is good to 1e-17 here.
        let a2 = a * a;
        a * (1.0 - a2 * (1.0 / 3.0 - a2 * (2.0 / 15.0 - a2 * (17.0 / 315.0))))
    } else if a > 30.0 {
        // exp2 ends at 400; the quotient is 1 long before.
        1.0
    } else {
        let e = exp2(2.0 * a * LOG2_E);
        (e - 1.0) / (e + 1.0)
    };
    if x < 0.0 { -t } else { t }
}

/// `rcp.approx.ftz.f64`: looks at the upper 32 bits only, and gives only those.
pub(crate) fn rcp_f64(x: u64) -> u64 {
    upper_flushed((1.0 / f64::from_bits(upper_flushed(x))).to_bits())
}

/// `rsqrt.approx.ftz.f64`: as [`rcp_f64`].
pub(crate) fn rsqrt_ftz_f64(x: u64) -> u64 {
    upper_flushed((1.0 / f64::from_bits(upper_flushed(x)).sqrt()).to_bits())
}

/// The upper 32 bits, of which nothing but zeros is left of a subnormal, and an infinity of a NaN whose payload lay below.
fn upper_flushed(x: u64) -> u64 {
    let bits = x & 0xffff_ffff_0000_0000;
    match f64::from_bits(bits) {
        x if x.is_nan() => 0x7fff_ffff_0000_0000,
        _ if bits & 0x7ff0_0000_0000_0000 == 0 => bits & 1 << 63,
        _ => bits,
    }
}

/// `div.approx.f32`: a divisor above 2^126 has a reciprocal that is flushed to zero.
pub(crate) fn div_f32(a: f32, b: f32) -> f32 {
    const LARGE: f32 = f32::from_bits(0x7e80_0000);
    if b.is_finite() && b.abs() > LARGE {
        let zero = if b < 0.0 { -0.0f32 } else { 0.0 };
        return a * zero;
    }
    (f64::from(a) / f64::from(b)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_to_the_platforms_functions() {
        let mut x = -90.0f64;
        while x < 90.0 {
            assert!((exp2(x) / x.exp2() - 1.0).abs() < 1e-14, "exp2({x})");
            assert!((sin(x) - x.sin()).abs() < 1e-13, "sin({x})");
            assert!((cos(x) - x.cos()).abs() < 1e-13, "cos({x})");
            assert!((tanh(x) - x.tanh()).abs() < 1e-14, "tanh({x})");
            assert!(x <= 0.0 || (log2(x) - x.log2()).abs() < 1e-14, "log2({x})");
            x += 0.001_7;
        }
        assert!((sin(314.0) - 314f64.sin()).abs() < 1e-12);
        assert!((log2(1e-44) - 1e-44f64.log2()).abs() < 1e-12);
    }

    #[test]
    fn special_values() {
        assert_eq!(exp2(f64::NEG_INFINITY) as f32, 0.0);
        assert_eq!(exp2(f64::INFINITY) as f32, f32::INFINITY);
        assert!(exp2(f64::NAN).is_nan());
        assert_eq!(exp2(3.0), 8.0);
        assert_eq!(log2(0.0), f64::NEG_INFINITY);
        assert!(log2(-1.0).is_nan());
        assert_eq!(log2(8.0), 3.0);
        assert!(sin(f64::INFINITY).is_nan());
        assert_eq!(rcp_f64(2f64.to_bits()), 0.5f64.to_bits());
        assert_eq!(rcp_f64(0), f64::INFINITY.to_bits());
        // Looks like an infinity from above.
        assert_eq!(rcp_f64(0x7ff0_0000_0000_0001), 0);
        assert_eq!(div_f32(1.0, f32::MAX), 0.0);
        assert!(div_f32(f32::INFINITY, f32::MAX).is_nan());
    }
}
