//! Memory of cudarc's, borrowed.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use ::cudarc::driver::{CudaViewMut, DeviceSlice};

use super::slice::{ALIGNMENT, quiet};
use crate::device::Device;
use crate::element::Pod;
use crate::error::Result;
use crate::memory::{Allocation, Kind, Owner, Slice};
use crate::nesting::refuse_in_recording;

/// A cudarc view as a [`Slice`]: to be read, written, and used in recordings.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let Ok(device) = dacapo::Device::cuda(0) else { return Ok(()) }; // no driver to share
/// let (stream, theirs) = (device.stream()?, device.to_cudarc()?.new_stream()?);
/// let mut slice = theirs.clone_htod(&[1.0f32, 2.0, 3.0])?;
/// // SAFETY: no graph keeps the address, and the read below waits for the work.
/// let mut tail = unsafe { dacapo::interop::cudarc::Borrowed::new(&device, slice.slice_mut(1..)) }?;
/// stream.run(dacapo::fill(&mut tail, dacapo::baked(7.0)))?;
/// assert_eq!(stream.read(&tail)?, [7.0, 7.0]);
/// # Ok(()) }
/// ```
pub struct Borrowed<'a, T: Pod> {
    allocation: Arc<Allocation>,
    /// From where an allocation would begin, in bytes: a slice's alignment is told from its offset.
    start: usize,
    len: usize,
    _view: PhantomData<&'a mut [T]>,
}

impl<'a, T: Pod> Borrowed<'a, T> {
    /// Borrows a view. Waits for the work on its stream, and for its events.
    ///
    /// The view must be mutable even if it is only read: cudarc must not write the memory meanwhile.
    ///
    /// # Errors
    ///
    /// - As [`Buffer::from_cudarc`](crate::Buffer::from_cudarc), at any address.
    ///
    /// # Safety
    ///
    /// - A graph that uses it keeps the address but cannot keep the memory alive: the slice behind the view outlives
    ///   every graph that was recorded with it, and every launch.
    /// - Before cudarc touches or frees the memory again, our work on it is done: [`Device::synchronize`] was called,
    ///   for example.
    #[track_caller]
    pub unsafe fn new(device: &Device, mut view: CudaViewMut<'a, T>) -> Result<Borrowed<'a, T>> {
        refuse_in_recording("Borrowed::new")?;
        device.enter()?;
        device.expect_context_of(view.stream().context())?;
        let address = quiet(device, &mut view)?;
        let start = (address % ALIGNMENT) as usize;
        let allocation = Allocation::owned(device, Kind::Device, start + view.num_bytes(), Owner::Borrowed)?;
        allocation.place_at(address - start as u64);
        Ok(Borrowed { allocation, start, len: view.len(), _view: PhantomData })
    }

    fn address(&self) -> usize {
        crate::memory::stand_in_address(&self.allocation) + self.start
    }
}

impl<T: Pod> Deref for Borrowed<'_, T> {
    type Target = Slice<T>;

    fn deref(&self) -> &Slice<T> {
        // SAFETY: the number is that of the allocation held here, which has `len` elements from `start` on.
        unsafe { Slice::from_address(self.address(), self.len) }
    }
}

impl<T: Pod> DerefMut for Borrowed<'_, T> {
    fn deref_mut(&mut self) -> &mut Slice<T> {
        // SAFETY: as above; the view is borrowed alone, and so is this.
        unsafe { Slice::from_address_mut(self.address(), self.len) }
    }
}

impl<T: Pod> fmt::Debug for Borrowed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Borrowed<{}>[{}]", std::any::type_name::<T>(), self.len())
    }
}
