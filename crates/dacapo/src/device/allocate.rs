//! Device and page-locked memory.
//!
//! Memory comes from the driver's stream-ordered allocator, on a stream of our own that is waited for: when a call
//! returns, the memory is there for every stream. It goes back in stream order ([`garbage`](super::garbage)).

use std::sync::Arc;

use dacapo_driver::types::{CU_MEMHOSTALLOC_PORTABLE, CUdeviceptr, CUstream};
use dacapo_driver::{CUresult, Call};

use crate::device::{Device, Purpose};
use crate::element::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Allocation, Buffer, Kind};
use crate::trace::event;

impl Device {
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

    /// Tries again what found no memory, or no room in the budget, when what was dropped has come back. If nothing is on
    /// its way back, a budget is refused without a driver call.
    pub(crate) fn or_when_freed<T>(&self, mut take: impl FnMut() -> Result<T>) -> Result<T> {
        match take() {
            Err(error) if matches!(error.kind(), ErrorKind::OverBudget { .. }) && self.0.drops.is_empty() => Err(error),
            Err(error) if error.is_memory() => {
                self.wait_for_freed()?;
                take()
            }
            other => other,
        }
    }

    /// Waits until all memory that was dropped has come back.
    pub(crate) fn wait_for_freed(&self) -> Result<()> {
        self.enter()?;
        self.drain()?;
        self.wait_for_ranges()?;
        match self.ledger().last_use(&self.0.reaper) {
            Some(last) => self.wait_for(&last),
            None => Ok(()),
        }
    }

    pub(crate) fn wait_for_home(&self) -> Result<()> {
        // SAFETY: the stream is ours and lives as long as the device.
        self.check(unsafe { self.driver().cuStreamSynchronize(self.0.home.0) }, Call::cuStreamSynchronize)
    }

    /// Memory in stream order, with this thread's capture mode relaxed. All stream-ordered memory is allocated here.
    pub(crate) fn allocate_on(&self, stream: CUstream, bytes: usize) -> Result<CUdeviceptr> {
        let mut address = 0;
        // SAFETY: `address` is valid for the write; the stream is one of ours.
        match unsafe { self.driver().cuMemAllocAsync(&mut address, bytes, stream) } {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Err(self.out_of_memory(bytes)),
            code => self.check(code, Call::cuMemAllocAsync).map(|()| address),
        }
    }

    pub(crate) fn out_of_memory(&self, bytes: usize) -> Error {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are valid for the write. If the driver does not know, 0 is said to be free.
        let _ = unsafe { self.driver().cuMemGetInfo_v2(&mut free, &mut total) };
        Error::new(ErrorKind::OutOfMemory { bytes, free, total, held: self.held() })
    }

    /// Page-locked host memory.
    pub(crate) fn allocate_host(&self, bytes: usize) -> Result<Arc<Allocation>> {
        // First, because it refuses what is more than can be counted in the books.
        let allocation = Allocation::unplaced(self, Kind::Host, bytes)?;
        let booking = self.book(Purpose::Host, bytes)?;
        self.enter()?;
        self.drain()?;
        let address = match bytes {
            0 => 0,
            _ => self.page_locked(bytes)?.expose_provenance() as u64,
        };
        allocation.place_at(address);
        allocation.keep_booking(booking);
        Ok(allocation)
    }

    pub(crate) fn page_locked(&self, bytes: usize) -> Result<*mut u8> {
        let _relaxed = self.relaxed()?;
        let mut pointer = std::ptr::null_mut();
        // SAFETY: `pointer` is valid for the write.
        let code = unsafe { self.driver().cuMemHostAlloc(&mut pointer, bytes, CU_MEMHOSTALLOC_PORTABLE) };
        match code {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Err(self.out_of_memory(bytes)),
            code => self.check(code, Call::cuMemHostAlloc).map(|()| pointer.cast()),
        }
    }
}
