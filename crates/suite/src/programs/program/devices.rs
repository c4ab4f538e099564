//! Several devices: whose context is current, and who may touch whose memory.

use dacapo_driver::Driver;
use dacapo_driver::types::*;

use super::{Answer, Program, answer};

impl Program {
    /// The primary context of a device, retained until the program ends.
    fn context_of(&self, device: usize) -> Answer<CUcontext> {
        let mut context = CUcontext::NULL;
        // SAFETY: the out pointer is to a local.
        answer(unsafe { self.driver.cuDevicePrimaryCtxRetain(&mut context, device as CUdevice) })?;
        self.retained(device);
        Ok(context)
    }

    /// What is made from now on is made on this device.
    pub(crate) fn go_to(&self, device: usize) -> Answer {
        let context = self.context_of(device)?;
        // SAFETY: the context is retained.
        answer(unsafe { self.driver.cuCtxSetCurrent(context) })
    }

    /// `cuCtxEnablePeerAccess`: the device that work is made on now may touch memory of `other`.
    pub(crate) fn allow_access_to(&self, other: usize) -> Answer {
        let context = self.context_of(other)?;
        // SAFETY: the context is retained.
        answer(unsafe { self.driver.cuCtxEnablePeerAccess(context, 0) })
    }
}
