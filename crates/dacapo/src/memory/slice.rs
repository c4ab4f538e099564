//! Borrowed device memory as a fat reference to nothing.
//!
//! A `&Slice<T>` is an allocation's number with an offset, and a length. The type is zero-sized for every length (its
//! tail is a slice of units), so the reference is valid for any address but null, and nothing on the host is behind it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Index, IndexMut, RangeBounds};

use crate::element::Pod;
use crate::memory::{Element, Extent, numbers};

/// Borrowed device memory: to [`Buffer<T>`](crate::Buffer) what `[T]` is to `Vec<T>`.
///
/// `&` reads and `&mut` writes, so two overlapping arguments of one op are a borrow error. Ranges index it as they
/// index a slice, and panic as they do there. An element can be passed to a kernel with [`at`](Slice::at), but only a
/// [`Stream`](crate::Stream) can read its value.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Op, Slice, copy};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// fn swap_halves<'a>(from: &'a Slice<u32>, to: &'a mut Slice<u32>) -> impl Op<Out = ((), ())> + 'a {
///     let (low, high) = to.split_at_mut(from.len() / 2);
///     copy(&from[from.len() / 2..], low).zip(copy(&from[..from.len() / 2], high))
/// }
/// let (x, mut y) = (device.buffer(&[1, 2, 3, 4])?, device.zeros(4)?);
/// stream.run(swap_halves(&x, &mut y))?;
/// assert_eq!(stream.read(&y)?, [3, 4, 1, 2]);
/// # Ok(()) }
/// ```
#[doc(alias = "DeviceSlice")]
#[doc(alias = "CUdeviceptr")]
#[repr(transparent)]
pub struct Slice<T: Pod> {
    _elements: PhantomData<T>,
    units: [()],
}

impl<T: Pod> Slice<T> {
    fn raw(address: usize, len: usize) -> *mut Slice<T> {
        std::ptr::slice_from_raw_parts_mut(std::ptr::without_provenance_mut::<()>(address), len) as *mut Slice<T>
    }

    /// # Safety
    ///
    /// - `address` is the number of an allocation above [`numbers::OFFSET_BITS`] bits of offset, and that allocation is
    ///   held for `'a`.
    /// - `len` elements from there are inside it.
    pub(crate) unsafe fn from_address<'a>(address: usize, len: usize) -> &'a Slice<T> {
        // SAFETY: the place is zero-sized and aligned to 1, and an allocation's number is not 0, so the pointer is not
        // null: that is all a reference to no bytes asks for.
        unsafe { &*Slice::raw(address, len) }
    }

    /// # Safety
    ///
    /// - As [`from_address`](Slice::from_address), and no other `Slice` of these elements is in use during `'a`.
    pub(crate) unsafe fn from_address_mut<'a>(address: usize, len: usize) -> &'a mut Slice<T> {
        // SAFETY: as above; that it is unique is the caller's promise, and no byte of the host is behind it.
        unsafe { &mut *Slice::raw(address, len) }
    }

