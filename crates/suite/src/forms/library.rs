//! Another library, as programs have them: it puts work on a stream by driver calls of its own.

use std::sync::Arc;

use dacapo::capture::Declared;
use dacapo::raw::{RawSlice, RawStream};
use dacapo::{Device, Error};
use dacapo_driver::{Call, Check, Driver, Nvidia};

use super::check::Failure;

/// Another library: it knows the driver, and is given a stream and addresses.
#[derive(Clone)]
pub(super) struct Library {
    driver: Arc<dyn Driver>,
}

impl Library {
    /// On the driver that the device is on.
    pub(super) fn of(device: &Device) -> Result<Library, Failure> {
        let driver: Arc<dyn Driver> = match device.machine() {
            Some(machine) => Arc::new(machine.clone()),
            None => Arc::new(Nvidia::open().map_err(Failure::new)?),
        };
        Ok(Library { driver })
    }

    /// Sets every word of the target.
    pub(super) fn set_words(&self, stream: RawStream, target: RawSlice<u32>, value: u32) -> dacapo::Result<()> {
        // SAFETY: the address and length are those of a slice that foreign work was given as written.
        let code = unsafe { self.driver.cuMemsetD32Async(target.ptr, value, target.len, stream.0) };
        code.check(Call::cuMemsetD32Async).map_err(Error::from)
    }

    /// Copies the source to the beginning of the target, which is no shorter.
    pub(super) fn copy_words(
        &self,
        stream: RawStream,
        source: RawSlice<u32>,
        target: RawSlice<u32>,
    ) -> dacapo::Result<()> {
        // SAFETY: the addresses and lengths are those of slices that foreign work was given as read and as written.
        let code = unsafe { self.driver.cuMemcpyDtoDAsync_v2(target.ptr, source.ptr, source.len * 4, stream.0) };
        code.check(Call::cuMemcpyDtoDAsync_v2).map_err(Error::from)
    }

    /// Sets every word of memory that a capture was told of.
    pub(super) fn set_declared(&self, stream: RawStream, target: Declared, value: u32) -> dacapo::Result<()> {
        // SAFETY: the address and length are those of a slice that the capture was told is written.
        let code = unsafe { self.driver.cuMemsetD32Async(target.ptr, value, target.bytes / 4, stream.0) };
        code.check(Call::cuMemsetD32Async).map_err(Error::from)
    }
}
