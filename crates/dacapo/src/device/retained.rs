//! A device's primary context, held for as long as anybody names something of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dacapo_driver::types::{CUcontext, CUdevice};
use dacapo_driver::{Call, Check, Driver, DriverError};

use crate::device::queue::{Elsewhere, RawEvent};
use crate::device::twice;

/// A context, and the events of it that nobody holds. Given back with its last holder: the device, its streams, events that
/// were recorded on them, and devices that copy to or from its memory.
pub(crate) struct Retained {
    driver: Arc<dyn Driver>,
    device: CUdevice,
    pub(crate) context: CUcontext,
    /// An event may be recorded again while streams still wait for its last record: a wait is for the record that was there
    /// when it was made.
    free: Mutex<Vec<RawEvent>>,
}

impl Retained {
    /// # Errors
    ///
    /// - The driver refused.
    pub(crate) fn new(driver: Arc<dyn Driver>, device: CUdevice) -> Result<Arc<Retained>, DriverError> {
        let mut context = CUcontext::NULL;
        // SAFETY: `context` is valid for the write, and the driver gave `device`.
        unsafe { driver.cuDevicePrimaryCtxRetain(&mut context, device) }.check(Call::cuDevicePrimaryCtxRetain)?;
        Ok(Arc::new(Retained { driver, device, context, free: Mutex::default() }))
    }

    /// The number of its device.
    pub(crate) fn device(&self) -> usize {
        usize::try_from(self.device).unwrap_or(0)
    }

    /// Whether a fault has broken it.
    pub(crate) fn is_lost(&self) -> bool {
        let Ok(_there) = Elsewhere::new(&*self.driver, self.context) else { return true };
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are valid for the write.
        unsafe { self.driver.cuMemGetInfo_v2(&mut free, &mut total) }.is_sticky()
    }

    /// The events that nobody holds.
    pub(crate) fn events(&self) -> MutexGuard<'_, Vec<RawEvent>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        // SAFETY: retained once, in `new`, and nobody names anything of it any more.
        twice(Call::cuDevicePrimaryCtxRelease_v2, || unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(self.device) });
    }
}
