//! Parts of page-locked host memory: on the host, and as one side of a copy.

use std::fmt;
use std::ops::{Bound, Range, RangeBounds};
use std::panic::Location;
use std::sync::Arc;

use dacapo_ledger::Touching;

use crate::element::Pod;
use crate::error::{Error, Result};
use crate::memory::{Access, Gate, HostBuffer, Mode};
use crate::nesting::refuse_in_recording;

/// A range inside so many elements.
#[track_caller]
pub(super) fn within(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    assert!(start <= end && end <= len, "range {start}..{end} is not inside {len} elements");
    start..end
}

/// A part of a host buffer, for reading: [`HostBuffer::slice`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let host = device.host(&[1u32, 2, 3, 4])?;
/// let tail: dacapo::memory::HostSlice<'_, u32> = host.slice(2..);
/// let mut x = device.zeros::<u32>(2)?;
/// stream.run(dacapo::upload(tail, &mut x))?;
/// assert_eq!(stream.read(&x)?, [3, 4]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct HostSlice<'h, T: Pod> {
    buffer: &'h HostBuffer<T>,
    range: Range<usize>,
}

/// A part of a host buffer, for writing: [`HostBuffer::slice_mut`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let mut host = device.host(&[0u32; 4])?;
/// let mut middle: dacapo::memory::HostSliceMut<'_, u32> = host.slice_mut(1..3);
/// middle.set(&[7, 8])?;
/// assert_eq!(host.to_vec()?, [0, 7, 8, 0]);
/// # Ok(()) }
/// ```
pub struct HostSliceMut<'h, T: Pod> {
    buffer: &'h mut HostBuffer<T>,
    range: Range<usize>,
}

impl<'h, T: Pod> HostSlice<'h, T> {
    pub(super) fn new(buffer: &'h HostBuffer<T>, range: Range<usize>) -> Self {
        HostSlice { buffer, range }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// As [`HostBuffer::to_vec`].
    ///
    /// # Errors
    ///
    /// - As [`HostBuffer::to_vec`].
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        // Made before the gate is held: how an element is cloned is the user's code.
        let mut elements = vec![T::zeroed(); self.len()];
        self.read_all(&mut elements, "HostBuffer::to_vec")?;
        Ok(elements)
    }

    /// As [`HostBuffer::read_into`].
    ///
    /// # Errors
    ///
    /// - As [`HostBuffer::read_into`].
    #[track_caller]
    pub fn read_into(&self, elements: &mut [T]) -> Result<()> {
        self.read_all(elements, "HostBuffer::read_into")
    }

    #[track_caller]
    fn read_all(&self, elements: &mut [T], call: &'static str) -> Result<()> {
        refuse_in_recording(call)?;
        same_length(call, self.len(), elements.len())?;
        self.buffer.when_quiet(Touching::Read, |buffer| buffer.copy_out(self.range.start, elements))
    }
}

impl<'h, T: Pod> HostSliceMut<'h, T> {
    pub(super) fn new(buffer: &'h mut HostBuffer<T>, range: Range<usize>) -> Self {
        HostSliceMut { buffer, range }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// As [`HostBuffer::set`].
    ///
    /// # Errors
    ///
    /// - As [`HostBuffer::set`].
    #[track_caller]
    pub fn set(&mut self, elements: &[T]) -> Result<()> {
        refuse_in_recording("HostBuffer::set")?;
        same_length("HostBuffer::set", self.len(), elements.len())?;
        self.buffer.when_quiet(Touching::Write, |buffer| buffer.copy_in(self.range.start, elements))
    }
}

#[track_caller]
fn same_length(what: &'static str, buffer: usize, elements: usize) -> Result<()> {
    if buffer == elements {
        return Ok(());
    }
    let error = Error::lengths(what, [("the buffer", buffer), ("`elements`", elements)], "elements");
    Err(error.of(what, "", Location::caller()))
}

impl<T: Pod> fmt::Debug for HostSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[{:?}]", self.buffer, self.range)
    }
}

