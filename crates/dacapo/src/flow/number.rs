//! Types that conditions compare.

use crate::element::Pod;

mod sealed {
    pub trait Sealed {}
}

/// A number that a [`Condition`](crate::flow::Condition) can compare: whole numbers of 8 to 64 bits, `f32`, `f64`, and
/// `half`'s two types.
///
/// Numbers of one type are compared with each other, without rounding. A NaN is neither above nor below nor equal to
/// anything.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Scalar, flow::{Condition, Number, above}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// fn is_larger<T: Number>(x: &Scalar<T>, y: &Scalar<T>) -> Condition {
///     above(x, y)
/// }
/// let _ = is_larger(&device.scalar(1u8)?, &device.scalar(2u8)?);
/// let _ = is_larger(&device.scalar(1.0f64)?, &device.scalar(2.0)?);
/// # Ok(()) }
/// ```
pub trait Number: Pod + sealed::Sealed {
    #[doc(hidden)]
    const TYPE: u8;
    #[doc(hidden)]
    const ZERO: Self;
}

macro_rules! numbers {
    ($($type:ty = $code:literal, $zero:expr;)+) => {
        $(
            impl sealed::Sealed for $type {}
            impl Number for $type {
                const TYPE: u8 = $code;
                const ZERO: Self = $zero;
            }
        )+
    };
}

// The numbers of kernels/condition.cu.
numbers! {
    u8 = 0, 0;
    u16 = 1, 0;
    u32 = 2, 0;
    u64 = 3, 0;
    i8 = 4, 0;
    i16 = 5, 0;
    i32 = 6, 0;
    i64 = 7, 0;
    half::f16 = 8, half::f16::ZERO;
    half::bf16 = 9, half::bf16::ZERO;
    f32 = 10, 0.0;
    f64 = 11, 0.0;
}
