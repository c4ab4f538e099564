//! A device that waits for every stream-ordered free.
//!
//! compute-sanitizer's initcheck clears what it knows of memory some time after a stream-ordered free has run. Where the
//! same address was allocated again by then on another stream, it reports as uninitialised what was written since
//! (`xtask/probe/late_free.c` shows it without this project). On this device no free is under way when memory is allocated,
//! so that what is left of its reports is not that.

use std::sync::Arc;

use dacapo::Device;
use dacapo_driver::types::CUstream;
use dacapo_driver::{Argument, CUresult, Call, Driver, Hook, Hooked, Nvidia};

struct WaitForFrees(Arc<Nvidia>);

impl Hook for WaitForFrees {
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let code = run();
        if call == Call::cuMemFreeAsync && code.is_success() {
            let stream = CUstream::from_bits(arguments[1].bits);
            // SAFETY: the stream was just given to the call, which took it.
            return unsafe { self.0.cuStreamSynchronize(stream) };
        }
        code
    }
}

/// Device 0 of NVIDIA's driver, with a wait behind each free.
pub(crate) fn device() -> Result<Device, Box<dyn std::error::Error>> {
    let driver = Arc::new(Nvidia::open()?);
    let hooked = Hooked::new(driver.clone(), WaitForFrees(driver));
    // SAFETY: every call is the driver's own; one that frees answers with what the wait for it says.
    Ok(unsafe { Device::of_driver(Arc::new(hooked), 0) }?)
}
