//! How many objects of a device are alive.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::device::Device;

/// How many objects of a device are alive: equal numbers at two quiet moments mean that nothing leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Allocations, of device and host memory.
    pub allocations: i64,
    /// Executable graphs.
    pub graphs: i64,
    /// Streams that the user holds.
    pub streams: i64,
    /// Modules.
    pub modules: i64,
    /// Things that were dropped and wait to be released.
    pub waiting: i64,
    /// Bytes of page-locked memory that reads and writes go through.
    pub staging_bytes: i64,
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
        let staging = device.0.staging.lock().unwrap_or_else(PoisonError::into_inner);
        Counters {
            allocations: self.allocations.get(),
            graphs: self.graphs.get(),
            streams: self.streams.get(),
            modules: self.modules.get(),
            waiting: device.0.drops.len() as i64,
            staging_bytes: staging.bytes() as i64,
        }
    }
}
