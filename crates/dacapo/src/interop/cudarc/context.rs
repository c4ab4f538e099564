//! One primary context, as both libraries know it.
//!
//! A context of cudarc's and a device are of the same driver when the same library answers both: each asks its own for
//! the address of an entry point. Handles alone would not do: two drivers may hand out the same number.

use std::ffi::{CStr, c_int, c_void};
use std::sync::{Arc, OnceLock};

use ::cudarc::driver::{CudaContext, sys};
use dacapo_driver::types::CU_GET_PROC_ADDRESS_SUCCESS;

use super::refused;
use crate::device::{Device, Guest};
use crate::error::Result;

/// What a device keeps of cudarc.
#[derive(Default)]
pub(crate) struct Contexts {
    /// The one that the program gave, or that it was given.
    known: OnceLock<Arc<CudaContext>>,
    /// One of the library's own, in which no events are tracked.
    untracked: OnceLock<Arc<CudaContext>>,
}

impl Guest for Contexts {}

impl Device {
    /// A device on the same primary context as a cudarc context.
    ///
    /// The device keeps the context alive. Make only one: memory of two devices made from one context is not
    /// interchangeable.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Interop`](crate::ErrorKind::Interop): it is not the primary context of its device, or cudarc has
    ///   opened a different driver than [`Device::cuda`] does.
    /// - As [`Device::cuda`].
    pub fn from_cudarc(context: &Arc<CudaContext>) -> Result<Device> {
        let device = Device::cuda(context.ordinal())?;
        device.expect_context_of(context)?;
        let _ = device.contexts().known.set(context.clone());
        Ok(device)
    }

    /// The device's context for cudarc's calls: the one it was made from, otherwise a new one, the same for every call.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Interop`](crate::ErrorKind::Interop): the device is not on the driver that cudarc opens: a
    ///   software device in this process, for example.
    /// - Any error from cudarc.
    pub fn to_cudarc(&self) -> Result<Arc<CudaContext>> {
        self.enter()?;
        let contexts = self.contexts();
        if let Some(known) = contexts.known.get() {
            return Ok(known.clone());
        }
        let made = self.new_context()?;
        Ok(contexts.known.get_or_init(|| made).clone())
    }

    /// A context in which nothing is tracked. It is only handed to closures of foreign work.
    pub(super) fn untracked(&self) -> Result<Arc<CudaContext>> {
        let contexts = self.contexts();
        if let Some(known) = contexts.untracked.get() {
            return Ok(known.clone());
        }
        let made = self.new_context()?;
        // SAFETY: nobody has made a slice or a stream in it yet, and what foreign work does with it is ordered by us.
        unsafe { made.disable_event_tracking() };
        Ok(contexts.untracked.get_or_init(|| made).clone())
    }

    fn contexts(&self) -> Arc<Contexts> {
        self.guest().unwrap_or_else(|| self.take_in(Contexts::default()))
    }

    fn new_context(&self) -> Result<Arc<CudaContext>> {
        self.expect_same_driver()?;
        let _relaxed = self.relaxed()?;
        let made = CudaContext::new(self.0.ordinal)?;
        self.expect_context_of(&made)?;
        Ok(made)
    }

    /// Refuses what is not of this device's context.
    pub(super) fn expect_context_of(&self, context: &CudaContext) -> Result<()> {
        self.expect_same_driver()?;
        if context.cu_ctx().addr() as u64 != self.context().bits() {
            return Err(refused(format!(
                "the cudarc context of device {} is not the primary context of device {}, in which dacapo works",
                context.ordinal(),
                self.0.ordinal
            )));
        }
        Ok(())
    }

    fn expect_same_driver(&self) -> Result<()> {
        #[cfg(feature = "software")]
        if self.0.machine.is_some() {
            // Not asked: the machine is inside this process, and reports what it is asked for and does not know.
            return Err(refused("this is a software device inside the process, which cudarc cannot reach"));
        }
        // Where cudarc loads the driver and finds none, it panics; where it is linked to it, it cannot. Which of the two it
        // does is the program's choice, and nothing that can be asked.
        let theirs = std::panic::catch_unwind(entry_of_theirs);
        let (ours, theirs) = (self.entry_of_ours(), theirs.map_err(|_| refused("cudarc finds no driver to open"))?);
        if ours.is_null() || ours != theirs {
            return Err(refused("cudarc has opened another driver than this device is of"));
        }
        Ok(())
    }

    /// Where the device's driver has an entry point that every driver has; null if it does not say.
    fn entry_of_ours(&self) -> *mut c_void {
        let (mut at, mut status) = (std::ptr::null_mut(), CU_GET_PROC_ADDRESS_SUCCESS);
        // SAFETY: the name ends in NUL, and both out pointers are valid for the write.
        let code = unsafe { self.driver().cuGetProcAddress_v2(ENTRY.as_ptr(), &mut at, SINCE, 0, &mut status) };
        if code.is_success() { at } else { std::ptr::null_mut() }
    }
}

const ENTRY: &CStr = c"cuCtxGetCurrent";
const SINCE: c_int = 4000;

fn entry_of_theirs() -> *mut c_void {
    let (mut at, mut status) = (std::ptr::null_mut(), sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS);
    // SAFETY: as for ours.
    let code = unsafe { sys::cuGetProcAddress_v2(ENTRY.as_ptr(), &mut at, SINCE, 0, &mut status) };
    if code == sys::CUresult::CUDA_SUCCESS { at } else { std::ptr::null_mut() }
}
