//! Device and page-locked memory.
//!
//! Memory comes from the driver's stream-ordered allocator, on a stream of our own that is waited for: when a call
//! returns, the memory is there for every stream. It goes back in stream order ([`garbage`](super::garbage)).

use dacapo_driver::Call;
use dacapo_driver::types::{
    CU_MEMHOSTALLOC_PORTABLE, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, CUdeviceptr, CUmemoryPool, CUstream,
    c_int,
};

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};

impl Device {
    /// Tries again what found no memory, or no room in the budget, when what was dropped has come back. If nothing is on
    /// its way back, a budget is refused without a driver call.
    pub(crate) fn or_when_freed<T>(&self, mut take: impl FnMut() -> Result<T>) -> Result<T> {
        match take() {
            Err(error)
                if matches!(error.kind(), ErrorKind::OverBudget { .. })
                    && self.0.drops.is_empty()
                    && self.0.apart.is_empty() =>
            {
                Err(error)
            }
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
        let code = unsafe { self.driver().cuMemAllocAsync(&mut address, bytes, stream) };
        self.check_memory(code, Call::cuMemAllocAsync, bytes).map(|()| address)
    }

    /// From now on somebody else waits for work of this device, another device or another rank, and it may wait for theirs. So what
    /// waits for a piece of work must not wait for what is behind it: a collective there may wait for this very stream.
    ///
    /// - Work that others may need has an event before other work comes behind it.
    /// - New memory has nothing to wait for. By default the driver also hands out memory that is still in use, and lets the stream of
    ///   the new owner wait for the end of that use.
    pub(crate) fn works_with_others(&self) -> Result<()> {
        let (mut pool, mut no) = (CUmemoryPool::NULL, c_int::from(false));
        // SAFETY: `pool` is valid for the write.
        let code = unsafe { self.driver().cuDeviceGetMemPool(&mut pool, self.0.raw) };
        self.check(code, Call::cuDeviceGetMemPool)?;
        let attribute = CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
        // SAFETY: the value of this attribute is an int, which is valid for the call.
        let code = unsafe { self.driver().cuMemPoolSetAttribute(pool, attribute, (&raw mut no).cast()) };
        self.check(code, Call::cuMemPoolSetAttribute)?;
        self.ledger().part_work();
        Ok(())
    }

    #[cold]
    pub(crate) fn out_of_memory(&self, bytes: usize) -> Error {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are valid for the write. If the driver does not know, 0 is said to be free.
        let _ = unsafe { self.driver().cuMemGetInfo_v2(&mut free, &mut total) };
        Error::new(ErrorKind::OutOfMemory { bytes, free, total, held: self.held() })
    }

    pub(crate) fn page_locked(&self, bytes: usize) -> Result<*mut u8> {
        let _relaxed = self.relaxed()?;
        let mut pointer = std::ptr::null_mut();
        // SAFETY: `pointer` is valid for the write.
        let code = unsafe { self.driver().cuMemHostAlloc(&mut pointer, bytes, CU_MEMHOSTALLOC_PORTABLE) };
        self.check_memory(code, Call::cuMemHostAlloc, bytes).map(|()| pointer.cast())
    }
}
