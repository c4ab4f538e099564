//! One value in device memory.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::device::Stream;
use crate::element::Pod;
use crate::error::Result;
use crate::memory::{Buffer, Slice};

/// One element of device memory, borrowed: what a kernel's `&f32` and `&mut f32` parameters take.
///
/// A [`Scalar`] gives one by coercion (`&s`, `&mut s`), a slice by [`at`](Slice::at) and [`at_mut`](Slice::at_mut).
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// dacapo::kernels! {
///     unsafe struct Kernels(include_str!("../../kernels/saxpy.ptx")) {
///         /// sum += a * x, for one value.
///         fn add(a: f32, x: &f32, sum: &mut f32, n: u32 = 1) { entry: "saxpy"; grid: linear(1, 1); }
///     }
/// }
/// let (losses, mut sum) = (device.buffer(&[1.0, 2.0, 4.0])?, device.scalar(0.5)?);
/// stream.run(Kernels::load(&device)?.add(dacapo::baked(1.0), losses.at(2), &mut sum))?;
/// assert_eq!(sum.get(&stream)?, 4.5);
/// # Ok(()) }
/// ```
#[repr(transparent)]
pub struct Element<T: Pod>(Slice<T>);

impl<T: Pod> Element<T> {
    pub(crate) fn of(slice: &Slice<T>) -> &Element<T> {
        debug_assert_eq!(slice.len(), 1);
        // SAFETY: `Element` is a transparent wrapper of `Slice`, so the reference keeps its meaning.
        unsafe { &*(&raw const *slice as *const Element<T>) }
    }

    pub(crate) fn of_mut(slice: &mut Slice<T>) -> &mut Element<T> {
        debug_assert_eq!(slice.len(), 1);
        // SAFETY: as above, and the borrow stays alone.
        unsafe { &mut *(&raw mut *slice as *mut Element<T>) }
    }

    /// As a slice of one element.
    pub fn as_slice(&self) -> &Slice<T> {
        &self.0
    }

    /// As a slice of one element that may be written.
    pub fn as_mut_slice(&mut self) -> &mut Slice<T> {
        &mut self.0
    }
}

impl<T: Pod> fmt::Debug for Element<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Element<{}>", std::any::type_name::<T>())
    }
}

/// One value at a fixed device address, set and read in stream order.
///
/// For numbers that kernels share and change: a step count, a loss, a position. If only the host changes it, a
/// [`Slot`](crate::Slot) is cheaper.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut step = device.scalar(0u32)?;
/// step.set(&stream, 41)?;
/// let before = step.get(&stream)?;
/// step.set(&stream, before + 1)?;
/// assert_eq!(step.get(&stream)?, 42);
/// # Ok(()) }
/// ```
pub struct Scalar<T: Pod>(Buffer<T>);

impl<T: Pod> Scalar<T> {
    pub(crate) fn new(buffer: Buffer<T>) -> Scalar<T> {
        debug_assert_eq!(buffer.len(), 1);
        Scalar(buffer)
    }

    /// Names it: [`Buffer::named`].
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Scalar<T> {
        Scalar(self.0.named(name))
    }

    /// Sets the value in stream order: earlier launches see the old one, later launches see this one.
    ///
    /// # Errors
    ///
    /// - As [`Stream::write`].
    #[track_caller]
    pub fn set(&mut self, stream: &Stream, value: T) -> Result<()> {
        stream.write(&mut self.0, &[value])
    }

    /// Waits for everything enqueued before this call, then returns the value.
    ///
    /// # Errors
    ///
    /// - As [`Stream::read`].
    #[track_caller]
    pub fn get(&self, stream: &Stream) -> Result<T> {
        Ok(stream.read(&self.0)?[0])
    }

    /// As a slice of one element.
    pub fn as_slice(&self) -> &Slice<T> {
        &self.0
    }

    /// As a slice of one element that may be written.
    pub fn as_mut_slice(&mut self) -> &mut Slice<T> {
        &mut self.0
    }
}

impl<T: Pod> Deref for Scalar<T> {
    type Target = Element<T>;

    fn deref(&self) -> &Element<T> {
        Element::of(&self.0)
    }
}

impl<T: Pod> DerefMut for Scalar<T> {
    fn deref_mut(&mut self) -> &mut Element<T> {
        Element::of_mut(&mut self.0)
    }
}

impl<T: Pod> fmt::Debug for Scalar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scalar<{}>", std::any::type_name::<T>())
    }
}
