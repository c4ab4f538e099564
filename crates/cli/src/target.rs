//! Which device a task runs on: a GPU behind NVIDIA's driver, or the software device.
//!
//! Guarantee: [`Target::is_software`] is true of everything that is not a GPU, also of our own library behind the C ABI
//! when it was opened in place of NVIDIA's. Times from such a device are the simulator's.

use std::sync::Arc;

use crate::complaint::Complaint;
use crate::session::Session;
use dacapo::{Device, Software};
use dacapo_driver::{Call, Check, Driver, Nvidia};

/// What the command line may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Which {
    /// A GPU
    Cuda,
    /// The software device, which needs none
    Software,
}

/// A device of the library with the driver under it, for those who compare the two.
pub struct Target {
    device: Device,
    driver: Arc<dyn Driver>,
    is_software: bool,
}

impl Target {
    /// What was asked for; the GPU where there is one, else the software device, when nothing was.
    ///
    /// # Errors
    ///
    /// - A GPU was asked for, and there is none.
    pub fn open(which: Option<Which>, seed: u64) -> Result<Target, Complaint> {
        match which {
            Some(Which::Software) => Target::software(seed),
            Some(Which::Cuda) => Target::cuda(),
            None => Target::cuda().or_else(|_| Target::software(seed)),
        }
    }

    fn cuda() -> Result<Target, Complaint> {
        let nvidia = Nvidia::open()?;
        let is_software = nvidia.is_software();
        Ok(Target { device: Device::cuda(0)?, driver: Arc::new(nvidia), is_software })
    }

    fn software(seed: u64) -> Result<Target, Complaint> {
        let device = Software::new().seed(seed).open()?;
        device.notes().iter().for_each(|note| eprintln!("dacapo: {note}"));
        let machine = device.machine().ok_or_else(|| Complaint::new("the software device has no machine"))?.clone();
        Ok(Target { device, driver: Arc::new(machine), is_software: true })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The same device, opened once more: with streams, memory and a ledger of its own.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn opened_again(&self) -> Result<Device, Complaint> {
        // SAFETY: the driver is NVIDIA's, or the simulator, which answers as NVIDIA's does or refuses.
        Ok(unsafe { Device::from_driver(self.driver.clone(), 0) }?)
    }

    /// The driver under it.
    pub fn driver(&self) -> &dyn Driver {
        &*self.driver
    }

    /// Whether no GPU is behind it.
    pub fn is_software(&self) -> bool {
        self.is_software
    }

    /// Bytes of device memory that nobody has.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn free_bytes(&self) -> Result<u64, Complaint> {
        let _current = Session::open(&*self.driver)?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are valid for the write, and the session made a context current.
        unsafe { self.driver.cuMemGetInfo_v2(&mut free, &mut total) }.check(Call::cuMemGetInfo_v2)?;
        Ok(free as u64)
    }
}
