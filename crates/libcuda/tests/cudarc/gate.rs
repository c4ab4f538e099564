//! A gate: a stream waits at it in a host function until the scenario opens it. So "not ready" is a fact and not a race.

use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use cudarc::driver::{CudaStream, DriverError, result};

use crate::transcript::raw;

/// A gate on a stream. It opens when it is dropped, at the latest, and by itself after 20 seconds.
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// Puts a gate on the stream.
    pub fn on(stream: &CudaStream) -> Result<Gate, DriverError> {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let handed = Arc::into_raw(gate.clone()).cast_mut().cast::<c_void>();
        raw!(result::stream::launch_host_function(stream.cu_stream(), wait, handed))?;
        Ok(Gate(gate))
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

unsafe extern "C" fn wait(gate: *mut c_void) {
    // SAFETY: `on` handed over one count of this very type, and a host function runs once.
    let gate = unsafe { Arc::from_raw(gate.cast_const().cast::<(Mutex<bool>, Condvar)>()) };
    let closed = gate.0.lock().unwrap_or_else(PoisonError::into_inner);
    // A driver that never gets to the opening must not hang the process for ever.
    let _ = gate.1.wait_timeout_while(closed, Duration::from_secs(20), |open| !*open);
}
