//! Streams and events by driver calls.

use std::rc::Rc;

use dacapo_driver::types::*;
use dacapo_driver::{Call, Check, Driver, DriverError};

use super::Pinned;
use crate::complaint::Complaint;
use crate::session::DeviceBytes;

/// A stream; destroyed when the last that has it is dropped.
#[derive(Clone)]
pub struct RawStream<'d>(Rc<Made<'d>>);

struct Made<'d> {
    driver: &'d dyn Driver,
    stream: CUstream,
}

impl<'d> RawStream<'d> {
    pub(super) fn create(driver: &'d dyn Driver) -> Result<Self, Complaint> {
        let mut stream = CUstream::NULL;
        // SAFETY: `stream` is valid for the write.
        unsafe { driver.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING) }.check(Call::cuStreamCreate)?;
        Ok(RawStream(Rc::new(Made { driver, stream })))
    }

    pub(super) fn driver(&self) -> &'d dyn Driver {
        self.0.driver
    }

    pub(super) fn handle(&self) -> CUstream {
        self.0.stream
    }

    /// Waits until everything on it is done.
    ///
    /// # Errors
    ///
    /// - What the work before failed with.
    #[inline]
    pub fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: the stream lives as long as `self`.
        unsafe { self.0.driver.cuStreamSynchronize(self.0.stream) }.check(Call::cuStreamSynchronize)
    }

    /// Marks this place with `event`.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    #[inline]
    pub fn record(&self, event: &RawEvent<'_>) -> Result<(), DriverError> {
        // SAFETY: both live until their owners are dropped.
        unsafe { self.0.driver.cuEventRecord(event.event, self.0.stream) }.check(Call::cuEventRecord)
    }

    /// Holds back what comes until `event` has happened.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    #[inline]
    pub fn wait_for(&self, event: &RawEvent<'_>) -> Result<(), DriverError> {
        // SAFETY: as above.
        unsafe { self.0.driver.cuStreamWaitEvent(self.0.stream, event.event, 0) }.check(Call::cuStreamWaitEvent)
    }

    /// Copies all of `source` to `target`, which is at least as long.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    #[inline]
    pub fn upload(&self, source: &Pinned<'_>, target: &DeviceBytes<'_>) -> Result<(), DriverError> {
        // SAFETY: the source is pinned memory of that many bytes; that it and the target stay until the stream has been
        // waited for is the measurement's promise, as for kernels. The driver refuses a target that is too short.
        unsafe { self.0.driver.cuMemcpyHtoDAsync_v2(target.address(), source.pointer(), source.bytes(), self.0.stream) }
            .check(Call::cuMemcpyHtoDAsync_v2)
    }

    /// The first number of `source`, behind everything on this stream; by way of pinned memory, and waited for.
    ///
    /// # Errors
    ///
    /// - The driver refused, or what the work before failed with.
    #[inline]
    pub fn read_float(&self, source: &DeviceBytes<'_>, through: &mut Pinned<'_>) -> Result<f32, DriverError> {
        let target = through.first();
        // SAFETY: the source has a number, pinned memory is at least as long, and nobody else looks at it; it is waited for
        // before the memory can go.
        unsafe { self.0.driver.cuMemcpyDtoHAsync_v2(target.cast(), source.address(), 4, self.0.stream) }
            .check(Call::cuMemcpyDtoHAsync_v2)?;
        self.synchronize()?;
        // SAFETY: the copy is over, and the memory is ours alone.
        Ok(unsafe { target.read_volatile() })
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this driver, and destroyed only here; work that is still on it goes on.
        let _ = unsafe { self.driver.cuStreamDestroy_v2(self.stream) };
    }
}

/// An event; destroyed when dropped.
pub struct RawEvent<'d> {
    driver: &'d dyn Driver,
    event: CUevent,
}

impl<'d> RawEvent<'d> {
    pub(super) fn create(driver: &'d dyn Driver, timing: bool) -> Result<Self, Complaint> {
        let (mut event, flags) = (CUevent::NULL, if timing { CU_EVENT_DEFAULT } else { CU_EVENT_DISABLE_TIMING });
        // SAFETY: `event` is valid for the write.
        unsafe { driver.cuEventCreate(&mut event, flags) }.check(Call::cuEventCreate)?;
        Ok(RawEvent { driver, event })
    }

    /// Marks a place of any stream of this driver's that is alive.
    pub(super) fn record_on(&self, driver: &dyn Driver, stream: CUstream) -> Result<(), DriverError> {
        // SAFETY: the event lives until `self` is dropped, and the stream is its caller's and alive.
        unsafe { driver.cuEventRecord(self.event, stream) }.check(Call::cuEventRecord)
    }

    /// Microseconds of the device from `earlier` to this one; both have happened and keep time.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn microseconds_since(&self, earlier: &RawEvent<'_>) -> Result<f64, DriverError> {
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive, and the number is valid for the write.
        unsafe { self.driver.cuEventElapsedTime(&mut milliseconds, earlier.event, self.event) }
            .check(Call::cuEventElapsedTime)?;
        Ok(f64::from(milliseconds) * 1e3)
    }
}

impl Drop for RawEvent<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this driver, and destroyed only here.
        let _ = unsafe { self.driver.cuEventDestroy_v2(self.event) };
    }
}
