//! Entering the device's context, and calling what a capture forbids.

use std::sync::atomic::Ordering;

use dacapo_driver::types::{CU_STREAM_CAPTURE_MODE_RELAXED, CUstreamCaptureMode};
use dacapo_driver::{CUresult, Call, Check, Driver, DriverError, leaves_undone};
use dacapo_ledger::Use;

use crate::device::{Cuda, Device};
use crate::error::{Error, Result};

impl Device {
    /// Makes the context current on this thread. Asks first: other libraries change it behind our back, and asking
    /// costs less than half of setting.
    pub(crate) fn enter(&self) -> Result<()> {
        self.expect_usable()?;
        self.make_current()
    }

    /// The same for a call that has already asked whether it may be made.
    #[inline]
    pub(crate) fn make_current(&self) -> Result<()> {
        self.0.cuda.make_current().map_err(|error| self.refused(error))
    }

    /// What every entry asks, without the context: a launch of a graph needs none.
    pub(crate) fn expect_usable(&self) -> Result<()> {
        crate::nesting::refuse_in_foreign()?;
        self.expect_context()
    }

    /// Whether there is nothing to be done before a launch: the context is whole, no partner has died, and nothing was
    /// dropped.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        !self.0.is_lost.load(Ordering::Acquire)
            && !self.0.partner_died.load(Ordering::Acquire)
            && self.0.drops.is_empty()
    }

    /// Refuses everything once a fault has broken the context.
    #[inline]
    pub(crate) fn expect_context(&self) -> Result<()> {
        if !self.0.is_lost.load(Ordering::Acquire) {
            return Ok(());
        }
        self.what_is_lost()
    }

    #[cold]
    fn what_is_lost(&self) -> Result<()> {
        // Set after `lost`, so it is there.
        let Some(lost) = self.0.lost.get() else { return Ok(()) };
        // Told here, where a call begins, and not where it was noticed: that may be under a lock, and a subscriber is
        // the program's code.
        #[cfg(feature = "tracing")]
        if !self.0.told_lost.swap(true, Ordering::Relaxed) {
            // The whole report: a log is often all that is left.
            let (first, error) = (lost.first(), lost.error());
            crate::trace::event!(error, first = %first, error = ?error, "the context is lost");
        }
        Err(lost.error())
    }

    /// What a code means here: a fault that breaks the context is remembered.
    #[inline]
    pub(crate) fn check(&self, code: CUresult, call: Call) -> Result<()> {
        code.check(call).map_err(|error| self.refused(error))
    }

    /// The driver's refusal as an error.
    #[cold]
    pub(crate) fn refused(&self, error: DriverError) -> Error {
        self.noted(Error::from(error))
    }

    /// The same error, or that the context is lost if it says so: this one, or that of another device.
    pub(crate) fn noted(&self, error: Error) -> Error {
        match error.opt_driver() {
            Some(first) if self.0.is_others(first) => self.other_lost(first),
            Some(first) if first.code.is_sticky() => self.lose(first),
            _ => error,
        }
    }

    /// Relaxes this thread's capture mode as long as the guard lives.
    ///
    /// # Errors
    ///
    /// - The driver refused: what was to follow could break another library's capture, and is not done.
    pub(crate) fn relaxed(&self) -> Result<Relaxed<'_>> {
        Relaxed::new(self.driver()).map_err(|error| self.refused(error))
    }

    /// Waits until a use is done, on the host, holding no lock.
    pub(crate) fn wait_for(&self, pending: &Use<Cuda>) -> Result<()> {
        if self.ledger().is_finished(pending) {
            return Ok(());
        }
        let _relaxed = self.relaxed()?;
        let event = self.ledger().event_for(&self.0.cuda, pending).map_err(|error| self.refused(error))?;
        // SAFETY: the event is of this driver and held.
        self.check(unsafe { self.driver().cuEventSynchronize(event.raw()) }, Call::cuEventSynchronize)?;
        self.ledger().finished(pending);
        Ok(())
    }
}

/// While it lives, this thread's calls neither break a capture nor are refused because of one.
pub(crate) struct Relaxed<'d> {
    driver: &'d dyn Driver,
    before: CUstreamCaptureMode,
}

impl<'d> Relaxed<'d> {
    pub(crate) fn new(driver: &'d dyn Driver) -> Result<Relaxed<'d>, DriverError> {
        let mut mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: `mode` is valid for reading and writing.
        let code = unsafe { driver.cuThreadExchangeStreamCaptureMode(&mut mode) };
        // Refused, the thread's mode is unknown to us: there is nothing to put back.
        code.check(Call::cuThreadExchangeStreamCaptureMode)?;
        Ok(Relaxed { driver, before: mode })
    }
}

impl Drop for Relaxed<'_> {
    fn drop(&mut self) {
        // Nobody can be told of a refusal here, and a thread that stays relaxed is worse than a call made twice.
        // SAFETY: as above.
        twice(Call::cuThreadExchangeStreamCaptureMode, || unsafe {
            self.driver.cuThreadExchangeStreamCaptureMode(&mut self.before)
        });
    }
}

/// Makes a call again that was refused and has done nothing: for drops, where nobody can be told.
pub(crate) fn twice(call: Call, mut made: impl FnMut() -> CUresult) -> CUresult {
    match made() {
        code if leaves_undone(call, code) => made(),
        code => code,
    }
}
