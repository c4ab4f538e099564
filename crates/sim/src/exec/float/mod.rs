//! Floating point as PTX defines it, one value at a time: rounding in all directions, 16-bit formats, conversions,
//! approximations. Pure functions; the lanes apply them.

pub(crate) mod approx;
pub(crate) mod convert;
pub(crate) mod eight;
pub(crate) mod half;
pub(crate) mod nan;
pub(crate) mod round;
