//! A launch in progress.

use super::{Clock, ExecOptions, Launch, Outcome};
use crate::finding::{Ending, Finding};
use crate::memory::Memory;

/// A launch in progress: owns all of its state, can be left after any quantum and continued later.
pub struct Grid {
    launch: Launch,
    findings: Vec<Finding>,
    executed: u64,
}

impl Grid {
    /// A launch of which nothing has run yet.
    pub fn new(launch: Launch, options: &ExecOptions) -> Grid {
        let _ = options;
        Grid { launch, findings: Vec::new(), executed: 0 }
    }

    /// Runs up to `warp_instructions` instructions of warps.
    pub fn run(&mut self, memory: &mut Memory, clock: &mut dyn Clock, warp_instructions: u64) -> Outcome {
        let _ = (memory, clock, warp_instructions);
        Outcome::Unsupported(Finding::new("unsupported", Ending::Unsupported, "kernels are not interpreted yet"))
    }

    /// What was found so far and did not end the kernel; each is given once.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// Instructions executed so far, counted once for each active lane.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// What was launched.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }
}
