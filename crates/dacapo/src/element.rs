//! What may be an element of device memory or a kernel's by-value argument.
//!
//! Plain data: no padding, every bit pattern valid. [`bytemuck::Pod`] is that promise; a user's own `#[repr(C)]` struct
//! derives it with [`Pod`](derive@crate::Pod) and needs no `unsafe`.

use std::fmt::Debug;

/// Plain data that a GPU can hold.
///
/// Numbers, `half::f16`, `half::bf16` and arrays of them. `bool`, references and `String` are not. A `#[repr(C)]`
/// struct of your own derives it:
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// #[derive(Clone, Copy, Debug, PartialEq, dacapo::Pod)]
/// #[repr(C)]
/// struct Pair {
///     a: u32,
///     b: f32,
/// }
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let pairs = device.buffer(&[Pair { a: 1, b: 2.0 }])?;
/// assert_eq!(stream.read(&pairs)?, [Pair { a: 1, b: 2.0 }]);
/// # Ok(()) }
/// ```
///
/// The derive is part of this crate and needs no other dependency. It refuses a struct with padding. `Debug` is
/// required so that a failed condition can print the values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data that a GPU can hold",
    note = "numbers, `half::f16`, `half::bf16` and arrays of them are; for a `#[repr(C)]` struct of these write `#[derive(Clone, Copy, Debug, dacapo::Pod)]`"
)]
pub trait Pod: bytemuck::Pod + Debug + Send + Sync {}

macro_rules! elements {
    ($($t:ty)*) => { $(impl Pod for $t {})* };
}
elements!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 half::f16 half::bf16);
impl<T: Pod, const N: usize> Pod for [T; N] {}

/// The bytes of some elements.
pub(crate) fn bytes_of<T: Pod>(elements: &[T]) -> &[u8] {
    bytemuck::cast_slice(elements)
}
