//! Several devices of one machine, each with its primary context.

use dacapo_driver::Driver;
use dacapo_driver::types::*;
use dacapo_sim::{Machine, Options};

use super::{Device, ok};

pub struct Group {
    pub devices: Vec<Device>,
}

impl Group {
    pub fn new(options: Options) -> Group {
        let machine = Machine::new(options);
        let mut devices = Vec::new();
        // SAFETY: the out pointers are valid.
        unsafe {
            ok(machine.cuInit(0));
            let mut count = 0;
            ok(machine.cuDeviceGetCount(&mut count));
            for device in 0..count {
                let mut context = CUcontext::NULL;
                ok(machine.cuDevicePrimaryCtxRetain(&mut context, device));
                devices.push(Device { machine: machine.clone(), context });
            }
            ok(machine.cuCtxSetCurrent(devices[0].context));
        }
        Group { devices }
    }

    pub fn seeded(devices: usize, seed: u64) -> Group {
        Group::new(Options { devices, seed, ..Options::default() })
    }

    /// A device, with its context current on this thread from now on.
    #[track_caller]
    pub fn on(&self, device: usize) -> &Device {
        let found = &self.devices[device];
        // SAFETY: the context is retained.
        ok(unsafe { found.cuCtxSetCurrent(found.context) });
        found
    }

    /// Lets device `here` touch memory of device `there`.
    #[track_caller]
    pub fn befriend(&self, here: usize, there: usize) {
        let peer = self.devices[there].context;
        // SAFETY: both contexts are retained.
        ok(unsafe { self.on(here).cuCtxEnablePeerAccess(peer, 0) });
    }
}
