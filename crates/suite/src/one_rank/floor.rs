//! What a part works with: a device, its driver and NCCL beneath the library, and somebody to tell.
//!
//! # Why every raw call of the parts holds
//!
//! Handles are those that the driver gave, pointers are to locals, memory is as long as the call says and given back after its last
//! use. Threads of a part have the device's context current ([`Floor::enter`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dacapo::device::Counters;
use dacapo::{Device, Software};
use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_nccl::Nccl;

use crate::nccl::library;

/// What a part ends with: an error where it could not be done.
pub type Made<T = ()> = Result<T, String>;

/// What a part works with.
#[derive(Clone)]
pub struct Floor {
    pub(super) device: Device,
    pub(super) driver: Arc<dyn Driver>,
    pub(super) nccl: Arc<dyn Nccl>,
    pub(super) folder: PathBuf,
    pub(super) quick: bool,
    context: CUcontext,
    told: Arc<dyn Fn(&str) + Send + Sync>,
}

pub(super) fn done(call: &str, code: CUresult) -> Made {
    if code.is_success() { Ok(()) } else { Err(format!("{call}: {code}")) }
}

/// An error of the library as text.
pub(super) fn text(error: dacapo::Error) -> String {
    format!("{error:?}")
}

/// Milliseconds since then.
pub(super) fn ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

/// The value in the middle, and those at a tenth and at nine tenths.
pub(super) fn middle(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(0.5), at(0.1), at(0.9))
}

impl Floor {
    /// GPU 0 and the NCCL that is found; `told` is given every line.
    ///
    /// # Errors
    ///
    /// - There is no GPU or no NCCL.
    pub fn cuda(folder: &Path, quick: bool, told: impl Fn(&str) + Send + Sync + 'static) -> Made<Floor> {
        let opened = library::open()?;
        let device = Device::cuda(0).map_err(text)?;
        let driver = dacapo_driver::Nvidia::open().map_err(|error| error.to_string())?;
        Floor::on(device, Arc::new(driver), Arc::new(opened.nccl), folder, quick, Arc::new(told))
    }

    /// A software device.
    ///
    /// # Errors
    ///
    /// - It could not be made.
    pub fn software(folder: &Path, quick: bool, told: impl Fn(&str) + Send + Sync + 'static) -> Made<Floor> {
        // A stream waits for seconds here until a thread lets it go on. How often it looks meanwhile depends on the machine.
        let patient = |options: &mut dacapo_sim::Options| options.polls_max = u64::MAX;
        let devices = Software::new().seed(1).options(patient).open_group(1).map_err(text)?;
        let device = devices.into_iter().next().ok_or("a group of one has no device")?;
        let machine = device.machine().cloned().ok_or("a software device has no machine")?;
        let nccl = Arc::new(machine.nccl());
        Floor::on(device, Arc::new(machine), nccl, folder, quick, Arc::new(told))
    }

    fn on(
        device: Device,
        driver: Arc<dyn Driver>,
        nccl: Arc<dyn Nccl>,
        folder: &Path,
        quick: bool,
        told: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Made<Floor> {
        // A stream is made with the device's context current, which is then told.
        drop(device.stream().map_err(text)?);
        let mut context = CUcontext::NULL;
        // SAFETY: `context` is valid for the write.
        done("cuCtxGetCurrent", unsafe { driver.cuCtxGetCurrent(&mut context) })?;
        Ok(Floor { device, driver, nccl, folder: folder.to_path_buf(), quick, context, told })
    }

    pub(super) fn say(&self, line: impl AsRef<str>) {
        (self.told)(line.as_ref());
    }

    /// Makes the device's context current on this thread.
    pub(super) fn enter(&self) -> Made {
        // SAFETY: the context lives as long as the device.
        done("cuCtxSetCurrent", unsafe { self.driver.cuCtxSetCurrent(self.context) })
    }

    /// So many times on a GPU, so many on a software device.
    pub(super) fn times(&self, gpu: usize, software: usize) -> usize {
        if self.device.is_software() { software } else { gpu }
    }

    /// How often graphs are replayed.
    pub(super) fn replays(&self) -> usize {
        if self.quick { 20 } else { self.times(10_000, 200) }
    }

    /// A stream that waits for no other, and of which the library knows nothing.
    pub(super) fn raw_stream(&self) -> Made<CUstream> {
        self.enter()?;
        let mut stream = CUstream::NULL;
        // SAFETY: see above.
        done("cuStreamCreate", unsafe { self.driver.cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING) })?;
        Ok(stream)
    }

    pub(super) fn destroy(&self, stream: CUstream) -> Made {
        self.enter()?;
        // SAFETY: see above; it is not used again.
        done("cuStreamDestroy", unsafe { self.driver.cuStreamDestroy_v2(stream) })
    }

    /// Free memory of the device in MiB.
    pub(super) fn free_mib(&self) -> Made<usize> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: see above.
        done("cuMemGetInfo", unsafe { self.driver.cuMemGetInfo_v2(&mut free, &mut total) })?;
        Ok(free >> 20)
    }

    /// What is held, with nothing left that was dropped before.
    pub(super) fn held(&self) -> Made<Counters> {
        // A stream that was dropped lets go of what waits for it one synchronisation later.
        self.device.synchronize().and_then(|()| self.device.synchronize()).map_err(text)?;
        Ok(self.device.counters())
    }

    /// Waits until what is held is what it was `before`, but not for ever: a communicator's watch may hold it for a moment.
    pub(super) fn clean(&self, before: Counters) -> Made {
        let began = Instant::now();
        let lasting = |counters: Counters| (counters.allocations, counters.graphs, counters.streams, counters.waiting);
        loop {
            let now = self.held()?;
            if lasting(now) == lasting(before) {
                return Ok(());
            }
            if began.elapsed() > Duration::from_secs(5) {
                return Err(format!("something is left: {before}, then {now}"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// What the detectors found, as an error; nothing on a GPU.
    pub(super) fn expect_no_findings(&self) -> Made {
        match &self.device.findings()[..] {
            [] => Ok(()),
            found => Err(format!("findings: {}", found.join("\n"))),
        }
    }
}
