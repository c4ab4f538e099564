//! Which device a task runs on: a GPU behind NVIDIA's driver, or the software device.
//!
//! Guarantee: [`Target::is_software`] is true of everything that is not a GPU, also of our own library behind the C ABI
//! when it was opened in place of NVIDIA's. Times from such a device are the simulator's.

use std::sync::Arc;

use dacapo_driver::{Driver, Nvidia};
use dacapo_sim::{Machine, Options};

use crate::complaint::Complaint;

/// What the command line may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Which {
    /// A GPU
    Cuda,
    /// The software device, which needs none
    Software,
}

/// A driver, and whether it stands for a GPU.
pub struct Target {
    driver: Arc<dyn Driver>,
    is_software: bool,
}

impl Target {
    /// What was asked for; the GPU where there is one, else the software device, when nothing was.
    ///
    /// # Errors
    ///
    /// - A GPU was asked for, and no driver for one could be opened.
    pub fn open(which: Option<Which>, seed: u64) -> Result<Target, Complaint> {
        let software = || {
            let machine = Machine::new(Options { seed, ..Default::default() });
            Target { driver: Arc::new(machine), is_software: true }
        };
        match which {
            Some(Which::Software) => Ok(software()),
            Some(Which::Cuda) => Ok(Target::nvidia()?),
            None => Ok(Target::nvidia().ok().filter(Target::has_device).unwrap_or_else(software)),
        }
    }

    fn nvidia() -> Result<Target, Complaint> {
        let nvidia = Nvidia::open()?;
        let is_software = nvidia.is_software();
        Ok(Target { driver: Arc::new(nvidia), is_software })
    }

    /// A library without a device under it is met in containers that were not given one.
    fn has_device(&self) -> bool {
        let mut count = 0;
        // SAFETY: `cuInit` takes a number, and `count` is valid for the write.
        unsafe {
            self.driver.cuInit(0).is_success() && self.driver.cuDeviceGetCount(&mut count).is_success() && count > 0
        }
    }

    /// The driver.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Whether no GPU is behind it.
    pub fn is_software(&self) -> bool {
        self.is_software
    }
}