impl<T: Pod> fmt::Debug for HostSliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[{:?}]", self.buffer, self.range)
    }
}

/// Host memory as one side of a copy: how it is accessed, and the gate that the copy goes through.
pub struct HostSide {
    pub(crate) access: Access,
    pub(crate) gate: Arc<Gate>,
}

mod sealed {
    pub trait Source<T> {
        fn side(&self) -> super::HostSide;
    }

    pub trait Target<T> {
        fn side(&mut self) -> super::HostSide;
    }
}
pub(crate) use sealed::{Source, Target};

/// What [`upload`](crate::upload) copies from: `&HostBuffer<T>` or a [`HostSlice`].
///
/// Sealed. Name it to write a function over both:
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Op, Slice, memory::FromHost, upload};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// fn feed(from: impl FromHost<f32>, to: &mut Slice<f32>) -> impl Op<Out = ()> {
///     upload(from, to).label("feed")
/// }
/// let (host, mut x) = (device.host(&[1.0, 2.0])?, device.zeros(1)?);
/// stream.run(feed(host.slice(1..), &mut x))?;
/// assert_eq!(stream.read(&x)?, [2.0]);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not page-locked host memory of `{T}`",
    note = "a slice of the program's would be frozen as it is now: make a `device.host(..)` and give `&host` or `host.slice(..)`"
)]
pub trait FromHost<T: Pod>: Source<T> {}

/// What [`download`](crate::download) copies to: `&mut HostBuffer<T>` or a [`HostSliceMut`].
///
/// Sealed. Name it to write a function over both:
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Op, Slice, download, memory::ToHost};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// fn fetch(from: &Slice<f32>, to: impl ToHost<f32>) -> impl Op<Out = ()> {
///     download(from, to).label("fetch")
/// }
/// let (x, mut host) = (device.buffer(&[1.0])?, device.host(&[0.0, 0.0])?);
/// stream.run(fetch(&x, host.slice_mut(1..)))?;
/// assert_eq!(host.to_vec()?, [0.0, 1.0]);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not page-locked host memory of `{T}`",
    note = "make a `device.host(..)` and give `&mut host` or `host.slice_mut(..)`"
)]
pub trait ToHost<T: Pod>: Target<T> {}

impl<T: Pod> FromHost<T> for &HostBuffer<T> {}
impl<T: Pod> FromHost<T> for &mut HostBuffer<T> {}
impl<T: Pod> FromHost<T> for HostSlice<'_, T> {}
impl<T: Pod> ToHost<T> for &mut HostBuffer<T> {}
impl<T: Pod> ToHost<T> for HostSliceMut<'_, T> {}

impl<T: Pod> HostBuffer<T> {
    fn as_side(&self, range: &Range<usize>, name: &'static str, mode: Mode) -> HostSide {
        HostSide { access: self.access(range, name, mode), gate: self.gate().clone() }
    }
}

impl<T: Pod> Source<T> for &HostBuffer<T> {
    fn side(&self) -> HostSide {
        self.as_side(&(0..self.len()), "source", Mode::Read)
    }
}

impl<T: Pod> Source<T> for &mut HostBuffer<T> {
    fn side(&self) -> HostSide {
        self.as_side(&(0..self.len()), "source", Mode::Read)
    }
}

impl<T: Pod> Source<T> for HostSlice<'_, T> {
    fn side(&self) -> HostSide {
        self.buffer.as_side(&self.range, "source", Mode::Read)
    }
}

impl<T: Pod> Target<T> for &mut HostBuffer<T> {
    fn side(&mut self) -> HostSide {
        self.as_side(&(0..self.len()), "target", Mode::Out)
    }
}

impl<T: Pod> Target<T> for HostSliceMut<'_, T> {
    fn side(&mut self) -> HostSide {
        self.buffer.as_side(&self.range, "target", Mode::Out)
    }
}
