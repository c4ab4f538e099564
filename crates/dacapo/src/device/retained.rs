//! A device's primary context, held for as long as anybody names something of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dacapo_driver::types::{CUcontext, CUdevice};
use dacapo_driver::{Call, Check, Driver, DriverError};

use crate::device::queue::{Elsewhere, RawEvent};
use crate::device::{RawHandle, twice};

/// A context, and the events of it that nobody holds. Given back with its last holder: the device, its streams, events that
/// were recorded on them, and devices that copy to or from its memory.
pub(crate) struct Retained {
    driver: Arc<dyn Driver>,
    device: CUdevice,
    pub(crate) context: CUcontext,
    /// An event may be recorded again while streams still wait for its last record: a wait is for the record that was there
    /// when it was made.
    free: Mutex<Vec<RawEvent>>,
    /// Whether its device was given back, and nobody empties its queue of drops any more.
    is_over: AtomicBool,
    /// Streams that were dropped after that.
    left: Mutex<Vec<RawHandle>>,
}

impl Retained {
    /// # Errors
    ///
    /// - The driver refused.
    pub(crate) fn new(driver: Arc<dyn Driver>, device: CUdevice) -> Result<Arc<Retained>, DriverError> {
        let mut context = CUcontext::NULL;
        // SAFETY: `context` is valid for the write, and the driver gave `device`.
        unsafe { driver.cuDevicePrimaryCtxRetain(&mut context, device) }.check(Call::cuDevicePrimaryCtxRetain)?;
        let (free, left) = (Mutex::default(), Mutex::default());
        Ok(Arc::new(Retained { driver, device, context, free, is_over: AtomicBool::new(false), left }))
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

    /// The device is given back.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// A stream of the context that nobody names any more; it goes with the context. Called by drops: no call of the driver.
    pub(super) fn leave(&self, stream: RawHandle) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
    }

    /// The events that nobody holds.
    pub(crate) fn events(&self) -> MutexGuard<'_, Vec<RawEvent>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        let left = std::mem::take(self.left.get_mut().unwrap_or_else(PoisonError::into_inner));
        for stream in left {
            // SAFETY: ours, and nobody names it any more; what still runs on it completes.
            twice(Call::cuStreamDestroy_v2, || unsafe { self.driver.cuStreamDestroy_v2(stream.0) });
        }
        // Those that came back when the device was gone. Another library may hold the context, and they would stay with it.
        for event in std::mem::take(self.free.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            // SAFETY: nobody holds the event.
            twice(Call::cuEventDestroy_v2, || unsafe { self.driver.cuEventDestroy_v2(event.0) });
        }
        // SAFETY: retained once, in `new`, and nobody names anything of it any more.
        twice(Call::cuDevicePrimaryCtxRelease_v2, || unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(self.device) });
    }
}
