//! A device whose driver calls are written down.

use std::sync::{Arc, Mutex};

use dacapo::raw::foreign;
use dacapo::{Device, Error, Op, Slice, Software};
use dacapo_driver::types::CUDA_MEMSET_NODE_PARAMS;
use dacapo_driver::{Argument, CUresult, Call, Driver, Hook, Hooked};

dacapo::kernels! {
    /// Safe by: threads from `n` on return.
    pub unsafe struct Kernels(include_str!("../../kernels/saxpy.ptx")) {
        /// y ← a·x + y
        fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
    }
}

/// Writes down each call, and where memset nodes begin to write.
#[derive(Default)]
pub struct Seen {
    calls: Mutex<Vec<Call>>,
    filled: Mutex<Vec<u64>>,
}

impl Seen {
    /// The calls since the last question, in order.
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

/// Foreign work that sets device memory.
pub fn set_all(device: &Device, y: &mut Slice<f32>) -> impl Op<Out = ()> {
    let machine = device.machine().expect("a software device").clone();
    // SAFETY: it sets what is declared as written, and can be replayed.
    unsafe {
        foreign((), y, move |stream, (), y| match machine.cuMemsetD32Async(y.ptr, 0, y.len, stream.0) {
            CUresult::CUDA_SUCCESS => Ok(()),
            code => Err(Error::msg(code.to_string())),
        })
    }
}
