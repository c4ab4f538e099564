//! Every choice about NaN results, in one place.
//!
//! The PTX manual leaves most bits of NaN results open ("Floating Point Instructions"); these are the answers of an H200
//! (crates/suite/recordings/ptx-facts-h200.json):
//!
//! - f32 arithmetic, minimum, maximum, `neg` and `abs` give 0x7fffffff; f16 and bf16 give 0x7fff;
//! - f64 arithmetic gives one of its NaN operands made quiet, sign and payload kept, and 0xfff8000000000000 where none is
//!   one: the second of two, for `fma` the second, then the third, then the first, for `div` the first;
//! - f64 minimum and maximum of two NaNs give the second; f64 `neg` and `abs` make their NaN quiet and keep its sign;
//! - an atomic sum of f64 hands its NaN on as it is, not even quiet;
//! - conversions from f64, and to f64, keep what fits of the payload and make it quiet; with `.ftz` from f32, and
//!   between all other formats, the result is canonical, except bf16 to f32, which only moves the bits;
//! - `cvt.f32.f32` without a modifier is a move; `copysign` touches the sign bit only;
//! - conversion of NaN to an integer: 0 for results up to 32 bits of f32 and 16-bit floats, the smallest negative
//!   number's bits for 64-bit results and f64 sources.

/// NaN result of f32 arithmetic.
pub(crate) const F32: u32 = 0x7fff_ffff;
/// NaN result of f64 arithmetic without a NaN operand.
pub(crate) const F64: u64 = 0xfff8_0000_0000_0000;
/// NaN result of f16 and bf16 arithmetic.
pub(crate) const HALF: u16 = 0x7fff;
/// Bit that makes an f64 NaN quiet.
const QUIET: u64 = 0x0008_0000_0000_0000;

/// Bits of an f32 result.
#[inline(always)]
pub(crate) fn f32_bits(x: f32) -> u32 {
    if x.is_nan() { F32 } else { x.to_bits() }
}

/// A NaN of f64 made quiet.
pub(crate) fn quiet(bits: u64) -> u64 {
    bits | QUIET
}

/// Bits of an f64 result; where it is NaN, the first NaN of `operands` is it.
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
        (_, true) if signed => (-1i64 << (bits - 1)) as u64,
        (_, true) => 1 << (bits - 1),
        _ => 0,
    }
}
