//! Planned memory of one recording.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::element::Pod;
use crate::memory::{Buffer, Element, Slice};

/// Planned memory of one recording. Its contents are undefined until written, and gone after the replay.
///
/// Temps that are never alive at the same time share bytes. `'r` is the brand of the recording: a temp cannot be
/// returned from the closure, stored outside, put into another recording, or sent to another thread.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, copy, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<f32>(4)?;
/// let mut graph = device.record(|r| {
///     let mut t = r.alloc::<f32>(4)?;
///     r.run(fill(&mut t, baked(3.0)))?;
///     r.run(copy(&t, &mut y))
/// })?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&y)?, [3.0; 4]);
/// # Ok(()) }
/// ```
#[doc(alias = "scratch")]
#[doc(alias = "workspace")]
pub struct Temp<'r, T: Pod> {
    buffer: Buffer<T>,
    _brand: PhantomData<*mut &'r ()>,
}

impl<T: Pod> Temp<'_, T> {
    pub(crate) fn new(buffer: Buffer<T>) -> Self {
        Temp { buffer, _brand: PhantomData }
    }
}

impl<T: Pod> Deref for Temp<'_, T> {
    type Target = Slice<T>;

    fn deref(&self) -> &Slice<T> {
        &self.buffer
    }
}

impl<T: Pod> DerefMut for Temp<'_, T> {
    fn deref_mut(&mut self) -> &mut Slice<T> {
        &mut self.buffer
    }
}

impl<T: Pod> fmt::Debug for Temp<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Temp<{}>[{}]", std::any::type_name::<T>(), self.len())
    }
}

/// One planned value of one recording: a [`Temp`] for a kernel's `&f32` and `&mut f32` parameters.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, copy, fill};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.scalar(0u32)?;
/// stream.run(|r: &mut dacapo::Recorder<'_>| {
///     let mut t = r.alloc_scalar::<u32>()?;
///     r.run(fill(t.as_mut_slice(), baked(7)))?;
///     r.run(copy(t.as_slice(), y.as_mut_slice()))
/// })?;
/// assert_eq!(y.get(&stream)?, 7);
/// # Ok(()) }
/// ```
pub struct TempScalar<'r, T: Pod>(Temp<'r, T>);

impl<'r, T: Pod> TempScalar<'r, T> {
    pub(crate) fn new(temp: Temp<'r, T>) -> Self {
        TempScalar(temp)
    }
}

impl<T: Pod> Deref for TempScalar<'_, T> {
    type Target = Element<T>;

    fn deref(&self) -> &Element<T> {
        Element::of(&self.0)
    }
}

impl<T: Pod> DerefMut for TempScalar<'_, T> {
    fn deref_mut(&mut self) -> &mut Element<T> {
        Element::of_mut(&mut self.0)
    }
}

impl<T: Pod> fmt::Debug for TempScalar<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TempScalar<{}>", std::any::type_name::<T>())
    }
}
