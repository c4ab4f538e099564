//! Devices of one machine, and what must be left of them.

use std::time::{Duration, Instant};

use dacapo::{Device, Software, Stream};
use dacapo_sim::Detectors;

dacapo::kernels! {
    /// Kernels of these tests.
    pub unsafe struct Kernels(include_str!("../promises/kernels.ptx")) {
        /// y ← value
        fn put(value: u32, n: u32 = y.len(), y: &out [u32]) {
            grid: linear(y.len(), 32);
        }
        /// v ← v + 1
        fn bump(v: &mut u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// Declared with a condition that is not enough: stores outside for an index past the end.
        fn store_at(index: u32, y: &mut [u32]) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

/// Seeds of every test. Devices of odd seeds cannot be peers.
pub const SEEDS: std::ops::Range<u64> = 0..8;

/// So many devices of one machine.
pub fn group(seed: u64, count: usize) -> Vec<Device> {
    let options = |options: &mut dacapo_sim::Options| {
        options.detectors = Detectors::all();
        options.peers = seed.is_multiple_of(2);
    };
    Software::new().seed(seed).options(options).open_group(count).expect("devices")
}

/// Two devices with a stream each.
pub struct Pair {
    pub d: Vec<Device>,
    pub s: Vec<Stream>,
}

pub fn pair(seed: u64) -> Pair {
    let d = group(seed, 2);
    let s = d.iter().map(|device| device.stream().expect("a stream")).collect();
    Pair { d, s }
}

impl Pair {
    /// Nothing was found, and nothing is left but the streams.
    #[track_caller]
    pub fn settle(&self) {
        settled(&self.d, 1);
    }
}

/// Nothing was found, and nothing is left on any device but so many streams.
#[track_caller]
pub fn settled(devices: &[Device], streams: i64) {
    devices.iter().for_each(|device| device.synchronize().expect("whole"));
    devices.iter().for_each(|device| device.synchronize().expect("whole"));
    for device in devices {
        let left = device.counters();
        assert_eq!((left.allocations, left.graphs, left.streams, left.waiting), (0, 0, streams, 0), "{device:?}");
    }
    let found = devices[0].findings();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

/// Runs a body on another thread, and panics if it is not done in a minute.
#[track_caller]
pub fn in_time(body: impl FnOnce() + Send + 'static) {
    let (other, begun) = (std::thread::spawn(body), Instant::now());
    while !other.is_finished() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
    other.join().unwrap();
}
