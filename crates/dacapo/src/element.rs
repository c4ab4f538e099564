//! What may be an element of device memory or a kernel's by-value argument.
//!
//! Plain data: no padding, every bit pattern valid. [`bytemuck::Pod`] is that promise; a user's own `#[repr(C)]` struct
//! derives it and needs no `unsafe`.

use std::fmt::Debug;

/// Plain data that a GPU can hold.
///
/// `Debug`, so that a failed condition can print the values. `bool`, references and `String` are no elements; for a
/// struct of one's own:
///
/// ```
/// use dacapo::bytemuck;
/// #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Pair {
///     a: u32,
///     b: f32,
/// }
/// impl dacapo::Pod for Pair {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data that a GPU can hold",
    note = "numbers, `half::f16`, `half::bf16` and arrays of them are; for a `#[repr(C)]` struct derive `bytemuck::Pod` and write `impl dacapo::Pod for It {{}}`"
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
