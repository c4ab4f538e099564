//! What a device makes: memory of every kind.

use std::panic::Location;
use std::sync::Arc;

use dacapo_driver::{CUresult, Call};

use crate::device::Device;
use crate::element::{Pod, bytes_of};
use crate::error::Result;
use crate::held::Purpose;
use crate::memory::{Allocation, Arena, Buffer, HostBuffer, Kind, Scalar};
use crate::trace::event;

impl Device {
    /// A new buffer with these elements.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), [`ErrorKind::Full`](crate::ErrorKind::Full).
    #[doc(alias = "cudaMalloc")]
    #[doc(alias = "htod")]
    #[track_caller]
    pub fn buffer<T: Pod>(&self, elements: &[T]) -> Result<Buffer<T>> {
        let at = Location::caller();
        self.filled(elements).map_err(|error| error.on_line(at))
    }

    /// A new buffer of `len` elements, zeroed.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), [`ErrorKind::Full`](crate::ErrorKind::Full).
    #[doc(alias = "cudaMalloc")]
    #[track_caller]
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        let at = Location::caller();
        self.allocate_elements(len, true, Purpose::Buffers).map_err(|error| error.on_line(at))
    }

    /// One value in device memory.
    ///
    /// # Errors
    ///
    /// - As [`buffer`](Device::buffer).
    #[track_caller]
    pub fn scalar<T: Pod>(&self, value: T) -> Result<Scalar<T>> {
        Ok(Scalar::new(self.buffer(&[value])?))
    }

    /// Page-locked host memory with these elements.
    ///
    /// # Errors
    ///
    /// - As [`buffer`](Device::buffer).
    #[doc(alias = "pinned")]
    #[doc(alias = "page-locked")]
    #[doc(alias = "cudaMallocHost")]
    #[track_caller]
    pub fn host<T: Pod>(&self, elements: &[T]) -> Result<HostBuffer<T>> {
        let at = Location::caller();
        HostBuffer::new(self, elements).map_err(|error| error.on_line(at))
    }

    /// An arena of `bytes` for the temps of graphs and eager runs:
    /// [`GraphBuilder::arena`](crate::graph::GraphBuilder::arena), [`Stream::run_in`](crate::Stream::run_in).
    ///
    /// # Errors
    ///
    /// - As [`buffer`](Device::buffer).
    #[track_caller]
    pub fn arena(&self, bytes: usize) -> Result<Arena> {
        let at = Location::caller();
        Arena::new(self, bytes).map_err(|error| error.on_line(at))
    }

    /// As [`buffer`](Device::buffer), for work of the library's own: an error of it has no line of the program's.
    pub(crate) fn filled<T: Pod>(&self, elements: &[T]) -> Result<Buffer<T>> {
        let buffer = self.allocate_elements(elements.len(), false, Purpose::Buffers)?;
        self.write_now(&buffer, bytes_of(elements))?;
        Ok(buffer)
    }

    /// A buffer of `len` elements.
    pub(crate) fn allocate_elements<T: Pod>(&self, len: usize, zeroed: bool, purpose: Purpose) -> Result<Buffer<T>> {
        let Some(bytes) = len.checked_mul(size_of::<T>()) else { return Err(self.out_of_memory(usize::MAX)) };
        let allocation = Allocation::unplaced(self, Kind::Device, bytes)?;
        self.place(&allocation, zeroed, purpose)?;
        Ok(Buffer::new(allocation, len))
    }

    /// Gives an allocation its memory.
    pub(crate) fn place(&self, allocation: &Allocation, zeroed: bool, purpose: Purpose) -> Result<()> {
        let bytes = allocation.bytes();
        // Before the driver hears of it.
        let booking = self.book(purpose, bytes)?;
        self.enter()?;
        self.drain()?;
        if bytes == 0 {
            allocation.place_at(0);
            return Ok(());
        }
        let _relaxed = self.relaxed()?;
        let address = self.or_when_freed(|| self.allocate_on(self.0.home.0, bytes))?;
        // Owned from here on.
        allocation.place_at(address);
        allocation.keep_booking(booking);
        event!(debug, bytes, address, "allocated");
        let set = match zeroed {
            // SAFETY: the memory is `bytes` long, and nobody else knows it.
            true => unsafe { self.driver().cuMemsetD8Async(address, 0, bytes, self.0.home.0) },
            false => CUresult::CUDA_SUCCESS,
        };
        let made = self.check(set, Call::cuMemsetD8Async).and_then(|()| self.wait_for_home());
        if made.is_err() {
            // It goes back on another stream, which must not come before what is on this one.
            let _ = self.wait_for_home();
        }
        made
    }

    /// Page-locked host memory.
    pub(crate) fn allocate_host(&self, bytes: usize) -> Result<Arc<Allocation>> {
        // First, because it refuses what is more than can be counted in the books.
        let allocation = Allocation::unplaced(self, Kind::Host, bytes)?;
        self.enter()?;
        self.drain()?;
        if let Some((address, booking)) = self.0.apart.take_host(bytes) {
            allocation.place_at(address);
            allocation.keep_booking(booking);
            #[cfg(feature = "software")]
            if let Some(machine) = self.machine() {
                machine.label(address, "");
            }
            return Ok(allocation);
        }
        let booking = self.book(Purpose::Host, bytes)?;
        let address = match bytes {
            0 => 0,
            _ => self.page_locked(bytes)?.expose_provenance() as u64,
        };
        allocation.place_at(address);
        allocation.keep_booking(booking);
        Ok(allocation)
    }
}
