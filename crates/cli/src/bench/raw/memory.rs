//! Pinned host memory by driver calls.

use dacapo_driver::types::*;
use dacapo_driver::{Call, Check, Driver};

use crate::complaint::Complaint;

/// Pinned host memory; freed when dropped.
pub struct Pinned<'d> {
    driver: &'d dyn Driver,
    pointer: *mut c_void,
    bytes: usize,
}

impl<'d> Pinned<'d> {
    pub(super) fn create(driver: &'d dyn Driver, values: &[f32]) -> Result<Self, Complaint> {
        let (mut pointer, bytes) = (std::ptr::null_mut(), size_of_val(values));
        // SAFETY: `pointer` is valid for the write.
        unsafe { driver.cuMemHostAlloc(&mut pointer, bytes, 0) }.check(Call::cuMemHostAlloc)?;
        let pinned = Pinned { driver, pointer, bytes };
        // SAFETY: the driver gave that many bytes, page aligned, and nobody else knows of them yet.
        unsafe { pointer.cast::<f32>().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Ok(pinned)
    }

    pub(super) fn pointer(&self) -> *const c_void {
        self.pointer
    }

    /// Where its first number is, for whoever may write it.
    pub(super) fn first(&mut self) -> *mut f32 {
        assert!(self.bytes >= size_of::<f32>(), "pinned memory with room for a number");
        self.pointer.cast()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        // SAFETY: allocated by this driver, freed only here; the copies from it have been waited for.
        let _ = unsafe { self.driver.cuMemFreeHost(self.pointer) };
    }
}
