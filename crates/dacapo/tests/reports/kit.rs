//! A device whose driver calls are written down.

use std::sync::{Arc, Mutex};

use dacapo::{Device, Software};
use dacapo_driver::types::CUDA_MEMSET_NODE_PARAMS;
use dacapo_driver::{Argument, CUresult, Call, Hook, Hooked};

/// Writes down each call, and where memset nodes begin to write.
#[derive(Default)]
pub struct Seen {
    calls: Mutex<Vec<Call>>,
    filled: Mutex<Vec<u64>>,
}

impl Seen {
    /// The calls since the last question, in order.
    #[allow(dead_code)]
    pub fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    /// The addresses of memset nodes since the last question, in order.
    pub fn filled(&self) -> Vec<u64> {
        std::mem::take(&mut self.filled.lock().unwrap())
    }
}

impl Hook for Seen {
    fn around(&self, call: Call, arguments: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        self.calls.lock().unwrap().push(call);
        if call == Call::cuGraphAddMemsetNode {
            let params = arguments.iter().find(|argument| argument.type_name.contains("CUDA_MEMSET_NODE_PARAMS"));
            let address = params.expect("a memset node has parameters").bits as usize;
            let params: *const CUDA_MEMSET_NODE_PARAMS = std::ptr::with_exposed_provenance(address);
            // SAFETY: the call's caller has promised that its parameters can be read until it returns.
            self.filled.lock().unwrap().push(unsafe { (*params).dst });
        }
        run()
    }
}

/// A device, and what it asks of its driver.
pub fn seen(software: Software) -> (Device, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let kept = seen.clone();
    // SAFETY: the hook passes calls on.
    let device = unsafe { software.open_hooked(move |machine| Arc::new(Hooked::new(machine, kept))) }.unwrap();
    (device, seen)
}
