//! Floats of 8 bits: e4m3 has no infinity and one NaN, e5m2 is the upper half of an f16 (PTX ISA, "Alternate Floating-Point
//! Data Formats").

use super::super::op::{Eight, Round};
use super::half;

/// Rounds to nearest; what overflows is the largest finite number, as `.satfinite` says. NaN is 0x7f.
pub(crate) fn from_f64(x: f64, format: Eight, relu: bool) -> u8 {
    if x.is_nan() {
        return 0x7f;
    }
    if relu && x <= 0.0 {
        return 0;
    }
    let (mantissa_bits, bias, greatest) = match format {
        Eight::E4m3 => (3, 7, 0x7e),
        Eight::E5m2 => (2, 15, 0x7b),
    };
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    let a = x.abs();
    if a == 0.0 || a.is_infinite() {
        return sign | if a == 0.0 { 0 } else { greatest };
    }
    let exponent = ((a.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    if exponent > bias + 1 {
        return sign | greatest;
    }
    let n = (a * 2f64.powi(mantissa_bits - exponent)).round_ties_even() as i32;
    let bits = ((exponent + bias - 1) << mantissa_bits) + n;
    sign | bits.min(greatest.into()) as u8
}

/// The f16 of the same value, or zero for a negative one with `relu`.
pub(crate) fn to_f16(bits: u8, format: Eight, relu: bool) -> u16 {
    let value = match format {
        Eight::E5m2 => half::to_f64(u16::from(bits) << 8, false),
        Eight::E4m3 => {
            let (exponent, fraction) = (i32::from(bits >> 3 & 15), f64::from(bits & 7));
            let magnitude = match exponent {
                _ if bits & 0x7f == 0x7f => f64::NAN,
                0 => fraction * 2f64.powi(-9),
                _ => (8.0 + fraction) * 2f64.powi(exponent - 10),
            };
            if bits & 0x80 != 0 { -magnitude } else { magnitude }
        }
    };
    if relu && value <= 0.0 {
        return 0;
    }
    half::from_f64(value, false, Round::Nearest)
}
