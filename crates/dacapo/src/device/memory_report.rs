//! What a device's memory is used for, as a table.

use std::fmt;

use dacapo_driver::Call;
#[cfg(feature = "json")]
use dacapo_driver::Check;
#[cfg(feature = "json")]
use dacapo_driver::types::CUcontext;

use crate::device::Device;
use crate::error::Result;
use crate::held::Held;

/// How a device's memory is used: [`Device::memory_report`]. `Display` prints a table.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let x = device.zeros::<f32>(1000)?;
/// let report: dacapo::memory::MemoryReport = device.memory_report()?;
/// assert_eq!(report.held.buffers, 4000);
/// assert!(report.used() >= 4000 && report.budget.is_none());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// What the library holds, by purpose.
    pub held: Held,
    /// The most it may hold, if there is a budget.
    pub budget: Option<usize>,
    /// Executable graphs that are alive.
    pub graphs: usize,
    /// Free bytes of the whole device, as the driver says.
    pub free: usize,
    /// All bytes of the device.
    pub total: usize,
}

impl MemoryReport {
    /// Bytes of the device in use by any process: measured, not estimated.
    pub fn used(&self) -> usize {
        self.total.saturating_sub(self.free)
    }
}

impl Device {
    /// How much of this device's memory the library holds, and what the driver says about the whole device.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// let x = device.zeros::<f32>(1000)?;
    /// let report = device.memory_report()?;
    /// assert_eq!(report.held.buffers, 4000);
    /// println!("{report}");
    /// # drop(x);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    pub fn memory_report(&self) -> Result<MemoryReport> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are valid for the write.
        let code = unsafe { self.driver().cuMemGetInfo_v2(&mut free, &mut total) };
        self.check(code, Call::cuMemGetInfo_v2)?;
        let graphs = usize::try_from(self.counters().graphs).unwrap_or(0);
        Ok(MemoryReport { held: self.held(), budget: self.memory_budget(), graphs, free, total })
    }

    /// The same for one who was not asked: the thread stays in the context in which it is. None if that cannot be had.
    #[cfg(feature = "json")]
    pub(crate) fn memory_report_aside(&self) -> Option<MemoryReport> {
        let mut before = CUcontext::NULL;
        // SAFETY: `before` is valid for the write.
        unsafe { self.driver().cuCtxGetCurrent(&mut before) }.check(Call::cuCtxGetCurrent).ok()?;
        let report = self.memory_report().ok();
        // SAFETY: it was current on this thread a moment ago.
        let _ = unsafe { self.driver().cuCtxSetCurrent(before) };
        report
    }
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<34} {:>15}", "held by dacapo", "bytes")?;
        for (name, bytes) in self.held.rows() {
            let name =
                if name == "executables" { format!("executables of {} graphs", self.graphs) } else { name.into() };
            writeln!(f, "  {name:<32} {bytes:>15}")?;
        }
        writeln!(f, "  {:<32} {:>15}", "together", self.held.total())?;
        if let Some(budget) = self.budget {
            writeln!(f, "  {:<32} {budget:>15}", "budget")?;
        }
        writeln!(f, "{:<34} {:>15}", "device, by whomever", self.used())?;
        write!(f, "  {:<32} {:>15} of {}", "free", self.free, self.total)
    }
}
