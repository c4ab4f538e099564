//! Device memory in 32-bit numbers, and pinned host memory.

use std::ffi::c_void;

use dacapo_driver::Driver;
use dacapo_driver::types::*;

use super::{Answer, Program, answer};

/// Device memory that holds 32-bit numbers. Freed by the program, or never.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    address: CUdeviceptr,
    len: usize,
    label: String,
}

impl Buffer {
    /// Its address on the device.
    pub(crate) fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// Its name in reports.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// The same memory, taken to hold `len` numbers.
    pub(crate) fn with_len(&self, len: usize) -> Buffer {
        Buffer { len, ..self.clone() }
    }

    /// How many numbers it holds.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// Pinned host memory: the device sees it at the host's address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pinned(*mut u32);

impl Pinned {
    /// Its address, for the host and for the device.
    pub(crate) fn address(self) -> CUdeviceptr {
        self.0 as CUdeviceptr
    }

    /// Reads its number.
    pub(crate) fn read(self) -> u32 {
        // SAFETY: as for writing.
        unsafe { self.0.read_volatile() }
    }

    /// Writes its number.
    pub(crate) fn write(self, value: u32) {
        // SAFETY: the memory is pinned until the program ends, and aligned to a page.
        unsafe { self.0.write_volatile(value) };
    }
}

impl Program {
    /// New memory under a name, with nothing in it.
    pub(crate) fn empty(&self, label: &str, len: usize) -> Answer<Buffer> {
        let mut address = 0;
        // SAFETY: the out pointer is to a local.
        answer(unsafe { self.driver.cuMemAlloc_v2(&mut address, 4 * len) })?;
        self.label(address, label);
        Ok(Buffer { address, len, label: label.to_string() })
    }

    /// New memory under a name, with these numbers in it.
    pub(crate) fn buffer(&self, label: &str, numbers: &[u32]) -> Answer<Buffer> {
        let buffer = self.empty(label, numbers.len())?;
        // SAFETY: the source is as long as the copy.
        answer(unsafe { self.driver.cuMemcpyHtoD_v2(buffer.address, numbers.as_ptr().cast(), 4 * numbers.len()) })?;
        Ok(buffer)
    }

    /// Memory that somebody else has allocated, under a name.
    pub(super) fn named(&self, address: CUdeviceptr, label: &str, len: usize) -> Buffer {
        self.label(address, label);
        Buffer { address, len, label: label.to_string() }
    }

    /// `cuMemFree`.
    pub(crate) fn free(&self, buffer: &Buffer) -> Answer {
        // SAFETY: an address is a number to the driver, which refuses what it did not hand out.
        answer(unsafe { self.driver.cuMemFree_v2(buffer.address) })
    }

    /// The numbers in a buffer, by `cuMemcpyDtoH`.
    pub(crate) fn read(&self, buffer: &Buffer) -> Answer<Vec<u32>> {
        let mut numbers = vec![0u32; buffer.len];
        // SAFETY: the target is as long as the copy.
        answer(unsafe { self.driver.cuMemcpyDtoH_v2(numbers.as_mut_ptr().cast(), buffer.address, 4 * buffer.len) })?;
        Ok(numbers)
    }

    /// `cuMemsetD32Async`: every number of the buffer becomes `value`.
    pub(crate) fn set(&self, stream: CUstream, buffer: &Buffer, value: u32) -> Answer {
        // SAFETY: the address is a number to the driver, which checks it.
        answer(unsafe { self.driver.cuMemsetD32Async(buffer.address, value, buffer.len, stream) })
    }

    /// `cuMemcpyDtoDAsync` of as many numbers as the target holds.
    pub(crate) fn copy(&self, stream: CUstream, target: &Buffer, source: &Buffer) -> Answer {
        // SAFETY: as above.
        answer(unsafe { self.driver.cuMemcpyDtoDAsync_v2(target.address, source.address, 4 * target.len, stream) })
    }

    /// One number of pinned host memory, 0 at first.
    pub(crate) fn pinned(&self) -> Answer<Pinned> {
        let mut block: *mut c_void = std::ptr::null_mut();
        // SAFETY: the out pointer is to a local.
        answer(unsafe { self.driver.cuMemHostAlloc(&mut block, 4, CU_MEMHOSTALLOC_DEVICEMAP) })?;
        Ok(Pinned(block.cast()))
    }

    /// `cuMemAllocAsync`: memory of the default pool under a name, with nothing in it.
    pub(crate) fn pooled(&self, stream: CUstream, label: &str, len: usize) -> Answer<Buffer> {
        let mut address = 0;
        // SAFETY: the out pointer is to a local.
        answer(unsafe { self.driver.cuMemAllocAsync(&mut address, 4 * len, stream) })?;
        self.label(address, label);
        Ok(Buffer { address, len, label: label.to_string() })
    }

    /// `cuMemFreeAsync`.
    pub(crate) fn free_in(&self, stream: CUstream, buffer: &Buffer) -> Answer {
        // SAFETY: an address is a number to the driver, which refuses what it did not hand out.
        answer(unsafe { self.driver.cuMemFreeAsync(buffer.address, stream) })
    }

    /// `cuMemcpyHtoDAsync` from memory of the program.
    pub(crate) fn upload(&self, stream: CUstream, target: &Buffer, source: &[u32]) -> Answer {
        let bytes = 4 * source.len().min(target.len);
        // SAFETY: the source is as long as the copy; the programs keep it until the copy has run.
        answer(unsafe { self.driver.cuMemcpyHtoDAsync_v2(target.address, source.as_ptr().cast(), bytes, stream) })
    }

    /// `cuMemcpyHtoDAsync` of the one number of pinned memory.
    pub(crate) fn upload_pinned(&self, stream: CUstream, target: &Buffer, source: Pinned) -> Answer {
        // SAFETY: the source is pinned until the program ends.
        answer(unsafe { self.driver.cuMemcpyHtoDAsync_v2(target.address, source.0.cast(), 4, stream) })
    }

    /// `cuMemcpyDtoHAsync` of one number to pinned memory.
    pub(crate) fn download_pinned(&self, stream: CUstream, target: Pinned, source: &Buffer) -> Answer {
        // SAFETY: the target is pinned until the program ends.
        answer(unsafe { self.driver.cuMemcpyDtoHAsync_v2(target.0.cast(), source.address, 4, stream) })
    }
}
