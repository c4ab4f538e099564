//! How many objects of a device are alive.

use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::device::{Device, Garbage};

/// How many objects of a device are alive, and how many were dropped and wait to be released.
///
/// A drop makes no driver call: what was dropped is released by the next allocation, launch or synchronisation, once
/// the device is done with it. If the numbers are equal at two idle moments with nothing waiting, nothing leaked in
/// between.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<f32>(4)?;
/// let graph = device.record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
/// drop(graph);
/// let counters = device.counters();
/// assert_eq!((counters.allocations, counters.graphs, counters.waiting), (1, 0, 1));
/// println!("{counters}");
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Allocations, of device and host memory.
    pub allocations: i64,
    /// Executable graphs that are not waiting to be released.
    pub graphs: i64,
    /// Streams that the user holds.
    pub streams: i64,
    /// Modules that are not waiting to be released.
    pub modules: i64,
    /// Things that were dropped and wait to be released.
    pub waiting: i64,
    /// Bytes of page-locked memory that reads and writes go through, kept for reuse.
    pub staging_bytes: i64,
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = |n: i64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let held = [
            many(self.allocations, "allocation"),
            many(self.graphs, "graph"),
            many(self.streams, "stream"),
            many(self.modules, "module"),
        ];
        write!(f, "held: {}; dropped and waiting to be given back: {}", held.join(", "), self.waiting)?;
        write!(f, "; staging memory, kept for reads and writes: {} bytes", self.staging_bytes)
    }
}

/// A count that may be changed from any thread.
#[derive(Default)]
pub(crate) struct Count(AtomicI64);

impl Count {
    pub(crate) fn add(&self, n: i64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn sub(&self, n: i64) {
        self.0.fetch_sub(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts of one device.
#[derive(Default)]
pub(crate) struct Live {
    pub(crate) allocations: Count,
    pub(crate) graphs: Count,
    pub(crate) streams: Count,
    pub(crate) modules: Count,
}

impl Live {
    pub(crate) fn read(&self, device: &Device) -> Counters {
        let (mut graphs, mut modules, mut waiting) = (0, 0, 0);
        let mut see = |thing: &Garbage| {
            waiting += 1;
            graphs += i64::from(thing.is_graph());
            modules += i64::from(matches!(thing, Garbage::Module(_)));
        };
        device.0.drops.look(&mut see);
        device.0.apart.look(&mut see);
        let staging = device.0.staging.lock().unwrap_or_else(PoisonError::into_inner);
        Counters {
            allocations: self.allocations.get(),
            graphs: self.graphs.get() - graphs,
            streams: self.streams.get(),
            modules: self.modules.get() - modules,
            waiting,
            staging_bytes: staging.bytes() as i64,
        }
    }
}
