//! Every choice about NaN results, in one place.
//!
//! The PTX manual leaves most bits of NaN results open ("Floating Point Instructions"); these are the answers given
//! here until a GPU's are recorded:
//!
//! - f32 arithmetic, minimum, maximum and conversions to f32 give 0x7fffffff;
//! - f64 arithmetic gives the first NaN operand made quiet, and 0xfff8000000000000 where none is one;
//! - f64 minimum, maximum of two NaNs, and conversions to f64, give 0x7fffffff as f64: 0x7fffffffe0000000 from f32,
//!   else 0x7ff8000000000000;
//! - f16 and bf16 give 0x7fff;
//! - `neg`, `abs` and `copysign` touch the sign bit only;
//! - conversion of NaN to an integer: 0 for results up to 32 bits of f32 and f16, the smallest negative number's bits
//!   for 64-bit results and f64 sources.

/// NaN result of f32 arithmetic.
pub(crate) const F32: u32 = 0x7fff_ffff;
/// NaN result of f64 arithmetic without a NaN operand.
pub(crate) const F64: u64 = 0xfff8_0000_0000_0000;
/// NaN result of f64 minimum and maximum.
pub(crate) const F64_MINMAX: u64 = 0x7ff8_0000_0000_0000;
/// NaN result of f16 and bf16 arithmetic.
pub(crate) const HALF: u16 = 0x7fff;
/// Bit that makes an f64 NaN quiet.
const QUIET: u64 = 0x0008_0000_0000_0000;

/// Bits of an f32 result.
#[inline(always)]
pub(crate) fn f32_bits(x: f32) -> u32 {
    if x.is_nan() { F32 } else { x.to_bits() }
}

/// Bits of an f64 result with the given operands.
#[inline(always)]
pub(crate) fn f64_bits(x: f64, operands: [f64; 3]) -> u64 {
    if !x.is_nan() {
        return x.to_bits();
    }
    for o in operands {
        if o.is_nan() {
            return o.to_bits() | QUIET;
        }
    }
    F64
}

/// An f32 NaN as f64.
pub(crate) const F64_OF_F32: u64 = 0x7fff_ffff_e000_0000;

/// What a NaN becomes as an integer of `bits` bits, sign-extended to 64; `from_f64` tells its source.
pub(crate) fn to_integer(bits: u32, signed: bool, from_f64: bool) -> u64 {
    match (bits, from_f64) {
        (64, _) => 1 << 63,
        (32, true) if signed => i32::MIN as i64 as u64,
        (32, true) => 1 << 31,
        _ => 0,
    }
}