    pub(crate) fn address(&self) -> usize {
        (&raw const *self).cast::<()>().addr()
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The allocation it is of, held, and which bytes of it.
    pub(crate) fn place(&self) -> Extent {
        let address = self.address() as u64;
        let number = (address >> numbers::OFFSET_BITS) as u32;
        // SAFETY: a slice is made only of an allocation that is held for as long as the slice is borrowed.
        let allocation = unsafe { numbers::hold(number) };
        let start = (address & ((1 << numbers::OFFSET_BITS) - 1)) as usize;
        Extent { allocation, start, bytes: self.len() * size_of::<T>() }
    }

    #[track_caller]
    fn range(&self, range: impl RangeBounds<usize>) -> (usize, usize) {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&end) => end.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len(),
        };
        assert!(start <= end && end <= self.len(), "range {start}..{end} out of a slice of length {}", self.len());
        (self.address() + start * size_of::<T>(), end - start)
    }

    /// The slices before and after an index.
    ///
    /// # Panics
    ///
    /// - `mid` is past the end.
    #[track_caller]
    pub fn split_at(&self, mid: usize) -> (&Slice<T>, &Slice<T>) {
        (&self[..mid], &self[mid..])
    }

    /// The slices before and after an index, both mutable.
    ///
    /// # Panics
    ///
    /// - `mid` is past the end.
    #[track_caller]
    pub fn split_at_mut(&mut self, mid: usize) -> (&mut Slice<T>, &mut Slice<T>) {
        let ((first, before), (second, after)) = (self.range(..mid), self.range(mid..));
        // SAFETY: both are inside this slice, which is borrowed for as long, and they do not meet.
        unsafe { (Slice::from_address_mut(first, before), Slice::from_address_mut(second, after)) }
    }

    /// Pieces of `len` elements; the last one may be shorter.
    ///
    /// # Panics
    ///
    /// - `len` is 0.
    #[track_caller]
    pub fn chunks_mut(&mut self, len: usize) -> impl Iterator<Item = &mut Slice<T>> {
        assert!(len > 0, "chunks of no elements");
        let (address, total) = (self.address(), self.len());
        // SAFETY: the pieces are inside this slice, which is borrowed for as long as they are, and none meets another.
        (0..total)
            .step_by(len)
            .map(move |i| unsafe { Slice::from_address_mut(address + i * size_of::<T>(), len.min(total - i)) })
    }

    /// One element, for a kernel's `&f32` parameter.
    ///
    /// # Panics
    ///
    /// - `index` is past the end.
    #[track_caller]
    pub fn at(&self, index: usize) -> &Element<T> {
        Element::of(&self[index..=index])
    }

    /// One element, for a kernel's `&mut f32` parameter.
    ///
    /// # Panics
    ///
    /// - `index` is past the end.
    #[track_caller]
    pub fn at_mut(&mut self, index: usize) -> &mut Element<T> {
        Element::of_mut(&mut self[index..=index])
    }
}

impl<T: Pod, R: RangeBounds<usize>> Index<R> for Slice<T> {
    type Output = Slice<T>;

    #[track_caller]
    fn index(&self, range: R) -> &Slice<T> {
        let (address, len) = self.range(range);
        // SAFETY: inside this slice, and borrowed for as long.
        unsafe { Slice::from_address(address, len) }
    }
}

impl<T: Pod, R: RangeBounds<usize>> IndexMut<R> for Slice<T> {
    #[track_caller]
    fn index_mut(&mut self, range: R) -> &mut Slice<T> {
        let (address, len) = self.range(range);
        // SAFETY: inside this slice, which is borrowed alone for as long.
        unsafe { Slice::from_address_mut(address, len) }
    }
}

impl<T: Pod> fmt::Debug for Slice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slice<{}>[{}]", std::any::type_name::<T>(), self.len())
    }
}

#[cfg(all(test, feature = "software"))]
mod tests {
    use crate::{Device, baked, fill};

    #[test]
    fn the_pieces_of_a_slice_are_all_of_it_and_the_last_may_be_shorter() {
        let device = Device::software().unwrap();
        let stream = device.stream().unwrap();
        let mut y = device.zeros::<u32>(9).unwrap();
        for (len, lengths) in [(4, vec![4, 4]), (3, vec![3, 3, 2]), (8, vec![8]), (20, vec![8])] {
            let mut found = Vec::new();
            for (value, piece) in (1..).zip(y[..8].chunks_mut(len)) {
                found.push(piece.len());
                stream.run(fill(piece, baked(value))).unwrap();
            }
            assert_eq!(found, lengths);
            let expected: Vec<u32> = (0..8).map(|i| i / len as u32 + 1).chain([0]).collect();
            assert_eq!(stream.read(&y).unwrap(), expected);
        }
    }
}
