//! What a condition compares: an element of device memory, a slot, or a value that never changes.

use std::sync::Arc;

use crate::element::bytes_of;
use crate::flow::Number;
use crate::memory::{Access, Element, Scalar, TempScalar};
use crate::value::{AnySlot, Baked, Slot, Snapshot, Val, Value};

mod sealed {
    pub trait Sealed {}
}

/// One side of a comparison: a `&Scalar<T>`, a `&TempScalar<T>`, an element of a slice, a `&Slot<T>` or `baked(x)`.
///
/// It is looked at when the condition is decided, on the device. Nothing stays borrowed: a body may write what its condition
/// looks at.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Scalar, Slot, baked, flow::{Condition, Operand, above}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// fn more(left: &Scalar<f32>, enough: impl Operand<f32>) -> Condition {
///     above(left, enough)
/// }
/// let (left, fixed) = (device.scalar(9.0)?, device.scalar(1.0)?);
/// let _ = (more(&left, &fixed), more(&left, &Slot::new(1.0)), more(&left, baked(1.0)));
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared with a `{T}` in a condition",
    label = "expected `&Scalar<{T}>`, an element (`x.at(i)`), `&Slot<{T}>` or `baked(..)`"
)]
pub trait Operand<T: Number>: sealed::Sealed {
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "hidden, and of a sealed trait: nobody outside can name what it returns")]
    fn side(self) -> Side;
}

/// The same without its type.
#[derive(Clone)]
pub(crate) enum Side {
    Element(Access),
    Value(Word),
}

/// A by-value side.
#[derive(Clone)]
pub(crate) struct Word {
    pub(crate) slot: Option<Arc<AnySlot>>,
    pub(crate) value: Arc<dyn InLaunch>,
}

/// A number in a launch.
pub(crate) trait InLaunch: Send + Sync {
    fn bits(&self, snapshot: &Snapshot<'_>) -> u64;
    /// For reports: as `Debug` prints it.
    fn text(&self, snapshot: &Snapshot<'_>) -> String;
}

impl<T: Number> InLaunch for Val<T> {
    fn bits(&self, snapshot: &Snapshot<'_>) -> u64 {
        bits(self.seen(snapshot))
    }

    fn text(&self, snapshot: &Snapshot<'_>) -> String {
        format!("{:?}", self.seen(snapshot))
    }
}

/// The bits of a number, in the low bytes of a word.
pub(crate) fn bits<T: Number>(value: T) -> u64 {
    let mut word = [0; 8];
    word[..size_of::<T>()].copy_from_slice(bytes_of(&[value]));
    u64::from_le_bytes(word)
}

fn word<T: Number>(value: impl Value<T>) -> Side {
    let value: Val<T> = value.into_val();
    let slot = value.slot();
    Side::Value(Word { slot, value: Arc::new(value) })
}

impl<T: Number> sealed::Sealed for &Element<T> {}
impl<T: Number> Operand<T> for &Element<T> {
    #[allow(private_interfaces, reason = "as of the trait")]
    fn side(self) -> Side {
        Side::Element(Access::read("condition", self.as_slice()))
    }
}

impl<T: Number> sealed::Sealed for &Scalar<T> {}
impl<T: Number> Operand<T> for &Scalar<T> {
    #[allow(private_interfaces, reason = "as of the trait")]
    fn side(self) -> Side {
        (**self).side()
    }
}

impl<T: Number> sealed::Sealed for &TempScalar<'_, T> {}
impl<T: Number> Operand<T> for &TempScalar<'_, T> {
    #[allow(private_interfaces, reason = "as of the trait")]
    fn side(self) -> Side {
        (**self).side()
    }
}

impl<T: Number> sealed::Sealed for &Slot<T> {}
impl<T: Number> Operand<T> for &Slot<T> {
    #[allow(private_interfaces, reason = "as of the trait")]
    fn side(self) -> Side {
        word(self)
    }
}

impl<T: Number> sealed::Sealed for Baked<T> {}
impl<T: Number> Operand<T> for Baked<T> {
    #[allow(private_interfaces, reason = "as of the trait")]
    fn side(self) -> Side {
        word(self)
    }
}
